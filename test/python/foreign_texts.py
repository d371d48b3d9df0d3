"""The shapes in which other tools write what the importers read, short: of versions, options and
processors of the last ten years. Each is a format, a text and the names in it."""

_FRAMES = ["\t    1234 {0}{1} (/bin/app)\n", "\t    1250 outer{1} (/bin/app)\n",
           "\t    1270 main{1} (/bin/app)\n"]
_KERNEL = "\tffffffff81a01234 asm_exc_page_fault{} ([kernel.kallsyms])\n"


def _chain(head, offset="+0x4", before="", inner="inner"):
    return head + "\n" + before + "".join(_FRAMES).format(inner, offset) + "\n"


_PERF = {
    "without offsets": _chain("app 123 100.000001:   10101010 cpu-clock: ", "", _KERNEL.format("")),
    "hybrid": _chain("Web Content 5/x 123/124 [003] 100.000001:   1 cpu_core/cycles/Pu: ", "+0x4",
                     _KERNEL.format("+0x1")),
    "hybrid, modifiers inside": _chain("V8 Worker 1:2 123/124 [3] 1.01: 25 cpu_atom/cycles:u/: "),
    "raw event": _chain("app 123/123 100.000001:  7 cpu/event=0xc2,umask=0x1,name=x/ppp: "),
    "latency flags": _chain("(sd-pam) 123/124 [003] d..1.   100.000001:  250 page-faults:u: "),
    "latency flags, newer": _chain("app 123/124 [003] dNh2. 100.000001: 250 page-faults:u: "),
    "misc": _chain("app 123/124 [003] U      100.000001: 250 page-faults:u: "),
    "CR LF": _chain("app  123/123  100.000001:   1 cycles:ppp: ").replace("\n", "\r\n"),
    "headers": "# ========\n# cmdline : /usr/bin/perf record -g ./app\n#\n" + _chain(
        "app  123/123  100.000001:   10101010 cycles:P: "),
    "no times": _chain("app 123/123 cpu-clock:u: "),
    "no times, only a thread": _chain("my app 2  5 [001]  250 cpu-clock:u: "),
    "no event": _chain("app 123/123 [001] 100.000001: "),
    "no process": _chain("my app 100.000001:  250 cycles: "),
    "no command": _chain("123456/123456 100.000001: cycles: "),
    "nanoseconds": _chain("app 123/123 100.000000001:  250 cycles: "),
    "no symbol": _chain("app 5/5 1.5: 7 cycles: ", "+0x1", "\t 7f0001 (/lib/libc.so.6)\n"),
    "source lines": _chain("app 5/5 1.5: 7 cycles: ").replace(")\n", ")\n  app.c:12\n"),
    "offsets in files": _chain("app 5/5 1.5: 7 cycles: ").replace("app)", "app+0x1234)"),
    "records": "app 5/5 1.5: PERF_RECORD_COMM exec: app:5/5\n"
               "app 5/5 [001] 1.5: PERF_RECORD_MMAP2 5/5: [0x1(0x2) @ 0 1:1 1 1]: r-xp /bin/app\n"
               + _chain("app 5/5 1.6: 7 cycles: "),
    "a line each": "".join(f"app  123/123  10.1:   1 cycles:u:      1234 {name}+0x4 (/bin/app)\n"
                           for name in ("main", "outer", "inner")),
}
_UFTRACE = {
    "dump": "uftrace file header: magic = 4674726163652100\n\nreading 5.dat\n"
            "5.000000001  5: [entry] main(55ed) depth: 0\n"
            "5.000000002  5: [entry] outer(55ee) depth: 1\n  args[1] c32: 1\n"
            "5.000000003  5: [entry] inner(55ef) depth: 2\n",
    "dump without addresses": "5.000000001  5: [entry] main depth: 0\n"
                              "5.000000002  5: [entry] outer depth: 1\n"
                              "5.000000003  5: [entry] inner depth: 2\n",
    "older columns": "# DURATION    TID     FUNCTION\n            [20441] | main() {\n"
                     "            [20441] |   outer() {\n   1.872 us [20441] |     inner();\n"
                     "   2.000 us [20441] |   } /* outer */\n",
    "more columns": "#   ELAPSED    ADDRESS         FUNCTION\n   1.1 us  55ed | main() {\n"
                    "   1.2 us  55ee |   outer() { /* /src/app.c:5 */\n"
                    "   1.3 us  55ef |     inner(1, \"x\");\n",
    "no columns": "main() {\n  outer() {\n    inner();\n  } /* outer */\n} /* main */\n",
    "no columns, comments or libraries": "main() {\n  outer() {\n    inner() = 1;\n  }\n}\n",
}
_LISTS = {
    "lld": {"comments and CR LF": "\ufeff# by hand\r\nmain\r\n\r\n outer\t\r\ninner",
            "spaces in few": "main\nouter\ninner\n"},
    "gold": {"words": ".text.startup.main\n.text.hot.outer\n.text.inner\n",
             "CR LF": ".text.main\r\n.text.outer\r\n.text.inner\r\n"},
    "llvm-temporal": {
        "by LLVM 17": ":ir\n:temporal_prof_traces\n# Num Temporal Profile Traces:\n1\n"
                      "# Temporal Profile Trace Stream Size:\n1\n# Weight:\n1\n"
                      "main,src/app.c:outer,<unknown>:inner\n",
        "other flags": "# IR level Instrumentation Flag\n:ir\n:entry_first\n"
                       ":temporal_prof_traces\n1\n1\n1\nmain,src/app.c;outer,inner\n"},
}
SHAPES = [(format, name, text) for format, texts in
          {"perf": _PERF, "uftrace": _UFTRACE, **_LISTS}.items() for name, text in texts.items()]
