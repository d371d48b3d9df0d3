# Exceptions with stack traces, the collector, threads, closures, methods.
import std/[tables, strutils]
type Base = ref object of RootObj
type Dog = ref object of Base
method speak(b: Base): string {.base.} = "?"
method speak(d: Dog): string = "woof"
proc deep(n: int): int = (if n == 0: raise newException(ValueError, "deep") else: 1 + deep(n - 1))
proc work(n: int) {.thread.} = (if n == 7: echo "thread ", n)
var table = initTable[string, seq[int]]()
for i in 0 ..< 100000: table.mgetOrPut($(i mod 1000), @[]).add i
GC_fullCollect()
echo table.len, " ", table["7"].len
try: discard deep(100)
except ValueError as e: echo e.msg, " ", e.getStackTraceEntries.len
var thread: Thread[int]
createThread(thread, work, 7)
joinThread(thread)
var animal: Base = Dog()
echo animal.speak
try: echo parseInt("x")
except ValueError as e: echo e.msg
proc adder(n: int): proc (m: int): int = (result = proc (m: int): int = n + m)
echo adder(40)(2)
