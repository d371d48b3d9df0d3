// Module constructors, exceptions, the collector, threads and thread-local data, run-time type names.
import core.memory, core.thread, std.algorithm, std.conv, std.range, std.stdio;
int perThread = 5;
shared int started;
shared static this() { started = 1; }
static this() { perThread = 6; }
class Node { Node next; string name; this(Node n, string s) { next = n; name = s; } ~this() {} }
interface Speaks { string speak(); }
class Dog : Speaks { string speak() { return "woof " ~ typeid(this).name; } }
__gshared Node kept;
void main() {
    foreach (i; 0 .. 300_000) kept = new Node(i % 1000 ? kept : null, i.to!string);
    GC.collect();
    int length; for (auto n = kept; n; n = n.next) ++length;
    writeln(length, " ", kept.name, " ", started);
    try { auto a = [1, 2]; size_t i = a.length; writeln(a[i]); } catch (Throwable t) writeln(typeid(t).name);
    try { throw new Exception("mine"); } catch (Exception e) writeln(e.msg);
    auto t = new Thread({ writeln("thread ", ++perThread); }); t.start(); t.join();
    writeln(perThread, " ", (cast(Speaks) Object.factory("own.Dog")).speak());
    writeln(iota(10).filter!(x => x % 2).map!(x => x * x).sum);
}
