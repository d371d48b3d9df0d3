; A sequence that begins as it ends.
(declare-const s (Seq Int))
(assert (= (seq.len s) 4))
(assert (= (seq.nth s 0) (seq.nth s 3)))
(assert (= (seq.extract s 1 2) (seq.++ (seq.unit 7) (seq.unit 8))))
(check-sat)
(get-model)
