; A circle and a parabola.
(declare-const x Real) (declare-const y Real)
(assert (= (+ (* x x) (* y y)) 4.0))
(assert (= y (* x x)))
(check-sat)
(get-model)
