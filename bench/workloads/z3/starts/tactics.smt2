; The goal goes through tactics one by one.
(declare-const x Int) (declare-const y Int) (declare-const b Bool)
(assert (or b (> x 3)))
(assert (=> b (= y (* 2 x))))
(assert (< (+ x y) 10))
(apply (then simplify propagate-values solve-eqs (repeat (or-else split-clause skip))))
(check-sat-using (then simplify solve-eqs smt))
