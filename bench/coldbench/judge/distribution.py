"""What a front has changed in a Debian package: a row for the page, from the facts of its builds.

The build by lld differs from the one with fronts in nothing else."""

from frontload.measure import statistics

BUILDS = GNU, LLD, FRONT = "gnu", "lld", "frontload"
AGAIN = "again"  # the build with fronts once more, without tests
_PREFETCH = "libfrontload-prefetch1"  # which all programs with a front need


def tests(build: dict) -> dict:
    """The sums over all runners."""
    runners = build["tests"]["runners"]
    return {outcome: sum(counts.get(outcome, 0) for counts in runners.values())
            for outcome in ("passed", "failed", "skipped")}


def newly_failed(builds: dict[str, dict]) -> list[str]:
    """The tests that fail with a front only."""
    known = {name for build in (GNU, LLD) for name in builds[build]["tests"]["failures"]}
    return sorted(set(builds[FRONT]["tests"]["failures"]) - known)


def _facts(build: dict) -> set[str]:
    """What tools say of a build, which should not depend on fronts."""
    found = {f"{tool}: {line}" for tool in ("lintian", "dwz") for line in build[tool]}
    for name, package in build["packages"].items():
        found |= {f"{name}: {part}: {each}" for part in ("depends", "symbols", "files")
                  for each in package[part]}
    for path, program in build["programs"].items():
        found |= {f"{path}: {each}" for each in program["hardening"].split("; ")}
        if program["build_id"] not in build["debug"]:
            found.add(f"{path}: no debug file")
    return {each for each in found if "/.build-id/" not in each and _PREFETCH not in each}


def differences(builds: dict[str, dict], build: str = FRONT) -> list[str]:
    """What the build with fronts says and neither of the others (`+`), or only they (`-`). Of lld's
    build: unlike GNU ld's."""
    others = GNU, LLD if build == FRONT else GNU
    if any(builds[name]["status"] for name in (build, *others)):
        return []  # the status says it
    told, gnu, lld = (_facts(builds[name]) for name in (build, *others))
    return sorted([f"+ {each}" for each in told - gnu - lld]
                  + [f"- {each}" for each in gnu & lld - told])


def unlike(one: dict, other: dict) -> list[str]:
    """The files that two builds of the same do not have alike."""
    return sorted(f"{name}/{path}" for name, package in one["packages"].items()
                  for path, digest in package["files"].items()
                  if other["packages"].get(name, {"files": {}})["files"].get(path) != digest)


def _costs(builds: dict[str, dict]) -> dict | None:
    """Time and memory of links with fronts, for each output that both builds link."""
    costs, plain = (builds[name]["links"]["costs"] for name in (FRONT, LLD))
    both = sorted(costs.keys() & plain.keys())
    if not both:
        return None
    time = statistics.ratio([max(1, costs[name][0]) for name in both],
                            [max(1, plain[name][0]) for name in both])
    return {"links": len(both), "time": [time.estimate, time.low, time.high],
            "memory": max(costs[name][1] for name in both)
            / max(plain[name][1] for name in both)}


def row(package: str, version: str, builds: dict[str, dict]) -> dict:
    """All that the page says of a package that was built in all ways."""
    front = builds[FRONT]
    return {
        "package": package, "version": version,
        "status": {name: builds[name]["status"] for name in BUILDS},
        "tests": {name: tests(builds[name]) for name in BUILDS},
        "runners": sorted(front["tests"]["runners"]), "newly_failed": newly_failed(builds),
        "links": {**front["links"]["linkers"], "fronts": front["links"]["fronts"].get("links", 0)},
        "refused": front["links"]["refused"], "notes": front["notes"],
        "size": {name: sum(program["size"] for program in builds[name]["programs"].values())
                 for name in BUILDS},
        "cost": _costs(builds), "differences": differences(builds),
        "of_lld": differences(builds, LLD),
        "unlike": unlike(front, builds[AGAIN]) if AGAIN in builds else None}
