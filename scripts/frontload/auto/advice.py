"""What to add to a build so that one of its programs gets a front, for each build system.

Each step names the place of its lines: a file, or a shell. `frontload auto` prints the same text at
its end. docs/how-to has the details.
"""

import os
import platform
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from frontload.auto.asked_make import LIBTOOL_FOLDER
from frontload.auto.build_folder import NAMES, Folder, Target
from frontload.base import errors, tools
from frontload.base.errors import EXIT_VERDICT, Failure
from frontload.base.files import write_if_changed

PROFILE_FOLDER = "startup"
_SECTIONS = "-ffunction-sections -fdata-sections"
_RECORDED = "FRONTLOAD=record"  # read by frontload-cc
_BUILD_FOLDER = "build-front"  # new: other compilers or flags would recompile a used folder


@dataclass(frozen=True)
class Step:
    """`where`: what to do with the lines; `file`: the file that gets them, if any."""

    where: str
    lines: tuple[str, ...]
    file: str = ""


@dataclass(frozen=True)
class Training:
    """How the program is started for a recording. `command`: as typed in a shell, with {} for the
    program; `options`: of frontload record, for the end of startup; `data`: also record data;
    `prefetch`: the program asks for its front; `libraries`: files of the same build, recorded as
    well."""

    command: str = "{} --version"
    options: tuple[str, ...] = ()
    data: bool = False
    prefetch: bool = False
    libraries: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()  # shell commands in which each process of the program is a run

    def words(self) -> list[str]:
        try:
            return shlex.split(self.command)
        except ValueError as problem:
            raise Failure(f"{self.command}: {problem}",
                          note="write the arguments as in a shell, as one argument") from problem

    @property
    def arguments(self) -> str:
        """The program's arguments, for tools that start it in their own way."""
        return self.command.partition("{}")[2].strip()

    def recorded(self, program: str, below: str = "") -> tuple[str, ...]:
        """The commands that record `program`, which is already quoted, `below` another command."""
        command = self.command.replace("{}", program)
        # A command before {} may change the user, who then writes traces of data himself.
        open_to_all = self.data and os.geteuid() == 0 and not self.command.startswith("{}")
        modules = [f"--module={os.path.basename(each)}" for each in self.libraries]
        return (*(["install -d -m 1777 traces"] if open_to_all else []), *(
            f"{below}{shlex.join(['frontload', 'record', *data, '-o', 'traces', *modules])} "
            f"{shlex.join([*self.options, '--'])} {command}".rstrip()
            for data in ([], ["--data"])[:1 + self.data]), *(
            shlex.join(["frontload", "record", "-o", "traces", *modules, "--program",
                        os.path.basename(*shlex.split(program)), "--", "sh", "-c", suite])
            for suite in self.suites))


@dataclass(frozen=True)
class Advice:
    profile: str  # where the startup profile belongs
    how_to: str  # the page that has more
    steps: tuple[Step, ...]

    def as_json(self) -> dict[str, object]:
        return {"profile": self.profile, "how_to": self.how_to,
                "steps": [{"where": step.where, "file": step.file or None,
                           "lines": list(step.lines)} for step in self.steps]}


def prefix() -> str:
    """Where Frontload is installed, or was built."""
    found = tools.find_tool("ld.frontload")
    return str(found.resolve().parent.parent) if found else "/path/to/frontload"


def cmake_option() -> str:
    """The CMake option that finds our package; empty where CMake finds it by itself."""
    root = prefix()
    return "" if root in ("/usr", "/usr/local") else f" -DFrontload_ROOT={shlex.quote(root)}"


def profile_name(output: str) -> str:
    """`app.startup`, `libfoo.so.startup`: without a version."""
    name = os.path.basename(output)
    return (name.partition(".so")[0] + ".so" if ".so" in name else name) + ".startup"


def target_of(folder: Folder, output: str) -> Target | None:
    """The target that makes a file, or that has this name."""
    real = os.path.realpath(output) if output else ""
    for target in folder.targets:
        if target.output and os.path.realpath(target.output) == real:
            return target
    # CMake's property VERSION adds a version to the file name.
    names = os.path.basename(output), re.sub(r"-[\d.]+$", "", os.path.basename(output))
    return next((target for name in names for target in folder.targets
                 if name and target.name == name), None)


