"""Report documents (frontload-report/1) made up for the tests, from a few events to cc1's many."""

import random

CAUSES = ["exec", "loader", "relocation", "constructor", "code", "constant", "data", "kernel"]
SECTIONS = [".rodata", ".text", ".data.rel.ro", ".data", ".bss"]
PAGE = 4096

# What names may hold, since they come from foreign files.
HOSTILE = "</script><img src=x onerror=\"window.broken=1\"><!--'&amp;"
NEWLINES = "one\ntwo\r\nthree\u2028four\x00five"
BIDI = "safe\u202egnp.exe\u2066\u200f"
LONG = "ns::" + "long_name_" * 1000 + "::end"
NOT_UTF8 = "caf\udce9"


EVENT = {"time_ns": 0, "kind": "F", "file": 0, "offset": 0, "bytes": 65536, "cause": 4,
         "section": 1, "symbol": 0, "by": 0, "backward": 0, "process": 0, "thread": 4711}


def add_event(table, **fields):
    for key, value in (EVENT | fields).items():
        table[key].append(value)


def variant(name, *, files=1, events=40, size=4 << 20, seed=1, program="/opt/app", symbols=None,
            section_names=None, command=None):
    """One variant: `events` faults and reads at random places in `files` files."""
    chance = random.Random(seed)
    section_names = section_names or SECTIONS
    symbols = symbols or [f"_ZN3app5part{number:04d}Ev" for number in range(200)]
    paths = [program] + [f"/usr/lib/library{number}.so" for number in range(1, files)]
    sizes = [size] + [size // 8] * (files - 1)
    described = []
    for path, total in zip(paths, sizes, strict=True):
        share = total // len(section_names)
        pages = sorted(chance.sample(range(0, total // PAGE, 2), max(1, total // PAGE // 4)))
        touched = [(page * 256 + chance.randrange(200), chance.randrange(1, 50))
                   for page in pages[::2]]
        described.append({
            "path": path, "size": total,
            "sections": [{"name": section, "offset": number * share, "size": share}
                         for number, section in enumerate(section_names)],
            "read": " ".join(f"{page}+1" for page in pages),
            "touched": " ".join(f"{first}+{count}" for first, count in touched),
            "front": f"0+{total // PAGE // 10}",
            "listed": f"{total // PAGE // 12}+{total // PAGE // 8} {total // PAGE // 2}+9",
            "unasked_bytes": PAGE * len(pages) // 2,
            "major_faults": events // 4, "minor_faults": events // 4,
            "read_bytes": PAGE * len(pages), "touched_bytes": sum(16 * n for _, n in touched)})
    table = {key: [] for key in EVENT}
    before, time = 0, 0
    for number in range(events):
        time += chance.randrange(1000, 100_000)
        file = chance.randrange(files)
        offset = chance.randrange(sizes[file] // PAGE) * PAGE
        kind = "MmFm"[number % 4]
        add_event(table, time_ns=time, kind=kind, file=file, offset=offset,
                  bytes=PAGE * (1 if kind == "m" else 32), cause=chance.randrange(len(CAUSES)),
                  section=min(offset * len(section_names) // sizes[file], len(section_names) - 1),
                  symbol=chance.randrange(len(symbols)), by=-1,
                  backward=int(kind != "m" and offset < before))
        if kind != "m":
            before = offset
    table["kind"] = "".join(table["kind"])
    read = sum(file["read_bytes"] for file in described)
    touched = sum(file["touched_bytes"] for file in described)
    return {
        "name": name, "command": command or [program, "--version"], "condition": "cold",
        "device": None, "block_bytes": None,
        "missing": [{"what": "page-cache fills", "why": "tracing is not permitted",
                     "remedy": "run as root"}],
        "summary": {"major_faults": events // 4, "minor_faults": events // 2, "read_bytes": read,
                    "read_runs": events // 4, "requests": None, "wall_ns": time + 1_000_000,
                    "max_rss_bytes": 30_000_000, "touched_bytes": touched,
                    "wasted_bytes": read - touched, "density": touched / read,
                    "backward_reads": sum(table["backward"]), "files_read": files},
        "files": described, "events": table, "causes": CAUSES, "section_names": section_names,
        "symbols": symbols,
        "processes": [{"pid": 4711, "parent": None, "command": name, "start_ns": 0,
                       "end_ns": None}],
        "phases": [{"name": "exec", "process": 0, "start_ns": 0, "end_ns": time // 5,
                    "waits_ns": None,
                    "major_faults": 2, "minor_faults": 3, "read_bytes": 40 * PAGE},
                   {"name": "main", "process": 0, "start_ns": time // 5, "end_ns": time,
                    "waits_ns": {"disk": 1_000_000, "futex": 2_000_000},
                    "major_faults": 7, "minor_faults": 9, "read_bytes": read - 40 * PAGE}],
        "bytes": [{"file": number, "section": section, "size": file["size"] // 5,
                   "touched": 1000 * (place + 1), "read": 100_000 * (place + 2),
                   "wasted": 100_000 * (place + 2) - 1000 * (place + 1), "density": 0.01}
                  for number, file in enumerate(described)
                  for place, section in enumerate(section_names)],
        "waste": {"functions": [waste(symbol, 9000 - number)
                                for number, symbol in enumerate(symbols[:50])],
                  "data": [waste(symbol, 9000, section=".rodata", object=None, size=9000)
                           for symbol in symbols[:3]],
                  "objects": [waste("libapp.a(part.o)", 90_000, object=None)]},
        "advice": [{"id": "relr", "text": "Relative relocations take 1.2 MB of the file.",
                    "how": "-Wl,-z,pack-relative-relocs",
                    "gain": {"major_faults": 25, "read_bytes": 6_800_000}}],
    }


def waste(name, read, **changes):
    return {"name": name, "file": 0, "section": ".text", "object": "a.o", "read": read,
            "touched": 16, "wasted": read - 16, **changes}


def document(*variants, title="app --version"):
    return {"schema": "frontload-report/1", "frontload": "0.1.0", "title": title,
            "host": {"kernel": "Linux 6.18", "machine": "x86_64", "processor": "A processor",
                     "processors": 2, "memory_bytes": 8_000_000_000, "page_size": PAGE},
            "page_size": PAGE, "variants": list(variants), "comparison": None}


def pair():
    """Before and after of one program with two files, as most reports are."""
    return document(variant("before", files=2, events=400, seed=1),
                    variant("after", files=2, events=120, seed=2, program="/opt/app.front"))


def hostile():
    """Everything that names may hold, in every place that has names."""
    names = [HOSTILE, NEWLINES, BIDI, LONG, NOT_UTF8]
    made = [variant(HOSTILE, files=2, symbols=names, section_names=names, program="/" + HOSTILE,
                    command=["/" + HOSTILE, *names]),
            variant(BIDI, files=2, symbols=names, section_names=names, program="/" + LONG,
                    command=["/" + LONG, *names])]
    for one in made:
        one["files"][1]["path"] = "/usr/" + NEWLINES
        one["condition"] = one["device"] = HOSTILE
        for place in (*one["missing"], *one["advice"], *one["waste"]["functions"],
                      *one["waste"]["data"], *one["waste"]["objects"], *one["phases"]):
            place.update({key: HOSTILE for key, value in place.items() if isinstance(value, str)})
        one["causes"] = [HOSTILE, *CAUSES[1:]]
    found = document(*made, title=HOSTILE + NEWLINES + BIDI)
    found["host"]["processor"] = HOSTILE
    found["frontload"] = HOSTILE
    return found


def bare():
    """A report of a start of which little is known: no reads, no touches, no phases."""
    one = variant("only", events=12)
    one.update(waste=None, phases=[], advice=[], bytes=[])
    one["summary"] = {key: None for key in one["summary"]} | {
        "major_faults": 3, "minor_faults": 6, "wall_ns": 5, "backward_reads": 0, "files_read": 0}
    for file in one["files"]:
        file.update(read=None, touched=None, read_bytes=None, touched_bytes=None, front=None,
                    listed=None, unasked_bytes=None)
    events = one["events"]
    events["kind"] = events["kind"].replace("F", "m")
    events["file"][0], events["offset"][0] = -1, -1
    events["section"] = [-1] * len(events["section"])
    events["symbol"] = events["by"] = [-1] * len(events["symbol"])
    return document(one)


def empty():
    """A report of a start of which nothing but its totals is known, as without perf."""
    found = bare()
    one = found["variants"][0]
    one.update(files=[], symbols=[], section_names=[])
    one["events"] = {key: [] for key in one["events"]} | {"kind": ""}
    return found


def large():
    """As large as the report of two variants of cc1: 200 MB, tens of thousands of events."""
    return document(variant("before", files=12, events=30_000, size=200 << 20, seed=1),
                    variant("after", files=12, events=30_000, size=200 << 20, seed=2))
