; Trees of numbers.
(declare-datatypes ((Tree 0)) (((leaf) (node (left Tree) (value Int) (right Tree)))))
(declare-const t Tree)
(assert (and (is-node t) (is-node (left t)) (> (value t) (value (left t)))))
(assert (= (left (left t)) leaf))
(check-sat)
(get-model)
