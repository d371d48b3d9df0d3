"""What Frontload writes does not depend on the locale. Turkish has commas in numbers, another i."""

import json
import os
import sys
from pathlib import Path

import pytest
from abilities import needs
from frontload.profile import trace
from frontload.verbs.order import FORMATS

pytestmark = needs("program:localedef", "ptrace", "valgrind")
SOURCE = r"""
#include <locale.h>
#include <stdio.h>
#define NAMED(name) __attribute__((noinline)) int name(void) { __asm__ volatile(""); return 1; }
NAMED(Istanbul) NAMED(istanbul) NAMED(title_I) NAMED(title_i) NAMED(zebra) NAMED(ärger) NAMED(İi)
int table[4000] = {1};
int main(void) {
  setlocale(LC_ALL, "");
  fprintf(stderr, "%.1f\n", 1.5);
  return title_i() + Istanbul() + ärger() + zebra() + title_I() + istanbul() + İi() + table[9] - 7;
}
"""
VERBS = [["record", "-o", "traces", "--with=trace", "--", "./app"],
         ["record", "-o", "traces", "--data", "--", "./app"],
         ["profile", "traces", "-o", "app.startup"],
         *(["order", "app.startup", f"--linker={linker}", "--binary=app", "--min-match=0", "-o",
            f"order.{linker}"] for linker in FORMATS),
         ["info", "app.startup"],
         ["check", "app.startup", "app", "--json", "-"], ["predict", "app"]]
# They run in one process, which is new in each locale.
RUN = """
import contextlib, json, sys
from frontload.cli import main
for arguments in json.loads(sys.argv[1]):
    with contextlib.suppress(SystemExit):
        main.main(arguments)
"""


def made(run, build, llvm, folder, environment) -> dict[str, bytes]:
    """The files on the way from a program to its front; traces have process ids and times."""
    folder.mkdir()
    (folder / "app.c").write_text(SOURCE, "utf-8")

    def do(*command):
        return run(*command, cwd=folder, env=environment).stdout

    do(llvm / "clang", "-O1", "-ffunction-sections", "-fdata-sections", "-c", "app.c")
    link = [llvm / "clang", "app.o", "-pie", f"--ld-path={build / 'bin/ld.frontload'}"]
    do(*link, "-o", "app", "-Wl,-Map=app.map")
    said = do(sys.executable, "-c", RUN, json.dumps(VERBS)).replace(str(folder), "")
    do(*link, "-o", "front", "-Wl,--startup-profile=app.startup,--front-always,--min-match=0")
    files = {"said": said.encode()}
    for recorded in map(trace.read, sorted((folder / "traces").iterdir())):
        kind = "data" if recorded.has_data else "functions"
        files[f"trace of {kind}"] = recorded.addresses.tobytes() + recorded.kinds.tobytes()
    files |= {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    return files


def test_the_same_bytes_in_any_locale(tools, run, build, llvm, tmp_path):
    """The touches of a trace, the profile, each order file, a program, and what is said of them."""
    if not Path("/usr/share/i18n/locales/tr_TR").exists():
        pytest.skip("needs the sources of locales (package locales)")
    run("localedef", "-i", "tr_TR", "-f", "UTF-8", tmp_path / "tr_TR.UTF-8")
    found = []
    for locale, says in (("C", "1.5\n"), ("tr_TR.UTF-8", "1,5\n")):
        environment = {**os.environ, "LC_ALL": locale, "LOCPATH": str(tmp_path)}
        folder = tmp_path / "work"
        found.append(made(run, build, llvm, folder, environment))
        assert run(folder / "app", env=environment).stderr == says, "the locale is in force"
        folder.rename(tmp_path / f"work.{locale}")
    ours, turkish = found
    assert ours.keys() == turkish.keys() >= {"order.lld", "trace of data", "trace of functions"}
    assert "İi".encode() in ours["app.startup"]
    for name, contents in ours.items():
        assert turkish[name] == contents, name
