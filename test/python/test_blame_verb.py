"""frontload blame: between which commits, or files, and builds a profile lost its names."""

import json
import subprocess

import pytest
from blame_history import SOURCE, History, events, of
from frontload.elf.functions import word_of
from frontload.profile.startup_profile import Name


@pytest.fixture
def history(tmp_path):
    (tmp_path / "repository").mkdir()
    return History(tmp_path / "repository")


@pytest.fixture
def blamed(cli, tmp_path, tools):
    """blamed(*arguments): what blame says, as JSON."""
    def blamed(*arguments, **options) -> dict:
        cli("blame", "--json", tmp_path / "blame.json", *arguments, **options)
        return json.loads((tmp_path / "blame.json").read_text())
    return blamed


def test_a_loss_is_between_two_commits_of_the_profile(history, blamed):
    """Commits that leave the profile as it is lie between them, and are counted."""
    history.commit("Record", app_startup=of("main", "parse", "print"))
    kept = history.commit("Record again", app_startup=of("main", "print", "parse"))
    history.commit("Work")
    lost = history.commit("Record once more", app_startup=of("main", "print"))
    found = blamed(history.folder / "app.startup")
    assert [each["commit"]["subject"] for each in found["versions"]] == [
        "Record", "Record again", "Record once more"]
    [name] = found["names"]
    assert (name["name"], events(name)) == ("parse", [("came", None, 0), ("lost", 1, 2)])
    assert name["lost"]["first"] == f"{kept} (2026-11-24, Record again)"
    assert name["lost"]["last"] == f"{lost} (2026-11-24, Record once more)"
    assert (name["lost"]["commits"], name["lost"]["builds"], name["lost"]["in_program"]) == (
        2, [], None)


def test_a_renamed_profile_is_followed(history, blamed):
    """Its history goes on under the name that it had before."""
    names = [f"f{n}" for n in range(30)]
    history.commit("Record", old_startup=of(*names, "parse"))
    history.git("mv", "old.startup", "new.startup")
    history.commit("Rename")
    history.commit("Record again", new_startup=of(*names))
    found = blamed(history.folder / "new.startup")
    assert [each["path"] for each in found["versions"]] == ["old.startup", "new.startup"]
    assert [name["name"] for name in found["names"]] == ["parse"]


def test_what_is_not_committed_is_the_newest_version(history, blamed):
    """So a new profile can be looked into before it is checked in."""
    history.commit("Record", app_startup=of("main", "parse"))
    path = history.folder / "app.startup"
    path.write_bytes(of("main"))
    found = blamed(path)
    assert found["versions"][1] == {"version": f"{path} (not committed)", "path": "app.startup",
                                    "names": 1, "commit": None}
    assert found["names"][0]["lost"]["commits"] == 0


def test_a_name_that_came_back_is_not_lost(history, blamed):
    """Without --name, only what is missing from the newest version counts."""
    for number, names in enumerate((("main", "parse"), ("main",), ("main", "parse"))):
        history.commit(f"{number}", app_startup=of(*names))
    assert blamed(history.folder / "app.startup")["names"] == []
    [name] = blamed(history.folder / "app.startup", "--name", "parse")["names"]
    assert events(name) == [("came", None, 0), ("lost", 0, 1), ("came back", 1, 2)]
    assert name["lost"] is None


def test_names_that_links_find_are_followed(history, blamed):
    """A clone is the same name, by the rules of links, and the whole life has both."""
    for number, name in enumerate(("parse", "parse.isra.0", "print")):
        history.commit(f"{number}", app_startup=of("main", name))
    for asked in ("parse", "parse.isra.0"):
        [name] = blamed(history.folder / "app.startup", "--name", asked)["names"]
        assert events(name) == [("came", None, 0), ("renamed", 0, 1), ("lost", 1, 2)]
        assert (name["events"][1]["name"], name["events"][1]["how"]) == ("parse.isra.0", "clone")


