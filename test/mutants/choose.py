#!/usr/bin/env python3
"""Chooses a sample of mutants: small faults put into our sources, to see whether a test notices.

    test/mutants/choose.py --seed 13 >>test/mutants/mutants.toml

By chance alone, from a seed, so that nobody picks the faults that are known to be found: so many of
each room of the sources, no two of one function's line. Who adds some to mutants.toml fills in the
tests that cover them; the guess is by what tests import, or by the room.

A mutant is the text before and after, and so can be put into the file that has the text later, too:
see run.py.
"""

import argparse
import ast
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mutated import ROOT, Sources, words

# Of each room so many, and the tests that cover it if nothing better is known.
ROOMS = {
    "scripts/frontload/*.py": (34, ()),
    "lldplugin/*.cpp": (14, ("unit", "link/test_layout", "link/test_command_line")),
    "lldplugin/predict/*.cpp": (4, ("unit", "python/test_predict", "python/test_predict_verb")),
    "lldplugin/driver/*.cpp": (3, ("wrapper/test_wrapper_calls", "wrapper/test_wrapper_options")),
    "lldplugin/gold/*.cpp": (2, ("gold/test_gold_order", "gold/test_gold_refusals")),
    "lldplugin/resolve/*.cpp": (2, ("python/test_resolve", "python/test_names")),
    "instrument/tracer/*.cpp": (4, ("tracer/test_tracer_order", "tracer/test_tracer_processes",
                                    "tracer/test_tracer_modules", "tracer/test_tracer_faults")),
    "instrument/valgrind/*.c": (3, ("valgrind/test_valgrind_touches",
                                    "valgrind/test_valgrind_modules",
                                    "valgrind/test_valgrind_processes")),
    "instrument/runtime/*.c": (3, ("runtime/test_runtime_order", "runtime/test_runtime_modules",
                                   "runtime/test_runtime_storage",
                                   "runtime/test_runtime_environment")),
    "instrument/prefetch/*.c": (1, ("prefetch/test_library", "prefetch/test_program")),
    "instrument/launcher/*.c": (2, ("python/test_launcher", "prefetch/test_run")),
    "cmake/*.cmake": (4, ("cmake/test_arguments", "cmake/test_targets", "cmake/test_manners",
                          "cmake/test_training")),
}
# A room is a folder with those below it, but for those that are rooms themselves.
_C_SWAPS = [(" == ", " != "), (" != ", " == "), (" < ", " <= "), (" <= ", " < "), (" > ", " >= "),
            (" >= ", " > "), (" && ", " || "), (" || ", " && "), (" + 1", " - 1"),
            (" - 1", " + 1"), ("++", "--"), ("return true;", "return false;"),
            ("return false;", "return true;"), ("std::min(", "std::max("),
            ("std::max(", "std::min("), (" += ", " -= ")]
_C_CALL = re.compile(r"\s+[\w:.>-]+\([^;{}]*\);$")
_C_CONDITION = re.compile(r"\bif \((.*)\)( \{)?$")
_CMAKE_SWAPS = [("if(NOT ", "if("), ("if(", "if(NOT "), (" AND ", " OR "), (" OR ", " AND "),
                ("FATAL_ERROR", "STATUS"), (" ON ", " OFF "), (" GREATER ", " LESS ")]
_PYTHON_COMPARISONS = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=",
                       ast.NotEq: "==", ast.In: "not in", ast.NotIn: "in", ast.Is: "is not",
                       ast.IsNot: "is"}


class Mutant(NamedTuple):
    file: str
    line: int
    old: str
    new: str


def of_c(file: str, text: str) -> Iterator[Mutant]:
    lines = text.splitlines()
    for number, line in enumerate(lines):
        code = line.split("//")[0]
        if not code.strip() or code.lstrip().startswith(("#", "*", "/*", "template", "namespace")):
            continue
        bare = re.sub(r'"(\\.|[^"\\])*"', lambda found: "\0" * len(found[0]), code)
        changed = [bare.replace(old, new, 1) for old, new in _C_SWAPS if old in bare]
        if _C_CALL.fullmatch(bare) and not bare.lstrip().startswith(("return", "else")) and (
                lines[number - 1].rstrip().endswith((";", "{", "}"))):
            changed.append(f"{bare[:len(bare) - len(bare.lstrip())]};")
        if found := _C_CONDITION.search(bare):
            changed.append(bare[:found.start(1)] + f"!({found[1]})" + bare[found.end(1):])
        for new in changed:
            # The texts of the line again, in their order.
            texts = iter(re.findall(r'"(?:\\.|[^"\\])*"', code))
            new = re.sub("\0+", lambda _, texts=texts: next(texts), new)
            yield Mutant(file, number, line.strip(), (new + line[len(code):]).strip())


