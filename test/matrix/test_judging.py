"""The judge of the matrix is judged: what is wrong must fail, and what it takes for the truth is
what was done to the program's source."""

import re
from itertools import product

import layout
import pytest
from cells import judge
from consumers import LD_FRONTLOAD, LLD, Matched, said
from pairs import chosen
from programs import LTO, O0, O2, PGO, THIN
from rust import MANGLINGS, RELEASE

PLAIN_CELLS = list(product(("gcc", "clang"), (O0, O2, LTO, PGO), (1, 2)))
# What programs/tabula-2.patch does to the functions of tabula, as far as each has code of its own
# in an unoptimised build: without templates and lambdas, and those of the standard library.
GONE = {
    "Limit::Limit", "Limit::next", "Limit::name", "Limit::~Limit",  # renamed
    "absolute", "isWord", "listFormats", "report",  # removed, or renamed
    "check",  # inlined by force
    "run",  # has one parameter more
}
NEW = {
    "Head::Head", "Head::next", "Head::name", "Head::~Head",
    "Again::Again", "Again::next", "Again::name", "Again::~Again",
    "appendDigits", "isPartOfWord", "numberOfFormats", "tell", "writeQuoted",
    "run",
}


def _plain_link(matrix, compiler, optimisation, version):
    program = matrix.builds.program(compiler, optimisation, version)
    return program, _link_plainly(matrix, program)


def _link_plainly(matrix, program):
    output = matrix.new_folder() / "program"
    program.link(output, *matrix.plain(program))
    return output


@pytest.mark.parametrize(("compiler", "optimisation", "version"), chosen(PLAIN_CELLS),
                         ids=lambda value: getattr(value, "name", value))
def test_a_linker_that_ignores_the_profile_fails(matrix, compiler, optimisation, version):
    profile = matrix.profile(compiler, optimisation)
    program, linked = _plain_link(matrix, compiler, optimisation, version)
    for consumer in (LLD, LD_FRONTLOAD):
        result = judge("", consumer, version, linked, profile, Matched(999, 999), program.expected)
        assert any("in order" in problem for problem in result.problems())


def test_exact_names_alone_are_not_enough_for_the_next_version(matrix):
    _fails_with_exact_names(matrix, matrix.builds.program("clang", THIN, 2),
                            matrix.profile("clang", THIN))


@pytest.mark.parametrize("mangling", MANGLINGS)
def test_exact_names_alone_are_not_enough_for_the_next_version_in_rust(matrix, rust_builds,
                                                                       mangling):
    profile = matrix.record(rust_builds.program(RELEASE, mangling, 1))
    _fails_with_exact_names(matrix, rust_builds.program(RELEASE, mangling, 2), profile)


def _fails_with_exact_names(matrix, program, profile):
    plain = _link_plainly(matrix, program)
    known = {symbol.name for symbol in layout.Image(plain).symbols}
    exact = [w.name for w in layout.functions_of_profile(profile) if w.name in known]
    order, linked = plain.with_suffix(".order"), plain.with_suffix(".ordered")
    order.write_text("".join(f"{name}\n" for name in dict.fromkeys(exact)))
    program.link(linked, *matrix.tools.lld(program), f"-Wl,--symbol-ordering-file={order}")
    result = judge("", LLD, 2, linked, profile, Matched(999, 999), program.expected)
    assert any("lie in the block" in problem for problem in result.problems())


def test_a_changed_output_fails(matrix):
    profile = matrix.profile("gcc", O2)
    program, linked = _plain_link(matrix, "gcc", O2, 1)
    result = judge("", LLD, 1, linked, profile, Matched(999, 999), program.expected + "more")
    assert "the program's output changed" in result.problems()


def test_a_consumer_that_finds_fewer_names_than_exist_fails(matrix):
    profile = matrix.profile("gcc", O2)
    program, linked = _plain_link(matrix, "gcc", O2, 1)
    result = judge("", LLD, 1, linked, profile, Matched(20, 200), program.expected)
    assert any("20 names were found" in problem for problem in result.problems())


def test_a_consumer_that_does_not_say_what_it_found_fails():
    with pytest.raises(AssertionError, match="no `n of m names found`"):
        said("lld: warning: nothing")
    assert said("note: 1,234 of 2,345 names found (52.6%)") == (1234, 2345)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_functions_that_are_gone_are_those_that_were_changed(matrix, compiler):
    def own_functions(version):
        _, linked = _plain_link(matrix, compiler, O0, version)
        names = [layout.without_suffix(s.name) for s in layout.Image(linked).symbols]
        return {own for own in map(_own_function, layout.demangle(names)) if own}

    before, after = own_functions(1), own_functions(2)
    assert before - after == GONE - {"run"}  # by its bare name, run is there
    assert after - before == NEW - {"run"}


def _own_function(demangled: str) -> str | None:
    """`Class::function` of a function of the program, not of a template or in a function."""
    name = demangled.replace("(anonymous namespace)::", "")
    found = re.fullmatch(r"tabula::((?:\w+::)?~?\w+)\(.*\)( const)?", name)
    return found[1] if found and "::$_" not in name and "lambda" not in name else None
