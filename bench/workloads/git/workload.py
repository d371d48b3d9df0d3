"""git, a C program of 4 MB: its work is to show the history of a small repository."""

from coldbench.variants.workload import RECORDED_BLOCKS, Workload

_COMMANDS = ("log --stat --decorate", "log -p -2", "status --short", "diff --stat HEAD~5",
             "show v1", "blame HEAD -- folder0/file0.txt", "branch -av", "describe --tags",
             "ls-files -s", "grep -n version HEAD", "cat-file -p HEAD", "shortlog -s HEAD", "fsck",
             "config --list", "archive -o {output} HEAD", "format-patch --stdout -3")

WORKLOAD = Workload(
    name="git",
    title="git 2.39 (C): `git log --stat` in a small repository",
    variants=("default", "order", "order+relr", "front", "front+prefetch",
              "front+blocks", "front+blocks+prefetch",
              "clang-pgo", "clang-pgo+front", "clang-pgo+front+again",
              "gcc-pgo", "gcc-pgo+front", "gcc-pgo+front+again"),
    peers=("temporal", "bp-startup", "gcc-pgo-lto", "bolt", "preread", "willneed", "front+run"),
    recordings={name: RECORDED_BLOCKS for name in ("front+blocks", "front+blocks+prefetch")},
    arguments=("-C", "{work}/repository", "log", "--stat", "--decorate"),
    scenarios={command.replace(" {output}", ""): ("-C", "{work}/repository", *command.split())
               for command in _COMMANDS},
    # Without user settings, on which the output would depend.
    environment={"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"},
)