def advise(folder: Folder, output: str, training: Training) -> Advice:
    """What to add for the program or library `output` of this folder."""
    return _ADVISERS.get(folder.system, _wrapper)(folder, output, training)


def _where(folder: Folder) -> str:
    return folder.source or folder.path


def _export() -> str:
    return f"export PATH={shlex.quote(os.path.join(prefix(), 'bin'))}:$PATH"


def _cmake_lines(target: str, training: Training) -> tuple[str, ...]:
    command = [target if word == "{}" else
               _cmake_word(word.replace("{}", f"$<TARGET_FILE:{target}>"))
               for word in training.words()]
    ready = ["READY", *map(_cmake_word, training.options)] if training.options else []
    more = [*(["DATA"] if training.data else []), *(["PREFETCH"] if training.prefetch else [])]
    return ("find_package(Frontload CONFIG)",
            "if(Frontload_FOUND)",
            f"  frontload_target({' '.join([target, *more, *ready, 'TRAIN COMMAND', *command])})",
            "endif()")


def _cmake_word(word: str) -> str:
    """Quoted for CMake's code, where a semicolon would end an argument."""
    if re.fullmatch(r"[\w./:=,+@%$<>{}-]+", word):
        return word
    return '"' + re.sub(r'(["\\;])', r"\\\1", word) + '"'


def append(folder: Folder, output: str, step: Step) -> bool:
    """Appends a step's lines to its CMakeLists.txt; false if they are there already. This is safe
    only where the target is named literally and outside any block: at the beginning of a line."""
    target = target_of(folder, output)
    name = re.escape(target.name if target else os.path.basename(output))
    text = Path(step.file).read_bytes().decode("utf-8", "surrogateescape")
    if re.search(rf"^\s*frontload_target\s*\(\s*{name}[\s)]", text, re.MULTILINE):
        return False
    if not re.search(rf"^add_(?:executable|library)\s*\(\s*{name}[\s)]", text,
                     re.MULTILINE | re.IGNORECASE):
        raise Failure(f"{step.file}: does not name the target at the beginning of a line",
                      code=EXIT_VERDICT, note="add the lines yourself")
    end = "\r\n" if "\r\n" in text else "\n"
    added = end.join(["" if text.endswith("\n") else end, *step.lines, ""])
    write_if_changed(step.file, (text + added).encode("utf-8", "surrogateescape"))
    return True


def _cmake(folder: Folder, output: str, training: Training) -> Advice:
    target = target_of(folder, output)
    name = target.name if target else os.path.basename(output)
    lists = target.defined_in if target and target.defined_in else os.path.join(
        _where(folder), "CMakeLists.txt")
    behind = f", after line {target.line}" if target and target.line else ""
    source, build = shlex.quote(_where(folder)), shlex.quote(
        folder.build or os.path.join(_where(folder), _BUILD_FOLDER))
    profile = os.path.join(os.path.dirname(lists), f"{name}.startup")
    return Advice(profile, "docs/how-to/cmake.md", (
        Step(f"add to {lists}{behind}, where the target is known", _cmake_lines(name, training),
             lists),
        Step("record, once and whenever the profile is stale; then check the profile in",
             (f"cmake -S {source} -B {build} -DFRONTLOAD=record{cmake_option()}",
              f"cmake --build {build} --target frontload-train")),
        Step("build with the front", (f"cmake -S {source} -B {build} -DFRONTLOAD=use",
                                      f"cmake --build {build}"))))


def _profile_path(folder: Folder, output: str) -> str:
    return os.path.join(_where(folder), PROFILE_FOLDER, profile_name(output))


def _profile(output: str, path: str, link_map: str | None = None) -> str:
    return (f"frontload profile traces --program {shlex.quote(os.path.basename(output))} "
            + (f"--map {shlex.quote(link_map)} " if link_map else "") + f"-o {shlex.quote(path)}")


