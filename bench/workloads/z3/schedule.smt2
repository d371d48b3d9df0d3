; Three jobs on two machines: integers and either-or.
(declare-const a Int) (declare-const b Int) (declare-const c Int) (declare-const end Int)
(assert (and (>= a 0) (>= b 0) (>= c 0)))
(assert (or (>= a (+ b 3)) (>= b (+ a 2))))
(assert (or (>= b (+ c 4)) (>= c (+ b 3))))
(assert (or (>= a (+ c 4)) (>= c (+ a 2))))
(assert (and (<= (+ a 2) end) (<= (+ b 3) end) (<= (+ c 4) end) (<= end 9)))
(check-sat)
(get-model)
