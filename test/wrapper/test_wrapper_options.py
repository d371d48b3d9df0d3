"""The options and variables of frontload-cc, and that it becomes the compiler."""

import errno
import json
import resource
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest


@pytest.mark.parametrize("options, environment", [
    ([], {}), (["--mode=off"], {"FRONTLOAD": "record"}),
    (["--mode=off", "--profile=p"], {}), ([], {"FRONTLOAD": "off", "FRONTLOAD_PROFILE": "p"}),
    ([], {"FRONTLOAD": "", "FRONTLOAD_PROFILE": "", "FRONTLOAD_PROFILE_DIR": ""}),
])
def test_off_changes_nothing(wrapper, options, environment):
    """Nor does being there without being told anything."""
    for words in (["gcc", "-c", "a.c"], ["gcc", "a.o", "-o", "app"], ["gcc"]):
        assert wrapper.words(*options, *words, **environment) == words


def test_the_environment_says_the_same(wrapper):
    """An option comes before it."""
    link = ["gcc", "a.o"]
    assert "-Map=a.out.map" in wrapper.words(*link, FRONTLOAD="record")
    assert "--startup-profile-dir=/p" in wrapper.words(*link, FRONTLOAD_PROFILE_DIR="/p")
    assert "--startup-profile=/q" in wrapper.words(*link, FRONTLOAD_PROFILE="/q")
    words = wrapper.words("--profile=r", *link, FRONTLOAD_PROFILE="q", FRONTLOAD_PROFILE_DIR="/p",
                          FRONTLOAD_PREFETCH="1", FRONTLOAD_MIN_MATCH="7")
    assert {"--startup-profile=r", "--front-prefetch", "--min-match=7"} < set(words)
    assert "--startup-profile-dir=d" in wrapper.words("--profile-dir=d", *link,
                                                      FRONTLOAD_PROFILE="q")
    assert "--front-prefetch" not in wrapper.words("--profile=r", *link, FRONTLOAD_PREFETCH="0")


@pytest.mark.parametrize("options, environment, what", [
    (["--mode=on"], {}, "--mode: 'on'"), (["--mode="], {}, "--mode: ''"),
    (["--mode"], {}, "--mode: "), (["--modes=use"], {}, "--modes=use: no such option"),
    (["--min-match=101"], {}, "--min-match: '101'"),
    (["--min-match=nan"], {}, "--min-match: 'nan'"),
    ([], {"FRONTLOAD": "1"}, "FRONTLOAD: '1'"),
    ([], {"FRONTLOAD_MIN_MATCH": "all"}, "FRONTLOAD_MIN_MATCH: 'all'"),
    ([], {"FRONTLOAD_PREFETCH": "yes"}, "FRONTLOAD_PREFETCH: 'yes'"),
    ([], {"FRONTLOAD_PROFILE_DIR": "startup"},
     "FRONTLOAD_PROFILE_DIR: 'startup' is not an absolute"),
])
def test_bad_values_end_the_build_at_once(wrapper, options, environment, what):
    """With the first file, whatever is to be done with it."""
    for words in (["gcc", "-c", "a.c"], ["gcc", "--version"]):
        error, note = wrapper.run(*options, *words, code=2, **environment).stderr.splitlines()
        assert error.startswith(f"frontload-cc: error: {what}")
        assert note.startswith("frontload-cc: note: ")


def test_use_without_a_profile_is_an_error_of_links(wrapper):
    assert wrapper.words("--mode=use", "gcc", "-c", "a.c")
    assert "no profile" in wrapper.run("--mode=use", "gcc", "a.o", code=2).stderr


def test_a_folder_of_profiles_that_is_none(wrapper):
    """Told here, where links that are left alone would not tell."""
    (wrapper.folder / "file").write_text("")
    error = wrapper.run("--profile-dir=file", "gcc", "-fuse-ld=bfd", "a.o", code=2).stderr
    assert "Not a directory" in error


def test_help_and_version(wrapper):
    assert "--mode=off|record|use" in wrapper.run("--help").stdout
    assert wrapper.run("--version").stdout.startswith("frontload-cc ")
    assert "no compiler" in wrapper.run(code=2).stderr