def test_the_commits_that_change_the_sources_are_suspects(history, blamed):
    """Of the commits between, those that change how often a file says the name; not the profile."""
    history.commit("Record", app_startup=of("main", "_ZN3app5parseEi"), app_c="int app::parse();")
    history.commit("Work", other_c="int other();")
    guilty = history.commit("Drop the parser", app_c="")
    history.commit("Record again", app_startup=of("main"))
    [name] = blamed(history.folder / "app.startup", "--name", "app::parse")["names"]
    assert [each["shown"] for each in name["lost"]["suspects"]] == [
        f"{guilty} (2026-11-24, Drop the parser)"]
    assert blamed(history.folder / "app.startup")["names"][0]["lost"]["suspects"] == []


@pytest.mark.parametrize(("shown", "word"), [
    ("parse", "parse"), ("parse.isra.0", "parse"), ("app::parse(int, std::vector<int>)", "parse"),
    ("void app::parse<int>(std::map<a, b> const&)", "parse"), ("app::list<a<b>>::add()", "add"),
    ("abc::main::h0123456789abcdef", "main"), ("app::list::~list()", "~list"),
    ("parse(int) [clone .cold]", "parse")])
def test_what_a_source_calls_a_function(shown, word):
    """Its last name, which is what commits are searched for."""
    assert word_of(shown) == word


def test_a_build_is_given_under_one_name(history, cli, tools, built):
    """Two names of one commit would be two builds of it."""
    history.commit("Record", app_startup=of("main"))
    file = built("a.o")
    result = cli("blame", history.folder / "app.startup", f"--build=HEAD={file}",
                 f"--build=main={file}", code=2)
    assert "given twice, under another name" in result.err


@pytest.fixture
def built(compile):
    """built(file, *flags, parse="parse"): an object, whose function is called so."""
    def built(file, *flags, parse="parse", source=SOURCE):
        return compile(source, file, "-ffunction-sections", f"-DPARSE={parse}", *flags)
    return built


def test_builds_make_the_limits_narrower(history, blamed, built):
    """The last commit whose build has a name, and the first whose build lacks it."""
    history.commit("Record", app_startup=of("main", "parse"))
    commits = [history.commit(f"Work {number}") for number in range(4)]
    history.commit("Record again", app_startup=of("main"))
    history.git("tag", "there", commits[1])
    old, new = built("old.o"), built("new.o", parse="scan", source=SOURCE.replace("77", "78"))
    [name] = blamed(history.folder / "app.startup", "--build", f"{commits[2]}={new}",
                    "--build", f"there={old}", "--build", f"main~5={old}")["names"]
    lost = name["lost"]
    assert [each["has"] for each in lost["builds"]] == [True, True, False]
    assert (lost["first"], lost["last"]) == (
        f"the build of {commits[1]} (2026-11-24, Work 1)",
        f"the build of {commits[2]} (2026-11-24, Work 2)")
    assert (lost["commits"], lost["in_program"], lost["now"]) == (1, False, None)


def test_a_name_may_be_in_the_program_though_no_start_touches_it(history, blamed, built):
    """Then the profile alone tells where it was lost."""
    history.commit("Record", app_startup=of("main", "parse"))
    history.commit("Record again", app_startup=of("main"))
    [name] = blamed(history.folder / "app.startup", "--build", f"main={built('a.o')}")["names"]
    assert name["lost"]["in_program"] and name["lost"]["commits"] == 1


def test_an_older_build_does_not_tell_what_the_newest_program_has(history, blamed, cli, built):
    """It only tells that the name was lost later than that."""
    history.commit("Record", app_startup=of("main", "parse"))
    between = history.commit("Work")
    history.commit("Work on")
    history.commit("Record again", app_startup=of("main"))
    arguments = [history.folder / "app.startup", f"--build={between}={built('a.o')}"]
    lost = blamed(*arguments)["names"][0]["lost"]
    assert (lost["first"], lost["commits"], lost["in_program"]) == (
        f"the build of {between} (2026-11-24, Work)", 2, None)
    assert "no start touches it" not in cli("blame", *arguments).out
    assert "no start touches it" in cli("blame", *arguments, f"--build=HEAD={built('a.o')}").out


