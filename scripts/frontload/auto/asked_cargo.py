"""Asks cargo for the link of a program that cargo built.

rustc removes the objects after each link, so the last crate is compiled once more, with
`-C save-temps`; cargo passes that on to this crate only. All that is in a target folder of its own,
whose crates are hard links to those that the build left: cargo finds them up to date, nothing is
fetched, and the build's own files and fingerprints stay as they are.
"""

import json
import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from frontload.auto import link_command
from frontload.auto.link_command import LinkCommand
from frontload.base.errors import Diagnostics, Failure
from frontload.base.processes import run
from frontload.base.scratch import scratch_folder

_MAX_FOLDERS = 8  # above the program
_LINKED = "deps", "build"  # of a profile's folder; rustc replaces these files, except *.d
_COPIED = ".fingerprint"  # cargo writes its files in place


def links(program: str, stack: ExitStack, diagnostics: Diagnostics) -> list[LinkCommand]:
    """The link of a program of cargo; none if cargo did not build it. The objects stay until
    `stack` is left."""
    profile = Path(program).parent
    cargo = shutil.which("cargo")
    sources = next((each for each in list(profile.parents)[:_MAX_FOLDERS]
                    if (each / "Cargo.toml").is_file()), None)
    if cargo is None or sources is None or not (profile / _COPIED).is_dir():
        return []
    diagnostics.note(f"compiling the last crate of {program} once more, to keep its objects")
    target = stack.enter_context(scratch_folder(".frontload-auto.", profile))
    temporary = target / "tmp"
    temporary.mkdir()
    triple = [] if (profile.parent / ".rustc_info.json").is_file() else [profile.parent.name]
    inside = target.joinpath(*triple, profile.name)
    for name in _LINKED:
        if (profile / name).is_dir():
            shutil.copytree(profile / name, inside / name, copy_function=_linked_or_copied,
                            symlinks=True)
    shutil.copytree(profile / _COPIED, inside / _COPIED, symlinks=True)
    name = os.path.basename(program)
    result = run([cargo, "rustc", "--offline", f"--manifest-path={_manifest(cargo, sources, name)}",
                  f"--bin={name}", f"--target-dir={target}",
                  *(f"--target={each}" for each in triple),
                  f"--profile={'dev' if profile.name == 'debug' else profile.name}",
                  *_features(profile, name),
                  "--", "-Csave-temps", "--print=link-args"], directory=str(sources),
                 environment=os.environ | {"TMPDIR": str(temporary)})
    if result.status:
        diagnostics.quote(result.stderr)
        raise Failure(f"{program}: cargo could not compile its last crate once more",
                      note="build it, then try again")
    return [LinkCommand(link.directory, link.arguments, f"cargo rustc in {sources}",
                        {}, program)
            for link in link_command.in_text(result.stdout, str(sources), "")]


def _linked_or_copied(source: str, target: str) -> None:
    # rustc 1.65 writes its lists of dependencies in place.
    (shutil.copy2 if source.endswith(".d") else os.link)(source, target)


def _manifest(cargo: str, sources: Path, name: str) -> str:
    """The manifest of the package that has this program."""
    result = run([cargo, "metadata", "--offline", "--no-deps", "--format-version=1"],
                 directory=str(sources))
    packages: Sequence[dict] = () if result.status else json.loads(result.stdout)["packages"]
    return next((package["manifest_path"] for package in packages
                 for target in package["targets"]
                 if target["name"] == name and "bin" in target["kind"]),
                str(sources / "Cargo.toml"))


def _features(profile: Path, name: str) -> list[str]:
    """The features that the last build of the program had, as options."""
    found = sorted(profile.glob(f"{_COPIED}/*/bin-{name}.json"), key=os.path.getmtime)
    if not found:
        return []
    try:
        features = json.loads(json.loads(found[-1].read_bytes())["features"])
    except (ValueError, LookupError, TypeError):
        return []  # another version of cargo
    return ["--no-default-features", f"--features={','.join(features)}"]
