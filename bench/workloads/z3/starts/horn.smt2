; A loop that counts to ten never passes eleven.
(set-logic HORN)
(declare-fun at (Int) Bool)
(assert (forall ((n Int)) (=> (= n 0) (at n))))
(assert (forall ((n Int) (m Int)) (=> (and (at n) (< n 10) (= m (+ n 1))) (at m))))
(assert (forall ((n Int)) (=> (and (at n) (> n 11)) false)))
(check-sat)