def test_a_build_that_lacks_a_name_is_a_limit_alone(history, blamed, built):
    """No other build has to have it: the older version of the profile does."""
    history.commit("Record", app_startup=of("main", "parse"))
    between = history.commit("Work")
    history.commit("Work on")
    last = history.commit("Record again", app_startup=of("main"))
    lacks = [f"--build={commit}={built('a.o', parse='scan')}" for commit in (between, last)]
    [name] = blamed(history.folder / "app.startup", *lacks)["names"]
    assert name["lost"]["last"] == f"the build of {between} (2026-11-24, Work)"
    assert (name["lost"]["commits"], name["lost"]["in_program"]) == (1, False)


def test_what_the_build_of_the_first_version_lacks_says_nothing(history, blamed, built):
    """A start of that version touched the name, so it was in what is no part of the builds. Once a
    build has it, builds tell again."""
    first = history.commit("Record", app_startup=of("main", "parse"))
    between = [history.commit(f"Work {number}") for number in range(3)]
    last = history.commit("Record again", app_startup=of("main"))
    old, new = built("old.o"), built("new.o", parse="scan")
    path = history.folder / "app.startup"
    lacks = [f"--build={commit}={new}" for commit in (first, between[0], between[2])]
    lost = blamed(path, *lacks)["names"][0]["lost"]
    assert (lost["first"], lost["last"], lost["commits"]) == (
        f"{first} (2026-11-24, Record)", f"{last} (2026-11-24, Record again)", 4)
    assert lost["in_program"] is None
    lost = blamed(path, *lacks, f"--build={between[1]}={old}")["names"][0]["lost"]
    assert (lost["first"], lost["last"], lost["commits"]) == (
        f"the build of {between[1]} (2026-11-24, Work 1)",
        f"the build of {between[2]} (2026-11-24, Work 2)", 1)


@pytest.mark.parametrize("revision", ["", "HEAD~1"])
def test_many_names_are_asked_for_at_once(history, cli, built, tools, monkeypatch, revision):
    """However many are lost, as many programs are run."""
    processes, started = [], subprocess.run

    def run(command, *arguments, **options):
        processes.append(command)
        return started(command, *arguments, **options)

    options = [f"--build={revision}={built('a.o')}"] if revision else []
    numbers = []
    for number in (2, 30):
        history.commit("Record", app_startup=of("main", "parse", *(
            f"f{number}" for number in range(number))))
        history.commit("Work")
        history.commit("Record again", app_startup=of("main"))
        with monkeypatch.context() as patched:
            patched.setattr(subprocess, "run", run)
            cli("blame", history.folder / "app.startup", *options)
        numbers.append(len(processes))
        processes.clear()
        history.git("update-ref", "-d", "HEAD")
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize(("path", "what"), [
    ("new.o", "no commit has a file of this name"), ("none.o", "no commit has a file of this name"),
    ("lib", "no commit has a file of this name"), ("gone.o", None), ("lib/a.o", None),
    ("../a.o", "lies outside of the repository")])
def test_objects_must_be_checked_in(history, cli, built, tools, path, what):
    """Otherwise git has no versions of them; what was checked in once has."""
    data = built("a.o").read_bytes()
    history.commit("Record", app_startup=of("main", "parse"), gone_o=data, **{"lib/a_o": data})
    (history.folder / "gone.o").unlink()
    history.commit("Record again", app_startup=of("main"))
    (history.folder / "new.o").write_bytes(data)
    (history.folder.parent / "a.o").write_bytes(data)
    result = cli("blame", history.folder / "app.startup", "--objects", history.folder / path,
                 code=2 if what else 0)
    assert what is None or (f"{path}: {what}" in result.err and "note: give " in result.err)


