; A function that grows.
(declare-fun f (Int) Int)
(assert (forall ((n Int)) (! (> (f (+ n 1)) (f n)) :pattern ((f n)))))
(assert (<= (f 3) (f 2)))
(check-sat)
