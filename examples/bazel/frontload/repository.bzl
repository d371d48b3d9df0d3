"""Finds an installed (or built) Frontload, and makes it the repository @frontload."""

def _frontload_repository(context):
    prefix = context.os.environ.get("FRONTLOAD_PREFIX")
    if not prefix:
        linker = context.which("ld.frontload")
        if not linker:
            fail("there is no ld.frontload in PATH; set FRONTLOAD_PREFIX to where Frontload is " +
                 "installed (bin/ld.frontload below it)")
        prefix = str(linker.realpath.dirname.dirname)
    context.symlink(prefix + "/bin/ld.frontload", "ld.frontload")
    context.file("BUILD.bazel", 'exports_files(["ld.frontload"])\n')
    context.file("prefix.bzl", 'PREFIX = "%s"\n' % prefix)

frontload_repository = repository_rule(
    implementation = _frontload_repository,
    environ = ["FRONTLOAD_PREFIX", "PATH"],
    local = True,
)
