; Lists of numbers.
(declare-datatypes ((List 0)) (((nil) (cons (head Int) (tail List)))))
(declare-const l List)
(assert (and (is-cons l) (is-cons (tail l)) (> (head l) (head (tail l)))))
(assert (= (tail (tail l)) nil))
(check-sat)
(get-model)
