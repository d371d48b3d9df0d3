; The most for the least.
(declare-const x Int) (declare-const y Int)
(assert (and (>= x 0) (>= y 0) (<= (+ (* 3 x) (* 2 y)) 21) (<= (+ x (* 4 y)) 17)))
(assert-soft (> x y) :weight 2)
(maximize (+ (* 5 x) (* 4 y)))
(check-sat)
(get-model)
(get-objectives)
