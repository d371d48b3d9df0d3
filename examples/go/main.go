// census: counts the words of its input. Go's side reads and writes; the counting is in C, as in many
// programs that bring a C library.
package main

// #include <stdlib.h>
// #include "count.h"
import "C"

import (
	"bufio"
	"fmt"
	"os"
	"unsafe"
)

func add(word string) {
	text := C.CString(word)
	defer C.free(unsafe.Pointer(text))
	C.count_word(text)
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--test" {
		if wrong := C.count_test(); wrong != 0 {
			fmt.Println("wrong:", wrong)
			os.Exit(1)
		}
		fmt.Println("all right")
		return
	}
	words := bufio.NewScanner(os.Stdin)
	words.Split(bufio.ScanWords)
	for words.Scan() {
		add(words.Text())
	}
	for i := C.int(0); i < C.count_different(); i++ {
		fmt.Println(C.GoString(C.count_name(i)), C.count_of(i))
	}
}
