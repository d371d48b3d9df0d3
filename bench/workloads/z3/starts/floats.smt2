; A sum that loses its smaller part.
(declare-const x (_ FloatingPoint 8 24)) (declare-const y (_ FloatingPoint 8 24))
(assert (= (fp.add RNE x y) x))
(assert (fp.gt y ((_ to_fp 8 24) RNE 0.5)))
(assert (not (fp.isInfinite x)))
(assert (not (fp.isNaN x)))
(check-sat)
(get-value (x y))