@pytest.mark.parametrize("flags", [[], ["-fPIC"], ["--target=aarch64-linux-gnu"],
                                   ["--target=i386-linux-gnu"], ["--target=riscv64-linux-gnu"]])
def test_a_function_is_found_by_its_code(tmp_path, blamed, built, flags):
    """What calls it, and where its data are, may be elsewhere: its instructions tell."""
    old, new = tmp_path / "old.startup", tmp_path / "new.startup"
    old.write_bytes(of("main", "parse", "print"))
    new.write_bytes(of("main", "scan", "print"))
    builds = [f"--build={old}={built('old.o', *flags)}",
              f"--build={new}={built('new.o', '-DWITH_OTHER', *flags, parse='scan')}"]
    assert blamed(old, new, *builds)["names"] == []
    [name] = blamed(old, new, *builds, "--name", "scan")["names"]
    assert events(name) == [("came", None, 0), ("renamed", 0, 1)]
    assert (name["events"][1]["name"], name["events"][1]["how"]) == ("scan", "code")


def test_a_function_may_have_got_a_name_that_no_start_touches(tmp_path, blamed, built, cli):
    """It is lost, and its new name is told as the guess that it is."""
    old, new = tmp_path / "old.startup", tmp_path / "new.startup"
    old.write_bytes(of("main", "parse"))
    new.write_bytes(of("main"))
    builds = [f"--build={old}={built('old.o')}", f"--build={new}={built('new.o', parse='scan')}"]
    [name] = blamed(old, new, *builds)["names"]
    assert name["lost"]["now"]["name"] == "scan" and not name["lost"]["in_program"]
    assert "parse; its code is now that of scan (" in cli("blame", old, new, *builds).out


def test_other_code_is_no_guess(tmp_path, blamed, built):
    """A number in the instructions is not an address."""
    old, new = tmp_path / "old.startup", tmp_path / "new.startup"
    old.write_bytes(of("main", "parse"))
    new.write_bytes(of("main", "scan"))
    builds = built("old.o"), built("new.o", parse="scan", source=SOURCE.replace("77", "78"))
    [name] = blamed(old, new, f"--build={old}={builds[0]}", f"--build={new}={builds[1]}")["names"]
    assert (name["name"], name["lost"]["now"]) == ("parse", None)


def test_of_two_functions_with_the_same_code_none_is_guessed(tmp_path, blamed, built):
    """It could be either."""
    old, new = tmp_path / "old.startup", tmp_path / "new.startup"
    old.write_bytes(of("main", "parse"))
    new.write_bytes(of("main", "scan"))
    line = next(line for line in SOURCE.splitlines() if "PARSE(int" in line)
    twice = SOURCE.replace(line, line + "\n" + line.replace("PARSE", "again"))
    built_twice = built("new.o", parse="scan", source=twice)
    [name] = blamed(old, new, f"--build={old}={built('old.o')}",
                    f"--build={new}={built_twice}")["names"]
    assert name["lost"]["now"] is None


def test_a_linked_program_with_its_relocations_has_code(tmp_path, blamed, built, llvm, run, cli):
    """Without --emit-relocs there is nothing to mask, and blame says so."""
    old, new = tmp_path / "old.startup", tmp_path / "new.startup"
    old.write_bytes(of("main", "parse"))
    new.write_bytes(of("main", "scan"))
    for name, parse, before in (("old", "parse", 0), ("new", "scan", 4096)):
        built(f"{name}.o", parse=parse)
        (tmp_path / "start.s").write_text(
            f".globl table\n.data\n.zero {before}\ntable: .zero 64\n")
        for kind, flags in (("linked", ["--emit-relocs"]), ("bare", [])):
            run(llvm / "clang", "-nostdlib", f"--ld-path={llvm / 'ld.lld'}", "-Wl,-e,main",
                *(f"-Wl,{flag}" for flag in flags), "start.s", f"{name}.o", "-o", f"{kind}-{name}",
                f"-Wl,--section-start=.text={'0x300000' if name == 'old' else '0x456000'}",
                "-static", cwd=tmp_path)
    assert blamed(old, new, f"--build={old}={tmp_path / 'linked-old'}",
                  f"--build={new}={tmp_path / 'linked-new'}")["names"] == []
    result = cli("blame", old, new, f"--build={old}={tmp_path / 'bare-old'}",
                 f"--build={new}={tmp_path / 'bare-new'}")
    assert "tells nothing of code" in result.err
    assert "lost, and not seen since: 1 name" in result.out


