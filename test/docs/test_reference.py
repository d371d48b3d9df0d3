"""The reference: everything that the sources read, write and say is described."""

import ast
import re
import subprocess
import sys

import pytest
from documentation import ROOT, SITE
from pages import tokens

REFERENCE = ROOT / "docs/reference"
SHIPPED = ("instrument", "lldplugin", "tools", "scripts", "cmake", "bench")
C_SOURCES = (".c", ".cpp", ".h")


def sources(*folders: str) -> dict:
    """The text of all sources, by path; without what only tests have."""
    found = {}
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                try:
                    found[path.relative_to(ROOT)] = path.read_text()
                except UnicodeDecodeError:
                    continue  # a picture
    return found


def first_cells(page: str) -> str:
    """The first column of all tables of a page."""
    lines = (REFERENCE / page).read_text().splitlines()
    return "\n".join(line.split("|")[1] for line in lines if line.startswith("| "))


def test_pages_say_what_the_sources_and_programs_say(build):
    result = subprocess.run([sys.executable, SITE / "written_pages.py", "--check", "--bin",
                             build / "bin"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def read_variables() -> set[str]:
    """Variables of ours that a program, script or test reads from the environment."""
    found = set()
    for path, text in sources(*SHIPPED, "test").items():
        if path.suffix in C_SOURCES:
            # A variable may be named where it is declared, and read elsewhere.
            found |= set(re.findall(r'"(FRONTLOAD(?:_[A-Z_]+)?)=?"', text))
        elif path.suffix == ".py" and path.parts[0] != "test":
            found |= set(re.findall(r'environ(?:\.get\(|\[)"(FRONTLOAD[A-Z_]*)"', text))
        elif path.parts == ("test", "places.py"):
            found |= set(re.findall(r'environ\.get\("(FRONTLOAD[A-Z_]*)"', text))
        elif path.parts[0] in ("scripts", "bench") and path.suffix in ("", ".in", ".sh"):
            found |= set(re.findall(r"\$\{?(FRONTLOAD[A-Z_]*)[:}]", text))
    return found


def test_each_variable_that_is_read_is_described():
    described = set(re.findall(r"`(FRONTLOAD[A-Z_]*)`", first_cells("environment.md")))
    read = read_variables()
    assert {"FRONTLOAD_TRACE", "FRONTLOAD_PYTHON", "FRONTLOAD_BINDIR"} <= read
    assert described == read


def test_each_exit_status_is_described():
    codes = set()
    for text in sources("instrument", "lldplugin", "tools", "scripts").values():
        codes |= set(re.findall(r"\bEXIT_(?!SUCCESS|FAILURE|STATUS)[A-Z_]+ = (\d+)", text))
        codes |= set(re.findall(r"\bexit[A-Z]\w+ = (\d+)", text))
    assert {"0", "1", "2", "65", "125", "126", "127"} <= codes
    assert codes <= set(re.findall(r"\d+", first_cells("exit-status.md")))


def test_each_schema_is_described():
    written = set()
    for text in sources(*SHIPPED).values():
        written |= set(re.findall(r'"(frontload-[a-z-]+/\d+)"', text))
    assert "frontload-check/1" in written
    assert written == set(re.findall(r"`(frontload-[a-z-]+/\d+)`", first_cells("json.md")))


@pytest.fixture(scope="module")
def keys():
    """The keys that json.md gives a schema, by its heading."""
    found, schema = {}, None
    for token in tokens((REFERENCE / "json.md").read_text()):
        if token.type == "inline" and token.content.startswith("frontload-"):
            schema = found.setdefault(token.content, set())
        elif token.type == "inline" and schema is not None:
            schema |= set(re.findall(r"`([a-z_]+)`", token.content))
    return found


def test_each_key_of_a_check_is_described(keys):
    sources = [ast.parse((ROOT / "scripts/frontload" / name).read_text())
               for name in ("verbs/check.py", "profile/coverage_report.py")]
    written = {key.value for source in sources for node in ast.walk(source)
               if isinstance(node, ast.Dict) for key in node.keys
               if isinstance(key, ast.Constant) and re.fullmatch("[a-z_]+", str(key.value))}
    assert "longest_ordered_run" in written
    assert written - {"schema"} <= keys["frontload-check/1"]


def test_each_key_of_a_trial_is_described(keys):
    source = (ROOT / "scripts/frontload/auto/verdict.py").read_text()
    document = source[source.index('"schema": SCHEMA'):]
    written = set(re.findall(r'^ {8}"(\w+)":', document, flags=re.MULTILINE))
    assert {"good", "advice"} <= written
    assert written - {"frontload"} <= keys["frontload-auto/1"]


def test_each_key_of_a_measurement_is_described(keys):
    source = (ROOT / "scripts/frontload/measure/document.py").read_text()
    document = source[source.rindex('"schema": SCHEMA'):]
    written = set(re.findall(r'^ {8}"(\w+)":', document, flags=re.MULTILINE))
    assert {"plan", "results"} <= written
    assert written - {"schema"} <= keys["frontload-measure/2"]


def literals(text: str, suffix: str) -> str:
    """What a source's strings say, those joined that stand one after the other."""
    if suffix == ".py":
        parts = []
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.JoinedStr):
                parts.append("".join(part.value if isinstance(part, ast.Constant) else "…"
                                     for part in node.values))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                parts.append(node.value)
        return "\n".join(parts)
    return re.sub(r'"\s*"', "", text)


def test_troubleshooting_quotes_what_the_tools_say():
    """Each line that begins with a tool of ours; … stands for what differs."""
    said = "\n".join(literals(text, path.suffix) for path, text in
                     sources("instrument", "lldplugin", "tools", "scripts").items()
                     if path.suffix in (*C_SOURCES, ".py"))
    quoted = [line for token in tokens((ROOT / "docs/troubleshooting.md").read_text())
              if token.type == "fence"
              for line in token.content.splitlines() if re.match(r"(ld\.)?frontload", line)]
    assert len(quoted) > 20
    for line in quoted:
        _, _, message = re.fullmatch(r"([\w.-]+): (error|warning|note): (.*)", line).groups()
        for part in re.split("…", message):
            words = part.strip(" :;,()%'").removesuffix("Operation not permitted").strip(" :")
            # Of what is put together in several places only the longer pieces can be found.
            for piece in re.split(r": ", words):
                assert len(piece) < 6 or piece in said, (line, piece)
