"""What Frontload writes does not depend on the locale: not on how it writes numbers (German has a
comma in them), sorts, or changes case (Turkish has another i)."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from frontload.profile import trace
from frontload.verbs.order import FORMATS

SOURCE = r"""
#include <locale.h>
#include <stdio.h>
#define NAMED(name) __attribute__((noinline)) int name(void) { __asm__ volatile(""); return 1; }
NAMED(Istanbul) NAMED(istanbul) NAMED(title_I) NAMED(title_i) NAMED(zebra) NAMED(ärger) NAMED(İi)
int table[4000] = {1};
int main(void) {
  setlocale(LC_ALL, "");
  printf("%.1f\n", 1.5);
  return title_i() + Istanbul() + ärger() + zebra() + title_I() + istanbul() + İi() + table[9] - 7;
}
"""
SAYS = {"C": "1.5\n", "de_DE.UTF-8": "1,5\n", "tr_TR.UTF-8": "1,5\n"}


@pytest.fixture
def locales(run, tmp_path) -> Path:
    """A folder with these locales, of which few systems have all."""
    if not shutil.which("localedef") or not Path("/usr/share/i18n/locales/tr_TR").exists():
        pytest.skip("needs localedef, and the sources of locales (package locales)")
    folder = tmp_path / "locales"
    folder.mkdir()
    for name in ("de_DE", "tr_TR"):
        run("localedef", "-i", name, "-f", "UTF-8", folder / f"{name}.UTF-8")
    return folder


def made(run, build, llvm, folder, environment) -> dict[str, bytes]:
    """What comes of a program by the way from its start to a front, by name. Two traces of the same
    are not the same bytes: they have a process id and a time in them."""
    folder.mkdir()
    (folder / "app.c").write_text(SOURCE, "utf-8")

    def do(*command, code=0):
        return run(*command, code=code, cwd=folder, env=environment)

    do(llvm / "clang", "-O1", "-ffunction-sections", "-fdata-sections", "-c", "app.c")
    link = [llvm / "clang", "app.o", "-pie", f"--ld-path={build / 'bin/ld.frontload'}"]
    do(*link, "-o", "app", "-Wl,-Map=app.map")
    files = {}
    for recorder in ("--with=trace", "--data"):
        do(build / "bin/frontload", "record", "-o", "traces", recorder, "--", "./app")
    for recorded in map(trace.read, sorted((folder / "traces").iterdir())):
        kind = "data" if recorded.has_data else "functions"
        files[f"trace of {kind}"] = recorded.addresses.tobytes() + recorded.kinds.tobytes()
    assert len(files) == 2
    do(build / "bin/frontload", "profile", "traces", "-o", "app.startup")
    do(*link, "-o", "front", "-Wl,--startup-profile=app.startup,--front-always,--min-match=0")
    for linker in FORMATS:
        do(build / "bin/frontload", "order", "app.startup", f"--linker={linker}", "--binary=app",
           "--min-match=0", "-o", f"order.{linker}", code=None)
    for file in folder.iterdir():
        if file.is_file():
            files[file.name] = file.read_bytes()
    for verb in (["show", "app.startup"], ["check", "app.startup", "front", "--json", "-"],
                 ["predict", "front"]):
        result = run(build / "bin/frontload", *verb, cwd=folder, env=environment, code=None)
        files[" ".join(verb)] = result.stdout.replace(str(folder), "").encode()
    return files


def test_the_same_bytes_in_any_locale(locales, run, build, llvm, tmp_path):
    """The touches of a trace, the profile, each order file, a linked program, and what is said of
    them."""
    found = {}
    for locale, says in SAYS.items():
        environment = {**os.environ, "LC_ALL": locale, "LOCPATH": str(locales)}
        folder = tmp_path / "work"
        found[locale] = made(run, build, llvm, folder, environment)
        assert subprocess.run([folder / "app"], env=environment, capture_output=True,
                              text=True).stdout == says, "the locale is in force"
        folder.rename(tmp_path / locale)
    german, turkish = found["de_DE.UTF-8"], found["tr_TR.UTF-8"]
    assert "order.lld" in german and "İi".encode() in german["app.startup"]
    for name, contents in found["C"].items():
        assert german[name] == contents and turkish[name] == contents, name
    assert found["C"].keys() == german.keys() == turkish.keys()
