"""What bench/run says: JSON with every run, and the table and the verdicts made from it."""

import json
from dataclasses import asdict

from frontload import __version__
from frontload.base import console
from frontload.device import kinds as devices
from frontload.machine import host as measure_host
from frontload.measure import results as measure_report
from frontload.measure.rounds import SELECTIVELY_COLD as COLD
from frontload.measure.rounds import WARM
from rich.table import Table

from coldbench.bench import Result
from coldbench.judge import replay, verdicts
from coldbench.judge.verdicts import Figures, Start, Verdict, judge_ratio
from coldbench.measure.links import LINKERS
from coldbench.measure.starts import SLOW

SCHEMA = "frontload-bench/1"
LINK_LIMIT = 1.10


def to_json(result: Result, *, judged: bool) -> dict:
    work = result.work
    documents = {name: measure_report.to_json(measurement)
                 for name, measurement in (("plain", result.starts.plain),
                                           ("throttled", result.starts.throttled))
                 if measurement}
    document = {
        "schema": SCHEMA,
        "frontload": __version__,
        "workload": work.workload.name,
        "host": measure_host.describe_host(),
        "place": _place(result),
        "missing": result.starts.missing,
        "variants": [_variant(result, variant) for variant in result.variants],
        "predictions": result.predictions,
        "links": _links(result),
        "verdicts": [],
        "measurements": documents,
    }
    if judged:
        document["verdicts"] = [vars(verdict) for verdict in _judge(result, document)]
    return document


def _place(result: Result) -> dict:
    place = next(iter(result.starts.plain.places.values()))
    if not result.starts.on_device:
        return place
    place = place | {"device": "loop device, its backing file locked in the page cache"}
    if result.starts.throttled:
        slow = devices.find(SLOW)
        place["throttle"] = {"device": slow.name, "iops": slow.iops,
                             "bytes_per_second": slow.bytes_per_second}
    return place


def _variant(result: Result, variant: str) -> dict:
    """The figures of the table, and what one cold start has read, for the picture."""
    cold = result.starts.plain.of(variant, COLD)
    (read,) = (state.read for state in cold[0].files.values())
    found = {
        "name": variant,
        "size": result.work.binary(variant).stat().st_size,
        "page_size": measure_host.describe_host()["page_size"],
        "read_pages": read.to_text(),
        "cold": measure_report.figures(cold),
        "warm": measure_report.figures(result.starts.plain.of(variant, WARM)),
    }
    front = result.work.front(variant)
    if front:
        found["front"] = front
    if result.starts.throttled:
        found["throttled"] = measure_report.figures(result.starts.throttled.of(variant, COLD))
    return found


def _links(result: Result) -> dict | None:
    links = result.links
    if links is None:
        return None
    return {
        "time_ratio": asdict(links.time_ratio),
        "memory_ratio": asdict(links.memory_ratio),
        "linkers": {linker: {"seconds": links.seconds(linker),
                             "peak_bytes": links.peak_bytes(linker)} for linker in LINKERS},
        "pairs": [dict(zip(LINKERS, map(vars, pair), strict=True)) for pair in links.pairs],
    }


def _judge(result: Result, document: dict) -> list[Verdict]:
    figures = _figures(result, document)
    found = [requirement.judge(figures) for requirement in result.work.workload.requirements]
    found.append(Verdict("the program's output is identical in all variants",
                         result.starts.outputs_are_identical()))
    if result.links:
        links = result.links
        found += [judge_ratio(what, "ld.lld's", ratio, at_most=LINK_LIMIT)
                  for what, ratio in (("link time with a profile", links.time_ratio),
                                      ("peak memory of the link", links.memory_ratio))]
    found += [Verdict(sentence, same) for sentence, same in result.same_files]
    found += replay.verdicts(result.predictions)
    return found


def _figures(result: Result, document: dict) -> Figures:
    """What is judged. On any file system but the device's, readahead and layout are not what was
    required, so that only the linker's reports of the fronts are left."""
    medians = {variant["name"]: {f"front_{name}": value
                                 for name, value in variant.get("front", {}).items()}
               for variant in document["variants"]}
    if not result.starts.on_device:
        return Figures(medians)
    for variant in document["variants"]:
        medians[variant["name"]] |= {name: figure["median"]
                                     for name, figure in variant["cold"].items()}
    starts = result.starts
    measured = [(starts.plain, COLD, verdicts.PLAIN), (starts.plain, WARM, verdicts.WARM)]
    if starts.throttled:
        measured.append((starts.throttled, COLD, verdicts.THROTTLED))
    times = {Start(variant, condition): [run.sample.wall_ns for run in measurement.of(variant, met)]
             for measurement, met, condition in measured for variant in result.variants}
    return Figures(medians, times)