def _with_profile(folder: Folder, output: str, training: Training, how_to: str, built: str,
                  first: tuple[str, ...], again: tuple[str, ...]) -> Advice:
    """Steps of builds in which frontload-cc stands before the compiler. Its environment for
    recording does not change how it compiles: one set-up serves both builds, and only the link is
    repeated."""
    profiles = os.path.join(_where(folder), PROFILE_FOLDER)
    path = _profile_path(folder, output)
    # libtool's script, which sets what .libs/app needs, stands for the program.
    folder_of, name = os.path.split(built)
    by_libtool = os.path.basename(folder_of) == LIBTOOL_FOLDER
    script = os.path.join(os.path.dirname(folder_of), name) if by_libtool else built
    below = f"{shlex.quote(os.path.join(folder.build, 'libtool'))} --mode=execute " * by_libtool
    program = shlex.quote(script)
    return Advice(path, how_to, (
        Step("once, in each shell", (_export(), f"mkdir -p {shlex.quote(profiles)}")),
        *_for_prefetch(training),
        Step("build for the recording", first),
        Step("record, with what your users do; then check the profile in",
             (*training.recorded(program, below),
              _profile(output, path, f"{built}.map" if training.data else None),
              *(_profile(each, _profile_path(folder, each)) for each in training.libraries))),
        Step("link again, with the front", (shlex.join(["rm", script, *training.libraries]),
                                            *again))))


def _for_prefetch(training: Training) -> list[Step]:
    """The library that a program needs to prefetch its front."""
    if not training.prefetch:
        return []
    library = "libfrontload-prefetch.so.1"
    return [Step(f"the program will need {library}, wherever it runs: install it there, or put it "
                 "beside the program and link with -Wl,-rpath,'$ORIGIN' (docs/prefetch.md). In "
                 "each shell, to try it",
                 (f"export LD_LIBRARY_PATH={shlex.quote(os.path.join(prefix(), 'lib'))}"
                  "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}",))]


def wrapper(compiler: str, profiles: str, *options: str) -> str:
    """The words that replace a compiler's name."""
    return " ".join(["frontload-cc", f"--profile-dir={shlex.quote(profiles)}", *options, compiler])


def _compiler(folder: Folder, language: str, otherwise: str) -> str:
    path = next((each.path for each in folder.compilers if each.language == language), otherwise)
    words = path.split()
    # Leave out our wrapper if the build already uses it.
    return " ".join(word for word in words if os.path.basename(word) != "frontload-cc"
                    and not word.startswith("--")) or otherwise


def _settings(folder: Folder, training: Training) -> tuple[str, str]:
    options = ["--prefetch"] if training.prefetch else []
    profiles = os.path.join(_where(folder), PROFILE_FOLDER)

    def setting(variable: str, compiler: str) -> str:
        return f"{variable}={shlex.quote(wrapper(compiler, profiles, *options))}"
    return (setting("CC", _compiler(folder, "C", "cc")),
            setting("CXX", _compiler(folder, "C++", "c++")))


def _continued(*parts: str) -> str:
    return " \\\n  ".join(parts)


def _name_in(folder: Folder, output: str, new: str) -> str:
    """The program's path in a new build folder, at the same place as in the present one."""
    if folder.build and output.startswith(folder.build + os.sep):
        return os.path.join(new, os.path.relpath(output, folder.build))
    return os.path.join(new, os.path.basename(output))


def _meson(folder: Folder, output: str, training: Training) -> Advice:
    source = _where(folder)
    new = os.path.join(source, _BUILD_FOLDER)
    build = f"ninja -C {shlex.quote(new)}"
    setup = f"meson setup {shlex.quote(new)} {shlex.quote(source)}"
    return _with_profile(folder, output, training, "docs/how-to/meson.md",
                         _name_in(folder, output, new),
                         (_continued(*_settings(folder, training), setup),
                          f"{_RECORDED} {build}"), (build,))


def _autotools(folder: Folder, output: str, training: Training) -> Advice:
    source = _where(folder)
    # A tree that is configured in place cannot also be configured elsewhere.
    in_place = bool(folder.build) and os.path.realpath(folder.build) == os.path.realpath(source)
    new = source if in_place else os.path.join(source, _BUILD_FOLDER)
    configure = shlex.quote(os.path.join(source, "configure"))
    prepared = (f"cd {shlex.quote(new)}", "make distclean") if in_place else (
        f"mkdir -p {shlex.quote(new)} && cd {shlex.quote(new)}",)
    given = [folder.configured] if folder.configured else []
    return _with_profile(folder, output, training, "docs/how-to/autotools.md",
                         output if in_place else _name_in(folder, output, new),
                         (*prepared, _continued(configure, *given, *_settings(folder, training)),
                          f"{_RECORDED} make"),
                         ("make",))


