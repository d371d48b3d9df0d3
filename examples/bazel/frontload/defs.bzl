"""Programs with a front: frontload_cc_binary is cc_binary with a startup profile.

The flag --//frontload:mode says how they are linked: off (plainly), record (by ld.frontload, as it
is best recorded) or use (by ld.frontload with the profile, if it is there).
"""

load("@frontload//:prefix.bzl", "PREFIX")
load("@rules_cc//cc:defs.bzl", "cc_binary")

def _frontload_mode(context):
    if context.build_setting_value not in ("off", "record", "use"):
        fail("%s: off, record or use is expected, not %s" %
             (context.label, context.build_setting_value))
    return []

frontload_mode = rule(
    implementation = _frontload_mode,
    build_setting = config.string(flag = True),
)

# By gcc's -B the linker is found as ld.lld; clang 12 and newer take this, too.
_LINKER = ["-B%s/lib/frontload/gcc" % PREFIX, "-fuse-ld=lld"]

def frontload_cc_binary(name, profile, runs = None, linkopts = [], additional_linker_inputs = [], **kwargs):
    """A cc_binary that is linked with a front.

    Args:
      name: of the program; NAME_train records it and writes its profile.
      profile: the startup profile, which need not be there yet.
      runs: a file with the arguments of one recorded run in each line.
      linkopts: as of cc_binary.
      additional_linker_inputs: as of cc_binary.
      **kwargs: all else that cc_binary takes.
    """

    # A file that may be missing is no label, but a pattern may match nothing.
    profiles = native.glob([profile], allow_empty = True)

    # What the link reads is its input, so a changed profile (or linker) links again, and only that.
    linker = ["@frontload//:ld.frontload"]
    cc_binary(
        name = name,
        linkopts = linkopts + select({
            "//frontload:record": _LINKER,
            "//frontload:use": _LINKER + ["-Wl,--startup-profile=$(location %s)" % p for p in profiles],
            "//conditions:default": [],
        }),
        additional_linker_inputs = additional_linker_inputs + select({
            "//frontload:record": linker,
            "//frontload:use": linker + profiles,
            "//conditions:default": [],
        }),
        **kwargs
    )
    if runs:
        frontload_train(name = name + "_train", program = name, profile = profile, runs = runs)

# Runs outside of the sandbox, from the folder of its runfiles, by bazel run; never by bazel build.
_TRAIN = """#!/bin/sh
set -euf
profile="${BUILD_WORKSPACE_DIRECTORY:?is set by bazel run}/%s"
traces=$(mktemp -d)
trap 'rm -rf "$traces"' EXIT
while read -r arguments || [ -n "$arguments" ]; do
  "%s/bin/frontload" record -o "$traces" -- "./%s" $arguments </dev/null
done <"%s"
"%s/bin/frontload" profile "$traces" -o "$profile"
"""

def _frontload_train(context):
    script = context.actions.declare_file(context.label.name)
    package = context.label.package
    context.actions.write(script, _TRAIN % (
        (package + "/" if package else "") + context.attr.profile,
        PREFIX,
        context.executable.program.short_path,
        context.file.runs.short_path,
        PREFIX,
    ), is_executable = True)
    runfiles = context.runfiles(files = [context.executable.program, context.file.runs])
    return [DefaultInfo(executable = script, runfiles = runfiles)]

frontload_train = rule(
    implementation = _frontload_train,
    attrs = {
        "profile": attr.string(mandatory = True),
        "program": attr.label(mandatory = True, executable = True, cfg = "target"),
        "runs": attr.label(mandatory = True, allow_single_file = True),
    },
    executable = True,
)
