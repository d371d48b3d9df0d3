; No search: terms are rewritten.
(declare-const x Int) (declare-const y Int) (declare-const b Bool)
(simplify (+ (* 2 x) (* 3 y) (- x) (ite b (* 4 y) y)) :som true)
(simplify (and b (or b (> x y)) (not (<= y x))))
(display (+ x y))
(simplify (div 17 5))