def _make(folder: Folder, output: str, training: Training) -> Advice:
    make = f"make -C {shlex.quote(_where(folder))}"
    return _with_profile(folder, output, training, "docs/how-to/make.md", output,
                         _anew(folder, make, training),
                         (_continued(make, *_settings(folder, training)),))


def _anew(folder: Folder, make: str, training: Training) -> tuple[str, ...]:
    settings = _settings(folder, training)
    if folder.has_clean:
        return f"{make} clean", _continued(f"{_RECORDED} {make}", *settings)
    # -B also remakes the Makefile where a rule makes it.
    return (_continued(f"{_RECORDED} {make} -B", *settings),)


def _cargo(folder: Folder, output: str, training: Training) -> Advice:
    name, where = os.path.basename(output), _where(folder)
    path = _profile_path(folder, output)
    link_map = f" --map target/release/deps/{name}-*.map" if training.data else ""
    return Advice(path, "docs/how-to/cargo.md", (
        Step("once, in each shell",
             (_export(), f"cd {shlex.quote(where)} && mkdir -p {PROFILE_FOLDER}")),
        Step("add to .cargo/config.toml",
             (f"[target.{platform.machine()}-unknown-linux-gnu]", 'linker = "frontload-cc"',
              "[env]", 'FRONTLOAD_PROFILE_DIR = { value = "startup", relative = true }',
              *(['FRONTLOAD_PREFETCH = "1"'] if training.prefetch else [])),
             os.path.join(where, ".cargo/config.toml")),
        Step("add to the function main of build.rs",
             ('println!("cargo:rerun-if-changed=startup");',
              'println!("cargo:rerun-if-env-changed=FRONTLOAD");'),
             os.path.join(where, "build.rs")),
        Step("record, with what your users do; then check the profile in",
             (f"{_RECORDED} cargo build --release", *training.recorded(f"target/release/{name}"),
              _profile(output, path) + link_map)),
        Step("build with the front", ("cargo build --release",))))


def _go(folder: Folder, output: str, training: Training) -> Advice:
    path = _profile_path(folder, output)
    name = os.path.basename(output)

    def build(*more: str) -> str:
        external = " ".join((f"-B{prefix()}/lib/frontload/gcc", "-fuse-ld=lld", *more))
        flags = f"-linkmode=external '-extldflags={external}'"
        return f"go build -o {name} -ldflags={shlex.quote(flags)}"
    return Advice(path, "docs/how-to/go.md", (
        Step("note that Go's own functions cannot be moved: a front only lets the program be read "
             "in a few large reads. Once, in each shell",
             (_export(), f"cd {shlex.quote(_where(folder))} && mkdir -p {PROFILE_FOLDER}",
              f"export CGO_CFLAGS='-O2 -g {_SECTIONS}'")),
        Step("build, and record; then check the profile in",
             (build(), *training.recorded(f"./{name}"),
              _profile(output, path))),
        Step("build with the front, and start the program with frontload-run",
             (build(f"-Wl,--startup-profile={path}"), f"frontload-run ./{name}"))))


def _bazel(folder: Folder, output: str, training: Training) -> Advice:
    name = os.path.basename(output)
    profile, runs = (f"{PROFILE_FOLDER}/{name}.{kind}" for kind in ("startup", "runs"))
    where = _where(folder)
    return Advice(_profile_path(folder, output), "docs/how-to/bazel.md", (
        Step("copy the folder frontload of examples/bazel into the workspace. Once, in each shell",
             (_export(), f"cd {shlex.quote(where)}")),
        Step("add to WORKSPACE (for MODULE.bazel see the page)",
             ('load("//frontload:repository.bzl", "frontload_repository")',
              'frontload_repository(name = "frontload")'), os.path.join(where, "WORKSPACE")),
        Step("make the cc_binary a frontload_cc_binary",
             ('load("//frontload:defs.bzl", "frontload_cc_binary")',
              "frontload_cc_binary(", f'    name = "{name}",', "    # ...",
              f'    profile = "{profile}",', f'    runs = "{runs}",', ")")),
        Step(f"write into {runs} the arguments of each start, one line each",
             (training.arguments or "--version",),
             os.path.join(where, runs)),
        Step("add to .bazelrc", ("build --compilation_mode=opt",
                                 "build:record --//frontload:mode=record",
                                 "build:use --//frontload:mode=use"),
             os.path.join(where, ".bazelrc")),
        Step("record; then check the profile in", (f"bazel run --config=record //:{name}_train",)),
        Step("build with the front", (f"bazel build --config=use //:{name}",))))


