// Errors with traces, comptime tables, threads with thread-local data, C calls.
const std = @import("std");
extern "c" fn printf(format: [*:0]const u8, ...) c_int;
threadlocal var mine: c_int = 5;
const squares = blk: { var t: [64]u32 = undefined; for (&t, 0..) |*e, i| e.* = @intCast(i * i); break :blk t; };
const Failure = error{ Deep, Wide };
fn deep(n: u32) Failure!u32 { if (n == 0) return error.Deep; return try deep(n - 1) + 1; }
fn work(out: *c_int) void { mine += 1; out.* = mine; }
export fn main() c_int {
    var got: c_int = 0;
    const thread = std.Thread.spawn(.{}, work, .{&got}) catch return 1;
    thread.join();
    _ = printf("%d %d %u\n", got, mine, squares[63]);
    const made = deep(20) catch |e| { _ = printf("%s\n", @errorName(e).ptr); return 3; };
    return @intCast(made);
}
