"""What starts ask for beforehand: front or note, given lists, learnt lists; as check, predict and
report count it."""

import json
import os
from dataclasses import replace

import pytest
from abilities import needs
from faults_writer import FaultsWriter, plain_file
from frontload.base.spans import Spans
from frontload.elf import file as elf
from frontload.reading import asked, listing
from frontload.reading.listing import MAP, PAGE, PrefetchList, Touch
from frontload.reading.record import identity
from frontload.report import model, recorded
from frontload.report.page_view import strip
from trace_writer import CODE, DATA, TraceWriter

pytestmark = pytest.mark.usefixtures("tools", "state")
# Each function has pages of its own; a fault of a pad reads no other.
SIZE = 64 << 10
SOURCE = "".join(f"""
void pad{number}(void) {{ __asm__ (".skip {4 * SIZE}, 0x90"); }}
__attribute__((noinline, aligned(4096))) int f{number}(int x) {{
    __asm__ volatile (".skip {SIZE}, 0x90");
    return x + {number};
}}""" for number in range(1, 5)) + """
int main(int argc, char **argv) { return f1(argc) + f2(argc) + f3(argc) + f4(argc) < argc; }
"""
FRONT = "main", "f1", "f2"


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """The folder of learnt lists."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "state/frontload").mkdir(parents=True)
    return tmp_path / "state/frontload"


@pytest.fixture
def all_names(startup):
    return startup("main", "f1", "f2", "f3", "f4", file="all.startup")


@pytest.fixture
def fronted(link, build, startup):
    """The program with `FRONT` in its front."""
    return link(f"--ld-path={build / 'bin/ld.frontload'}", "-Wl,--front-always",
                f"-Wl,--startup-profile={startup(*FRONT)}", source=SOURCE)


def pages_of(program, *names) -> list[int]:
    read = elf.read(program.path)
    text = read.sections[read.section_names.index(b".text")]
    distance = int(text["addr"]) - int(text["offset"])
    return [page for name in names for page in range(
        (program.addresses[name] - distance) // PAGE,
        (program.addresses[name] - distance + SIZE + 16) // PAGE + 1)]


def write_list(to, program, *names, **changes):
    """A list of all pages of these functions; `changes` of the file's identity."""
    file = replace(identity(str(program.path)), **changes)
    found = PrefetchList(1, {file: {page: Touch(rank, 1, MAP) for rank, page in enumerate(
        pages_of(program, *names))}})
    to.write_bytes(listing.to_bytes(found))
    return to


def check(cli, program, profile, *lists, code=1) -> dict:
    return json.loads(cli("check", program.path, "--profile", profile, "--json=-", *(
        f"--files={each}" for each in lists), code=code).out)["asked"]


def names_by(found) -> dict[str, int]:
    return {row["by"]: row["names"] for row in found["by"]}


@needs("built:bin/ld.frontload")
def test_front_list_and_both(cli, fronted, all_names, tmp_path, state):
    """A list may have what the front has, and more. The last row is what they have together."""
    path = write_list(tmp_path / "app.files", fronted, "f2", "f3")
    found = check(cli, fronted, all_names, path)
    assert names_by(found) == {"front": 3, "list": 2, "all": 4}
    assert found["unasked_names"] == ["f4"]
    pages = {row["by"]: row["pages"] for row in found["by"]}
    assert pages["front"] < pages["all"] == found["pages"] - found["unasked_pages"]
    assert pages["list"] == len({*pages_of(fronted, "f2", "f3")})
    assert pages["all"] < pages["front"] + pages["list"]
    apart = check(cli, fronted, all_names, write_list(tmp_path / "b.files", fronted, "f3"))
    assert names_by(apart) == {"front": 3, "list": 1, "all": 4}
    alone = check(cli, fronted, all_names)
    assert names_by(alone) == {"front": 3} and alone["unasked_names"] == ["f3", "f4"]
    learnt = write_list(state / ("app-" + "0123456789abcdef" + ".files"), fronted, "f4")
    found = check(cli, fronted, all_names, path)
    assert names_by(found) == {"front": 3, "list": 2, "learnt": 1, "all": 5}
    assert found["by"][2]["list"] == str(learnt) and found["unasked_names"] == []
    said = cli("check", fronted.path, "--profile", all_names, "--files", path, code=1)
    assert f"learnt by frontload-run --learn: {learnt}\n" in said.out
    assert "all of these" in said.out and "3 of 5 names" in said.out