def _wrapper(folder: Folder, output: str, training: Training) -> Advice:
    first = (f"export {_RECORDED}",
             "# run the build with these in place of the compilers:", *_settings(folder, training))
    return _with_profile(folder, output, training, "docs/how-to/wrapper.md", output, first,
                         ("unset FRONTLOAD", "# run the build again"))


def build_with_sections(folder: Folder, output: str, training: Training) -> tuple[str, ...]:
    """Commands that build the program in a copy, with a section for each function and datum, and
    try that; none for builds that we cannot repeat."""
    source, copy = _where(folder), f"{_where(folder)}.sections"
    settings = {each.where.split()[0]: each.text for each in folder.flags}
    cmake = [f"-D{name}=" + " ".join(filter(None, (settings.get(name), _SECTIONS)))
             for name in ("CMAKE_C_FLAGS", "CMAKE_CXX_FLAGS")]
    given = {"cmake": shlex.join(["cmake", "-G", folder.generator, "-S", source, "-B", copy,
                                  f"-DCMAKE_BUILD_TYPE={folder.build_type}", *cmake])
                      + f" && cmake --build {shlex.quote(copy)}",
             "meson": f"meson setup {shlex.quote(copy)} {shlex.quote(source)} "
                      f"-Dc_args='{_SECTIONS}' -Dcpp_args='{_SECTIONS}' && "
                      f"ninja -C {shlex.quote(copy)}"}.get(folder.system)
    built = folder.build or source
    if folder.system in ("make", "autotools"):
        # The copied programs are built already, by the same Makefile.
        cc, cxx = _settings_of_sections(folder)
        make = f"make -C {shlex.quote(copy)}"
        again = (f"{make} clean && {make}" if folder.has_clean or folder.system == "autotools"
                 else f"{make} -B")
        given = f"cp -a {shlex.quote(built)} {shlex.quote(copy)} && {again} {cc} {cxx}"
    if given is None:
        return ()
    program = os.path.join(copy, os.path.relpath(output, built)).replace(f"/{LIBTOOL_FOLDER}/", "/")
    command = training.command.replace("{}", shlex.quote(program))
    return given, f"frontload auto -- {command}"


def _settings_of_sections(folder: Folder) -> tuple[str, str]:
    """Autotools' flags are the user's to set; a Makefile may need its own, so that its compilers
    add ours."""
    if folder.system == "autotools":
        flags = {each.where.split()[0]: each.text for each in folder.flags}
        c, cxx = (shlex.quote(f"{name}={flags.get(name, '-g -O2')} {_SECTIONS}")
                  for name in ("CFLAGS", "CXXFLAGS"))
        return c, cxx
    c, cxx = (shlex.quote(f"{variable}={_compiler(folder, language, usual)} {_SECTIONS}")
              for variable, language, usual in (("CC", "C", "cc"), ("CXX", "C++", "c++")))
    return c, cxx


_ADVISERS = {"cmake": _cmake, "meson": _meson, "autotools": _autotools, "make": _make,
             "cargo": _cargo, "go": _go, "bazel": _bazel}


def show(folder: Folder, advice: Advice, write: Callable[[str], None]) -> None:
    """Writes the steps, as they are typed, line by line."""
    write(f"what to add ({NAMES[folder.system]}; {advice.how_to} has more):")
    for number, step in enumerate(advice.steps, 1):
        write(f"{number}. {step.where}{':' if step.lines else ''}")
        for line in step.lines:
            for part in line.split("\n"):
                text = f"     {part}"
                write(text if step.file else errors.Command(text))
    write(f"the startup profile is {advice.profile}")