def of_cmake(file: str, text: str) -> Iterator[Mutant]:
    for number, line in enumerate(text.splitlines()):
        if line.lstrip().startswith("#"):
            continue
        for old, new in _CMAKE_SWAPS:
            changed = line.replace(old, new, 1).strip()
            if old in line and "NOT NOT" not in changed and not changed.startswith("endif("):
                yield Mutant(file, number, line.strip(), changed)


def of_python(file: str, text: str) -> Iterator[Mutant]:
    lines = text.splitlines(keepends=True)

    def replaced(node, new: str) -> Mutant | None:
        if node.lineno != node.end_lineno:
            return None
        line = lines[node.lineno - 1].encode()
        whole = line[:node.col_offset] + new.encode() + line[node.end_col_offset:]
        return Mutant(file, node.lineno, line.decode().strip(), whole.decode().strip())

    def source(node) -> str:
        return ast.get_source_segment(text, node) or ""

    def changes(node) -> Iterator[Mutant | None]:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                swapped = _PYTHON_COMPARISONS[type(op)]
                yield replaced(node, f"{source(left)} {swapped} {source(right)}")
            case ast.BoolOp(op=op, values=[first, second]):
                word = "or" if isinstance(op, ast.And) else "and"
                yield replaced(node, f"{source(first)} {word} {source(second)}")
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield replaced(node, f"({source(operand)})")
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op,
                           right=ast.Constant(value=int(value))):
                sign = "-" if isinstance(op, ast.Add) else "+"
                yield replaced(node, f"{source(left)} {sign} {value}")
            case ast.Return(value=ast.Constant(value=bool(value))):
                yield replaced(node, f"return {not value}")
            case ast.Return(value=value) if value is not None:
                yield replaced(node, "return None")
            case ast.Expr(value=ast.Call()):
                yield replaced(node, "pass")
            case ast.If(test=test) | ast.IfExp(test=test):
                yield replaced(test, f"(not ({source(test)}))")
            case ast.Call(func=ast.Name(id="min" | "max" as name)):
                yield replaced(node.func, "max" if name == "min" else "min")

    for node in ast.walk(ast.parse(text)):
        yield from filter(None, changes(node))


def mutants_of(file: str, text: str) -> list[Mutant]:
    by_suffix = {".py": of_python, ".cmake": of_cmake}
    found = by_suffix.get(Path(file).suffix, of_c)(file, text)
    return [mutant for mutant in found if mutant.old != mutant.new and len(mutant.old) > 15]


def tests_for(file: str, guess: tuple[str, ...]) -> list[str]:
    """The tests that cover a module of the package: those that are called like it, else those that
    import it."""
    if guess:
        return list(guess)
    stem = Path(file).stem
    tests = {path.relative_to(ROOT / "test").with_suffix("").as_posix(): path.read_text()
             for path in (ROOT / "test").glob("*/test_*.py")}
    named = [name for name in tests if name.endswith((f"/test_{stem}", f"/test_{stem}_verb"))]
    imports = re.compile(rf"^from frontload[\w.]* import .*\b{stem}\b|"
                         rf"^from frontload[\w.]*\.{stem} import", re.M)
    imported = sorted((name for name, text in tests.items() if imports.search(text)
                       and name not in named), key=lambda name: len(tests[name]))
    return (named + imported)[:4]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=13)
    seed = parser.parse_args().seed
    chance, sources = random.Random(seed), Sources(ROOT)
    rooms = {file: max((room for room in ROOMS if _is_in(file, room)), key=len, default=None)
             for file in sources.texts}
    for room, (count, guess) in ROOMS.items():
        all_of_it = sorted(mutant for file, where in rooms.items() if where == room
                           for mutant in mutants_of(file, sources.texts[file])
                           if len(sources.places(mutant.old)) == 1)
        chance.shuffle(all_of_it)
        taken: list[Mutant] = []
        for mutant in all_of_it:
            if len(taken) < count and not any(
                    other.file == mutant.file and abs(other.line - mutant.line) < 10
                    for other in taken):
                taken.append(mutant)
        for mutant in sorted(taken):
            assert words(mutant.old) != words(mutant.new)
            print(f"[[mutant]] # {mutant.file}\nold = {_quoted(mutant.old)}\n"
                  f"new = {_quoted(mutant.new)}\ntests = {_list(tests_for(mutant.file, guess))}\n")
    return 0


def _is_in(file: str, room: str) -> bool:
    folder, pattern = room.split("*")
    return file.startswith(folder) and file.endswith(pattern)


def _quoted(text: str) -> str:
    assert "'''" not in text
    return f"'''{text}'''" if "'" in text else f"'{text}'"


def _list(names: list[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


if __name__ == "__main__":
    sys.exit(main())
