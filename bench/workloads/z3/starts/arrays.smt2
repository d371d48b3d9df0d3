; Two writes in either order.
(declare-const m (Array Int Int)) (declare-const i Int) (declare-const j Int)
(assert (not (= (store (store m i 1) j 2) (store (store m j 2) i 1))))
(check-sat)
(get-model)
