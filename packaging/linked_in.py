"""Lists what static programs have linked in, for packages.

    linked_in.py OUTPUT VERSION COMPILER LLVM SYSROOT

For each component that has programs, OUTPUT gets a bill of materials (SPDX 2.3 in JSON) and the
licenses, as Debian's packages of the archives state them. SYSROOT is empty, or the folder where
another processor's packages are unpacked (scripts/package). A package that is not there is an
error. The same packages give the same bytes; the time comes from SOURCE_DATE_EPOCH.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

FRONTLOAD = "Apache-2.0 WITH LLVM-exception"
# By component, the packages of the archives, with the license of what is linked in.
LINKED = {
    "tools": {"llvm-LLVM-dev": FRONTLOAD, "liblld-LLVM-dev": FRONTLOAD,
              "libc6-dev": "LGPL-2.1-or-later",
              "libstdc++-GCC-dev": "GPL-3.0-or-later WITH GCC-exception-3.1",
              "libgcc-GCC-dev": "GPL-3.0-or-later WITH GCC-exception-3.1",
              "zlib1g-dev": "Zlib", "libzstd-dev": "BSD-3-Clause",
              "libfuse3-dev": "LGPL-2.1-only"},
    "valgrind": {"valgrind": "GPL-2.0-or-later"},
}


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def installed(package: str, sysroot: str, cross: str) -> tuple[str, str, str]:
    """The version of a package, its source package, and the file with its license: those of
    another processor, if there is a SYSROOT, or else of this system."""
    status = ["--admindir", f"{sysroot}/var/lib/dpkg"] if sysroot else []
    form = "${db:Status-Abbrev}\t${Version}\t${source:Package}\n"
    for options, root, name in ((status, sysroot, package), ([], "", package + cross)):
        ran = subprocess.run(["dpkg-query", *options, "-W", "-f", form, name],
                             capture_output=True, text=True)
        for line in ran.stdout.splitlines():
            state, version, source = line.split("\t")
            if state.startswith("ii"):
                return version, source, f"{root}/usr/share/doc/{name}/copyright"
    sys.exit(f"linked_in.py: error: Debian's package {package} is not installed, so its license is "
             "not known")


def main(output: Path, version: str, compiler: str, llvm: str, sysroot: str) -> None:
    processor = output_of(compiler, "-dumpmachine").partition("-")[0]
    gcc = output_of(compiler, "-dumpversion").partition(".")[0]
    cross = f"-{ {'aarch64': 'arm64'}.get(processor, processor)}-cross" if sysroot else ""
    shutil.rmtree(output, ignore_errors=True)
    for component, linked in LINKED.items():
        folder = output / component
        (folder / "licenses").mkdir(parents=True)
        program = "frontload" if component == "tools" else f"frontload-{component}"
        packages = [{"SPDXID": "SPDXRef-frontload", "name": program, "versionInfo": version,
                     "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                     "licenseConcluded": "NOASSERTION", "licenseDeclared": FRONTLOAD}]
        for each, license in linked.items():
            name = each.replace("GCC", gcc).replace("LLVM", llvm)
            has, source, text = installed(name, sysroot, cross)
            shutil.copyfile(text, folder / "licenses" / name)
            packages.append({
                "SPDXID": f"SPDXRef-{name.replace('+', 'p')}", "name": name, "versionInfo": has,
                "sourceInfo": f"Debian's source package {source}",
                "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                "licenseConcluded": "NOASSERTION", "licenseDeclared": license})
        (folder / f"{program}.spdx.json").write_text(json.dumps({
            "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"{program}-{version}-{processor}",
            "documentNamespace": f"https://spdx.org/spdxdocs/{program}-{version}-{processor}",
            "creationInfo": {
                "creators": ["Tool: packaging/linked_in.py"],
                "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(
                    int(os.environ.get("SOURCE_DATE_EPOCH", "0"))))},
            "packages": packages,
            "relationships": [
                {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                 "relatedSpdxElement": "SPDXRef-frontload"},
                *({"spdxElementId": "SPDXRef-frontload", "relationshipType": "STATIC_LINK",
                   "relatedSpdxElement": each["SPDXID"]} for each in packages[1:])],
        }, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
