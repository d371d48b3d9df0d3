; A path that ends in a name.
(declare-const path String) (declare-const name String)
(assert (= path (str.++ "usr/" name ".so")))
(assert (str.in_re name (re.+ (re.range "a" "f"))))
(assert (> (str.len path) 10))
(check-sat)
(get-model)