def dump(document: dict) -> bytes:
    return (json.dumps(document, indent=1) + "\n").encode()


def print_report(document: dict) -> None:
    print(f"{document['workload']}, from cold:")
    console.show(_table(document))
    print()
    if any(row["predicted"] for row in document["predictions"]):
        console.show(replay.table(document["predictions"]))
        print()
    if document["links"]:
        print(f"the link, median of {len(document['links']['pairs'])} pairs "
              "(and 95% confidence interval of the ratios):")
        console.show(_link_table(document["links"]))
        print()
    _print_place(document)
    for measured in document["measurements"].values():
        for warning in measured["warnings"]:
            print(f"warning: {warning}")
    for missing in document["missing"]:
        print(f"missing: {missing}")
    for row in document["predictions"]:
        if row["predicted"] is None:
            print(f"not predicted: {row['variant']}: {row['why']}")
    print()
    words = {True: "ok", False: "FAIL", None: "not judged"}
    for verdict in document["verdicts"]:
        print(f"{words[verdict['holds']]:10}  {verdict['text']}")


def _table(document: dict) -> Table:
    base = document["variants"][0]["name"]
    headings = ["variant", "major\nfaults", "minor\nfaults", "MB\nread", "runs\nread",
                "peak\nRSS MB", "file\nMB", "seconds\ncold, plain", "seconds\ncold, throttled",
                "seconds\nwarm"]
    ratios = {comparison["variant"]: comparison
              for comparison in document["measurements"]["plain"]["comparisons"]
              if comparison["condition"] == COLD}
    if ratios:
        headings.append(f"cold, plain /\n{base}")
    table = console.table(*headings, numbers=range(1, len(headings)))
    for variant in document["variants"]:
        cold = variant["cold"]
        console.add_row(
            table,
            variant["name"], f"{cold['major_faults']['median']:.0f}",
            f"{cold['minor_faults']['median']:.0f}", f"{cold['read_bytes']['median'] / 1e6:.1f}",
            f"{cold['read_runs']['median']:.0f}", f"{cold['max_rss_bytes']['median'] / 1e6:.1f}",
            f"{variant['size'] / 1e6:.1f}", _seconds(cold), _seconds(variant.get("throttled")),
            _seconds(variant["warm"]), *([_ratio(ratios[variant["name"]])]
                                         if variant["name"] in ratios else []))
    return table


def _seconds(figures: dict | None) -> str:
    """The mean and half the width of its 95% confidence interval."""
    if figures is None:
        return "missing"
    time = figures["wall_ns"]
    if time["low"] is None:
        return f"{time['mean'] / 1e9:.3f}"
    return f"{time['mean'] / 1e9:.3f} ±{(time['high'] - time['low']) / 2e9:.3f}"


def _ratio(comparison: dict, digits: int = 2) -> str:
    if comparison["low"] is None:
        return f"{comparison['estimate']:.{digits}f}"
    return (f"{comparison['estimate']:.{digits}f} "
            f"({comparison['low']:.{digits}f} to {comparison['high']:.{digits}f})")


def _link_table(links: dict) -> Table:
    table = console.table("linker", "seconds", "peak MB", numbers=(1, 2))
    for linker, cost in links["linkers"].items():
        console.add_row(table, linker, f"{cost['seconds']:.2f}", f"{cost['peak_bytes'] / 1e6:.0f}")
    console.add_row(table, "paired ratio", _ratio(links["time_ratio"], 3),
                    _ratio(links["memory_ratio"], 3))
    return table


def _print_place(document: dict) -> None:
    host, place = document["host"], document["place"]
    print(f"{host['kernel']}, {host['processor']} ({host['processors']} processors), "
          f"{place['file_system']}, readahead {place['read_ahead_kib']} KiB")
    if "device" in place:
        print(f"plain: {place['device']}")
    if "throttle" in place:
        limits = place["throttle"]
        print(f"throttled: {limits['iops']} requests and "
              f"{limits['bytes_per_second'] / 1e6:.0f} MB per second, by the kernel")
    print("counts are medians, MB are 10^6 bytes, times are means ± their 95% confidence interval, "
          "ratios are paired by round")