def test_exit_codes_streams_and_signals_are_the_compiler_s(wrapper):
    """All of it, input included: it is the same process."""
    wrapper.fake("gcc", "#!/bin/sh\necho $$; cat; echo bad >&2; exit 41\n")
    process = subprocess.Popen([wrapper.program, "--mode=record", "gcc", "-c", "-x", "c", "-"],
                               env=wrapper.environment, stdin=subprocess.PIPE, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate("source\n")
    assert (out, err, process.returncode) == (f"{process.pid}\nsource\n", "bad\n", 41)
    wrapper.fake("gcc", "#!/bin/sh\nkill -TERM $$\n")
    wrapper.run("--mode=record", "gcc", "-c", "a.c", code=-signal.SIGTERM)


def test_a_compiler_that_cannot_be_run(wrapper):
    """As a shell says it, also where a folder of PATH is closed to the user."""
    (wrapper.folder / "closed").mkdir(mode=0)
    path = f"{wrapper.folder / 'closed'}:{wrapper.environment['PATH']}"
    result = wrapper.run("--mode=record", "none-gcc", "-c", "a.c", code=127, PATH=path)
    assert "frontload-cc: error: none-gcc: No such file or directory" in result.stderr
    (wrapper.folder / "gcc").mkdir()
    assert "Permission denied" in wrapper.run("./gcc", "a.c", code=126).stderr
    wrapper.fake("found-gcc").chmod(0o644)
    assert "Permission denied" in wrapper.run("found-gcc", "a.c", code=126, PATH=path).stderr


def test_no_room_for_more_arguments(wrapper):
    """A caller may use all that the system gives: the call is then made as it is."""
    wrapper.fake("gcc").unlink()
    (wrapper.bin / "gcc").symlink_to("/bin/true")
    limit = partial(resource.setrlimit, resource.RLIMIT_STACK, (1 << 20, 1 << 20))

    def call(count: int) -> str | None:
        words = [wrapper.program, "--mode=record", "gcc", *count * ["a.o"]]
        try:
            return subprocess.run(words, env=wrapper.environment, capture_output=True, text=True,
                                  preexec_fn=limit, check=True).stderr
        except OSError as e:
            assert e.errno == errno.E2BIG
            return None

    least, most = 0, 1 << 18
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if call(middle) is None else (middle, most)
    assert "a.out: is made without Frontload: there is no room" in call(least)


def test_arguments_may_have_any_bytes(wrapper):
    """They are passed on, not understood."""
    odd = [b"-DX=\xff\xfe", "-DY=ä\n\t\"'\\".encode()]
    result = subprocess.run([wrapper.program, "--mode=record", "gcc", *odd, "-c", "a.c"],
                            env=wrapper.environment, capture_output=True, check=True)
    assert b"\n".join(odd) in result.stdout


def test_link_log(wrapper):
    """One line a link, with what a response file held; in all modes, and of nothing else."""
    wrapper.fake("ccache")
    log = wrapper.folder / "links.jsonl"
    (wrapper.folder / "args").write_text("'b c.o' -o app\n")
    for mode in ("off", "record"):
        options = [f"--mode={mode}", f"--link-log={log}"]
        wrapper.run(*options, "ccache", "gcc", "@args")
        for others in (["-c", "a.c"], ["--version"], ["conftest.c"], ["-E", "a.c"]):
            wrapper.run(*options, "gcc", *others)
        wrapper.run("clang", "-r", "ä\n.o", FRONTLOAD_LINK_LOG=str(log), FRONTLOAD=mode)
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    assert entries == 2 * [
        {"directory": str(wrapper.folder), "output": "app",
         "arguments": ["ccache", "gcc", "b c.o", "-o", "app"]},
        {"directory": str(wrapper.folder), "output": "a.out",
         "arguments": ["clang", "-r", "ä\n.o"]},
    ]


def test_links_of_many_processes_are_logged_whole(wrapper):
    log = wrapper.folder / "links.jsonl"
    names = [f"{i}-{'x' * 3000}.o" for i in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: wrapper.run(f"--link-log={log}", "gcc", name), names))
    written = [json.loads(line)["arguments"][1] for line in log.read_text().splitlines()]
    assert sorted(written) == sorted(names)


def test_a_link_log_that_cannot_be_written(wrapper):
    """Whoever wants it would otherwise find out after the build."""
    log = wrapper.folder / "none" / "log"
    error = wrapper.run(f"--link-log={log}", "gcc", "a.o", code=2).stderr
    assert f"frontload-cc: error: {log}: No such file" in error
    assert "No space left" in wrapper.run("--link-log=/dev/full", "gcc", "a.o", code=2).stderr
