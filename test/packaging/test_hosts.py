"""Nothing is fetched from a host that is named here: apt, pip, cargo and go know where from."""

import subprocess

from places import ROOT

# Written apart, so that this file is no hit.
_HOSTS = [".".join(parts).encode() for parts in (
    ("deb", "debian", "org"), ("security", "debian", "org"), ("ftp", "debian", "org"),
    ("snapshot", "debian", "org"), ("archive", "ubuntu", "com"), ("apt", "llvm", "org"),
    ("pypi", "org"), ("pythonhosted", "org"), ("anaconda", "org"),
    ("crates", "io"), ("static", "rust-lang", "org"), ("sh", "rustup", "rs"),
    ("proxy", "golang", "org"), ("sum", "golang", "org"),
    ("npmjs", "org"), ("npmjs", "com"), ("yarnpkg", "com"),
    ("repo", "maven", "apache", "org"), ("repo1", "maven", "org"), ("rubygems", "org"),
    ("docker", "io"), ("quay", "io"), ("ghcr", "io"))]


def test_no_file_names_the_host_of_a_registry():
    """Who has a mirror configured for a package manager uses that mirror, whatever is installed."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True)
    paths = ([ROOT / name for name in listed.stdout.decode().split("\0") if name]
             or [path for path in ROOT.rglob("*") if "build" not in path.relative_to(ROOT).parts])
    found = [f"{path.relative_to(ROOT)}: {host.decode()}" for path in paths if path.is_file()
             for contents in [path.read_bytes()] for host in _HOSTS if host in contents]
    assert paths and found == []