def test_folders_and_archives_are_builds(tmp_path, blamed, built, llvm, run):
    """A folder has all objects and archives below it."""
    old, new = tmp_path / "old.startup", tmp_path / "new.startup"
    old.write_bytes(of("main", "parse"))
    new.write_bytes(of("main", "scan"))
    (tmp_path / "build" / "sub").mkdir(parents=True)
    built("build/sub/a.o")
    built("new.o", parse="scan")
    run(llvm / "llvm-ar", "rc", tmp_path / "new.a", tmp_path / "new.o")
    assert blamed(old, new, f"--build={old}={tmp_path / 'build'}",
                  f"--build={new}={tmp_path / 'new.a'}")["names"] == []


def test_objects_that_are_checked_in_are_builds(history, blamed, built):
    """Each commit that changes them is one, and so is that of the profile itself."""
    old, new = (built(f"{name}.o", parse=name).read_bytes() for name in ("parse", "scan"))
    history.commit("Record", app_startup=of("main", "parse"), app_o=old)
    history.commit("Work")
    renamed = history.commit("Rename", app_o=new)
    history.commit("Record again", app_startup=of("main"))
    [name] = blamed(history.folder / "app.startup", "--objects", history.folder / "app.o")["names"]
    assert name["lost"]["last"] == f"the build of {renamed} (2026-11-24, Rename)"
    assert (name["lost"]["commits"], name["lost"]["now"]["name"]) == (2, "scan")
    assert [each["has"] for each in name["lost"]["builds"]] == [True, False, False]


def test_objects_that_stay_are_of_the_newest_program_too(history, blamed, built):
    """No commit has changed them, so the newest build has what the oldest has."""
    history.commit("Record", app_startup=of("main", "parse"), app_o=built("a.o").read_bytes())
    history.commit("Record again", app_startup=of("main"))
    [name] = blamed(history.folder / "app.startup", "--objects", history.folder / "app.o")["names"]
    assert name["lost"]["in_program"] and name["lost"]["commits"] == 1


def test_versions_without_data_say_nothing_of_data(tmp_path, blamed):
    """A datum was lost between the versions that know."""
    table = Name("data", "rodata", b"table")
    paths = []
    for number, (names, data) in enumerate(((["main", table], True), (["main"], False),
                                            (["main"], True))):
        paths.append(tmp_path / f"{number}.startup")
        paths[-1].write_bytes(of(*names, data=data))
    [name] = blamed(*paths)["names"]
    assert events(name) == [("came", None, 0), ("lost", 0, 2)]
    assert blamed(*paths[:2])["names"] == []


