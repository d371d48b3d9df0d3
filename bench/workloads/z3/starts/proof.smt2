; Why there is no such number.
(set-option :produce-proofs true)
(declare-const x Int)
(assert (> (* 2 x) 3))
(assert (< x 2))
(check-sat)
(get-proof)
