; Continuations on the C stack, the collector that moves it, errors.
(import (chicken condition) (chicken gc))
(define (deep n) (if (= n 0) 0 (+ 1 (deep (- n 1)))))
(print (deep 3000000))
(print (call/cc (lambda (k) (dynamic-wind (lambda () (display "in ")) (lambda () (k 'out)) (lambda () (display "out "))))))
(define table (let loop ((i 0) (l '())) (if (= i 300000) l (loop (+ i 1) (cons (number->string i) l)))))
(gc #t)
(print (length table) " " (car table))
(print (handle-exceptions e ((condition-property-accessor 'exn 'message) e) (vector-ref (vector 1) 5)))