def test_what_is_shown(history, cli, tools):
    """Names stand below the commits between which they were lost; more than ten on demand."""
    first = history.commit("Record", app_startup=of("main", *(f"f{n:02}" for n in range(12))))
    last = history.commit("Record again", app_startup=of("main"))
    out = cli("blame", history.folder / "app.startup").out.splitlines()
    assert out[:4] == [
        f"2 versions of the profile, from {first} (2026-11-24, Record) to {last} (2026-11-24, "
        "Record again)",
        "lost, and not seen since: 12 names",
        f"between {first} (2026-11-24, Record) and {last} (2026-11-24, Record again): 1 commit: "
        "12 names",
        "  f00"]
    assert out[-1] == "  and 2 other names (--all shows all)"
    assert cli("blame", "--all", history.folder / "app.startup").out.splitlines()[-1] == "  f11"
    assert cli("blame", history.folder / "app.startup", "--name", "f03").out.splitlines()[1:] == [
        "f03", f"  came: {first} (2026-11-24, Record)",
        f"  lost: between {first} (2026-11-24, Record) and {last} (2026-11-24, Record again): "
        "1 commit"]
    assert cli("blame", history.folder / "app.startup", "--name", "main").out.splitlines()[-1] == \
        "  is in the newest version"


def test_a_version_that_cannot_be_read_is_left_out(history, cli, tools):
    """Such as one of an old format, or with marks of a conflict."""
    history.commit("Old", app_startup="frontload-startup-profile 1\n")
    history.commit("Record", app_startup=of("main", "parse"))
    bad = history.commit("Conflict", app_startup=of("main") + b"<<<<<<< HEAD\n")
    history.commit("Record again", app_startup=of("main"))
    result = cli("blame", history.folder / "app.startup")
    assert result.out.startswith("2 versions") and "1 name" in result.out
    assert f"{bad}:app.startup:" in result.err and "is left out" in result.err


@pytest.mark.parametrize(("arguments", "code", "what"), [
    (["app.startup"], 65, "not a git repository"),
    (["a", "b", "--objects", "c"], 2, "git is not asked"),
    (["a", "b", "--build", "c=d"], 2, "c: is none of the profiles"),
    (["a", "b", "--build", "a=a"], 65, "a: "),
    (["a", "b", "--build", "a=none"], 2, "none: No such file"),
    (["a", "b", "--build", "a=folder"], 2, "folder: has no objects and no archives"),
    (["a", "b", "--build", "a"], 2, "'a' is not VERSION=PATH"),
    (["a", "b", "--name", "parse"], 1, "no version of the profile has this name"),
    (["a", "none"], 2, "none: No such file"),
])
def test_what_cannot_be_done_is_refused(tmp_path, cli, tools, monkeypatch, arguments, code, what):
    """With what is wrong and what to do."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "folder").mkdir()
    for name, names in (("a", ("main", "f")), ("b", ("main",)), ("app.startup", ("main",))):
        (tmp_path / name).write_bytes(of(*names))
    assert what in cli("blame", *arguments, code=code).err


def test_a_revision_that_git_does_not_know(history, cli, tools):
    """Nor one that looks like an option."""
    history.commit("Record", app_startup=of("main"))
    for revision in ("v9", "--all"):
        result = cli("blame", history.folder / "app.startup", f"--build={revision}=a.o", code=2)
        assert "git knows no commit of this name" in result.err


def test_a_profile_that_was_never_checked_in(history, cli, tools):
    """git is there, and has nothing of it; one version has no losses."""
    history.commit("Work", other="x")
    path = history.folder / "app.startup"
    assert "git has no version" in cli("blame", path, code=2).err
    path.write_bytes(of("main"))
    assert "1 version of the profile" in cli("blame", path).out


def test_damaged_code_is_refused(tmp_path, blamed, built, cli, tools):
    """Whatever a bit of an object is, the answer is an answer or an error."""
    old, new = tmp_path / "old.startup", tmp_path / "new.startup"
    old.write_bytes(of("main", "parse"))
    new.write_bytes(of("main", "scan"))
    whole = built("old.o").read_bytes()
    built("new.o", parse="scan")
    for place in range(0, len(whole), 97):
        (tmp_path / "bad.o").write_bytes(whole[:place] + bytes([whole[place] ^ 0xff])
                                         + whole[place + 1:])
        assert cli("blame", old, new, f"--build={old}={tmp_path / 'bad.o'}",
                   f"--build={new}={tmp_path / 'new.o'}", code=None).code in (0, 65)
