"""strace's text: calls, and the paths in them."""

import pytest
from frontload.tracing import strace
from frontload.tracing.strace import Call
from hypothesis import given
from hypothesis import strategies as st


def call(name, *, base=None, is_in_folder=False, path=None, arguments=(), flags=(), result=0,
         opened=None) -> Call:
    return Call(name, base, is_in_folder, path, arguments, frozenset(flags), result, opened)


@pytest.mark.parametrize("line, expected", [
    ('execve("/bin/sh", ["sh", "-c", "a) = 5 \\"b"], 0x7f /* 9 vars */) = 0',
     call("execve", path="/bin/sh", arguments=("sh", "-c", 'a) = 5 "b'))),
    ('8 execve("sh", ["sh", "f) = 5 x"], NULL <unfinished ...>',
     call("execve", path="sh", arguments=("sh", "f) = 5 x"), result=None)),
    ('execve("sh", ["sh"], NULL) = -1 ENOENT (No such file or directory)',
     call("execve", path="sh", arguments=("sh",), result=-1)),
    ('execve("sh", ["sh", "long"...], NULL) = 0', call("execve", path="sh")),
    ('execveat(3</x>, "", [], NULL, AT_EMPTY_PATH) = 0', call("execveat", base="/x", path="")),
    ('openat(AT_FDCWD</a>, "O_PATH", O_RDONLY|O_CLOEXEC) = 3</a/O_PATH>',
     call("openat", base="/a", is_in_folder=True, path="O_PATH", flags=("O_RDONLY", "O_CLOEXEC"),
          result=3, opened="/a/O_PATH")),
    ('openat(4, "x", O_RDONLY) = 3</x) = 5>',
     call("openat", path="x", flags=("O_RDONLY",), result=3, opened="/x) = 5")),
    ('openat2(AT_FDCWD</a>, "x", {flags=O_RDONLY|O_DIRECTORY, resolve=0}, 24) = 3</a/x>',
     call("openat2", base="/a", is_in_folder=True, path="x", flags=("O_RDONLY", "O_DIRECTORY"),
          result=3, opened="/a/x")),
    ('17 fchdir(3</srv\\74>)   = 0', call("fchdir", base="/srv<")),
    ('chdir("\\303\\251")       = 0', call("chdir", path="é")),
    ('chdir("\\777\\x")         = 0', call("chdir", path="\udcffx")),
    ("exit_group(0)            = ?", call("exit_group", result=None)),
])
def test_a_call_is_told_with_its_paths(line, expected):
    """Strings may hold anything, also what looks like a result or a flag."""
    assert list(strace.calls([line])) == [expected]


def test_what_is_no_call_is_passed_over():
    """Ends of calls that were told of before, signals, exits, and what is no text of strace's."""
    assert not list(strace.calls(["8 <... execve resumed>) = 0", "--- SIGCHLD {} ---",
                                  "+++ exited with 0 +++", "", "8", "= 3<", "\u2028"]))


@given(st.text(alphabet='8 execvopnatchdir(AT_FDCWD,"\\<>[]){}=0x3|/*.-?'))
def test_a_damaged_text_is_no_end(text):
    list(strace.calls([text, f'execve({text}', f'openat(AT_FDCWD<{text}', f'chdir("x{text}']))
