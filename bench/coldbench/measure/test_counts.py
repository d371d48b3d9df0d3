"""How many tests passed in the log of a build, by the lines that runners of tests end with.

A runner has patterns. A match adds its numbers, or 1 for a line that is one test, to the outcomes
that its groups are named after; `name` is that of a test that failed. If no runner is known, the
lines that end or begin with a word such as `ok` count, as the runner `lines`.
"""

import re
from collections import Counter
from collections.abc import Iterator

_RUNNERS = {
    "automake": (r"# (?:PASS|XFAIL): +(?P<passed>\d+)", r"# SKIP: +(?P<skipped>\d+)",
                 r"# (?:FAIL|XPASS|ERROR): +(?P<failed>\d+)",
                 r"(?:FAIL|XPASS|ERROR): (?P<name>\S+).*"),
    "dejagnu": (r"# of expected (?:passes|failures)\t+(?P<passed>\d+)",
                r"# of unexpected (?:failures|successes)\t+(?P<failed>\d+)"),
    "autotest": (r" *\d+: .* ok( +\([^)]*\))?(?P<passed>)", r" *\d+: .* skipped \(.*(?P<skipped>)",
                 r" *\d+: .* expected failure .*(?P<passed>)",
                 r" *\d+: (?P<name>.*\S) +FAILED \(.*(?P<failed>)"),
    "meson": (r"(?:Ok|Expected Fail): +(?P<passed>\d+)", r"Skipped: +(?P<skipped>\d+)",
              r"(?:Fail|Unexpected Pass|Timeout): +(?P<failed>\d+)",
              r" *\d+/\d+ (?P<name>.*?) +(?:FAIL|TIMEOUT|ERROR) .*"),
    "ctest": (r"\d+% tests passed, (?P<failed>\d+) tests failed out of (?P<of>\d+)",
              r"\t *\d+ - (?P<name>.*) \((?:Failed|Timeout|SEGFAULT|Subprocess .*|ILLEGAL)\)"),
    "pytest": (r"=+ .*?(?P<failed>\d+) failed.* in .* =+", r"=+ .*?(?P<passed>\d+) passed.* =+",
               r"=+ .*?(?P<skipped>\d+) skipped.* =+", r"FAILED (?P<name>\S+)( - .*)?"),
    "unittest": (r"Ran (?P<of>\d+) tests? in .*", r"FAILED \(.*failures=(?P<failed>\d+).*",
                 r"FAILED \(.*errors=(?P<failed>\d+).*", r"OK \(.*skipped=(?P<skipped>\d+).*",
                 r"(?:FAIL|ERROR): (?P<name>\w+ \(.*\))"),
    "check": (r"\d+%: Checks: (?P<of>\d+), Fail(?:ed|ures): (?P<failed>\d+).*",),
    "prove": (r"Files=\d+, Tests=(?P<of>\d+),.*", r"  Failed tests?: .*(?P<name>)",
              r"Failed \d+/\d+ test programs\. (?P<failed>\d+)/\d+ subtests failed\."),
    "TAP": (r"ok \d+.* # (?i:skip).*(?P<skipped>)", r"ok \d+(?!.*# (?i:skip)).*(?P<passed>)",
            r"not ok \d+(?!.*# (?i:todo))[ -]*(?P<name>.*)(?P<failed>)"),
    "cargo": (r"test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; "
              r"(?P<skipped>\d+) ignored;.*", r"test (?P<name>.*) \.\.\. FAILED"),
    "go": (r"ok  \t\S+\t.*(?P<passed>)", r"FAIL\t(?P<name>\S+)\t.*(?P<failed>)"),
    "tcltest": (r"\S*:?\tTotal\t(?P<of>\d+)\tPassed\t\d+\tSkipped\t(?P<skipped>\d+)\tFailed\t"
                r"(?P<failed>\d+)", r"==== (?P<name>\S+) .* FAILED"),
    "make": (r"(?P<passed>\d+) Tests? in \d+ Categor(?:y|ies) Complete .*",
             r"(?P<failed>\d+) Tests? in \d+ Categor(?:y|ies) Failed .*",
             r"(?P<name>\S+) \.+ FAILED .*"),
    # A test that fails is followed by what diff prints.
    "bash": (r"run-[\w-]+(?P<passed>)(?!(?:\nwarning: .*)*\n\d[\d,]*[acd]\d)",
             r"run-(?P<name>[\w-]+)(?P<failed>)(?=(?:\nwarning: .*)*\n\d[\d,]*[acd]\d)"),
}
_LINES = (r"(?:.*\b(?:ok|OK|[Pp]ass(?:ed)?|PASS(?:ED)?|[Ss]uccess(?:ful(?:ly)?)?)[ .!*]*|"
          r"(?:PASS(?:ED)?|ok|OK|\[ok\])(?!\w).*)(?P<passed>)",
          r"(?P<name>.*)\b(?:[Ff]ail(?:ed)?|FAIL(?:ED)?)[.!]?(?P<failed>)")
_BEGIN = re.compile(r"^ *(?:(?:debian/rules override_)?dh_auto_test|"
                    r"make\b(?! install\b).*\b(?:check|tests?)\b).*$", re.MULTILINE)


def _matches(patterns: tuple[str, ...], text: str) -> Iterator[re.Match[str]]:
    for pattern in patterns:
        yield from re.finditer(rf"^{pattern}$", text, re.MULTILINE)


def _counted(patterns: tuple[str, ...], text: str) -> tuple[Counter[str], set[str]]:
    counts: Counter[str] = Counter()
    names = set()
    for match in _matches(patterns, text):
        for outcome, number in match.groupdict().items():
            if outcome == "name":
                names.add(number.strip())
            elif number is not None:
                counts[outcome] += int(number or 1)
    if of := counts.pop("of", 0):
        counts["passed"] += of - counts["failed"] - counts["skipped"]
    return counts, names


def count(log: str) -> dict:
    """{"runners": {runner: {"passed", "failed", "skipped"}}, "failures": [names]}"""
    text = re.sub(r"\x1b\[[\d;]*m|[ \r]+$", "", log, flags=re.MULTILINE)
    found, failures = {}, set()
    for runner, patterns in _RUNNERS.items():
        if runner == "TAP" and "prove" in found:
            continue  # which has read these lines
        counts, names = _counted(patterns, text)
        if counts:
            found[runner] = dict(sorted(counts.items()))
            failures |= names if counts["failed"] else set()
    if not found and (begin := _BEGIN.search(text)):
        counts, names = _counted(_LINES, text[begin.end():])
        if counts:
            found["lines"], failures = dict(sorted(counts.items())), names
    return {"runners": found, "failures": sorted(failures)}