def test_what_a_start_would_leave_alone(cli, link, all_names, tmp_path, state):
    """A list of another state of the file, or of another file, is asked for nothing, and said so;
    learnt lists that are damaged, or of another program, are none."""
    program = link(source=SOURCE)
    stale = write_list(tmp_path / "stale.files", program, "f1", changed_ns=1)
    result = cli("check", program.path, "--profile", all_names, "--files", stale, code=None)
    assert f"{stale}: does not list {program.path} as it is here" in result.err
    for name, text in (("app-" + "0" * 16, "frontload-files 1\nfile\n"), ("app-x", "")):
        (state / f"{name}.files").write_text(text)
    write_list(state / f"app-{'1' * 16}.files", program, "f1", path="/usr/bin/other")
    os.mkfifo(state / f"app-{'2' * 16}.files")
    assert check(cli, program, all_names, stale, code=None) is None
    assert "No such file" in cli("check", program.path, "--profile", all_names, "--files", "gone",
                                 code=2).err


@pytest.fixture
def predict(cli, tmp_path):
    """predict(program, *options): each way's figures on a disk, for a start of these functions."""
    def predict(program, *options) -> dict[str, dict]:
        writer = TraceWriter().module(1, str(program.path), program.build_id)
        for name in ("main", "f1", "f2", "pad1", "pad4"):
            writer.event(program.addresses[name], kind=CODE)
        writer.event(program.addresses["main"], kind=DATA).write(tmp_path / "app.fltrace")
        document = json.loads(cli("predict", "--variant", f"app={program.path}", "--device=hdd",
                                  "--json=-", *options, tmp_path / "app.fltrace").out)
        return {each["way"]: each | each["devices"]["hdd"] for each in document["variants"]}
    return predict


@needs("built:bin/ld.frontload")
def test_each_way_is_predicted(predict, cli, fronted, tmp_path):
    """What the list has costs no fault; the front first, it takes fewer requests."""
    path = write_list(tmp_path / "app.files", fronted, "f2", "pad1")
    ways = predict(fronted, "--files", path)
    assert list(ways) == ["as_it_is", "front", "list", "front_and_list"]
    assert [each["name"] for each in ways.values()] == [
        "app", "app: front", "app: list", "app: front and list"]
    faults, seconds = ({way: each[key] for way, each in ways.items()}
                       for key in ("major_faults", "seconds"))
    assert faults["front_and_list"] == faults["list"] <= faults["front"]
    assert seconds["front_and_list"] < seconds["list"] and seconds["front"] < seconds["as_it_is"]
    assert ways["front"]["prefetch_bytes"] == ways["front_and_list"]["prefetch_bytes"] > 0
    assert ways["list"]["prefetch_bytes"] == 0
    assert list(predict(fronted)) == ["as_it_is"]


def test_a_program_without_a_front(predict, link, cli, tmp_path):
    """It has the list alone. A disk finds the beginning of each of its ranges."""
    program = link("-Wl,-z,separate-code", source=SOURCE)
    path = write_list(tmp_path / "app.files", program, "f1", "f2", "pad1")
    ways = predict(program, "--files", path)
    assert list(ways) == ["as_it_is", "list"]
    assert ways["list"]["major_faults"] <= ways["as_it_is"]["major_faults"] - 2
    apart = predict(program, "--files", write_list(path, program, "f1", "pad4"))["list"]
    assert apart["requests"] >= ways["list"]["requests"]
    stale = write_list(tmp_path / "stale.files", program, "f1", size=1 << 30)
    assert list(predict(program, "--files", stale)) == ["as_it_is"]


def test_report_shows_what_is_asked_for(tmp_path):
    """Pages of the lists, and what was read without them; without lists nothing is known."""
    path = tmp_path / "data"
    path.write_bytes(bytes(100 * PAGE))
    here = identity(str(path))
    lists = {"a.files": PrefetchList(1, {here: {page: Touch(page, 1, MAP) for page in (1, 2, 50)}})}
    writer = FaultsWriter(plain_file(str(path), 100 * PAGE, before="", after=""))
    start = recorded.parse(writer.phase("exec").major(0, 0, pages=4).to_bytes(), "start.json")
    (file,) = model.build([start], lists=lists)["variants"][0]["files"]
    assert (file["read"], file["front"], file["listed"]) == ("0+4", None, "1+2 50+1")
    assert file["unasked_bytes"] == 2 * PAGE
    (plain,) = model.build([start])["variants"][0]["files"]
    assert (plain["listed"], plain["unasked_bytes"]) == (None, None)
    assert strip(plain, 100 * PAGE, PAGE)["asked"] == {}
    # Columns of a tenth of a page: 0 and 3 were read without being asked for, 50 is in the front.
    shown = strip(file | {"front": "2+1 50+1"}, 100 * PAGE, PAGE)["asked"]
    assert shown == {"unasked": "M0 24V0H40V24zM500 24V0H510V24z",
                     "listed": "M10 24V0H30V24zM500 24V0H510V24z",
                     "front": "M20 24V0H30V24zM500 24V0H510V24z",
                     "both": "M20 24V0H30V24zM500 24V0H510V24z"}


def test_union():
    one, other = (asked.Asked(asked.LIST, None, Spans([begin], [end]))
                  for begin, end in ((0, 8), (4, 12)))
    assert asked.union([one, other]).size == 12 and asked.union([]).size == 0
