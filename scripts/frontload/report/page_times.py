"""The page's view of time: the phases of the recorded starts.

The recorder slowed them down, and each was one run; `frontload measure` has reliable times.
"""

from frontload.report.advice_waiting import DISK


def phases(variants: list[dict]) -> list[dict]:
    """For each variant the processes with their phases, on one scale of time."""
    end = max((phase["end_ns"] or phase["start_ns"] for variant in variants
               for phase in variant["phases"]), default=0)
    found = []
    for variant in variants:
        processes: dict[int, list[dict]] = {}
        for phase in variant["phases"]:
            last = phase["end_ns"] if phase["end_ns"] is not None else end
            processes.setdefault(phase["process"], []).append({
                **phase, **_waited(phase.get("waits_ns")), "duration": last - phase["start_ns"],
                "left": round(100 * phase["start_ns"] / end, 3) if end else 0,
                "width": round(100 * (last - phase["start_ns"]) / end, 3) if end else 0})
        known = variant.get("processes") or []
        found.append({"variant": variant["name"], "processes": [
            {"name": known[number]["command"] if number < len(known) else f"process {number}",
             "phases": entries} for number, entries in sorted(processes.items())]})
    return found


def _waited(waits: dict[str, int] | None) -> dict[str, int | None]:
    """For how long no thread ran: for a disk, and for something else."""
    if waits is None:
        return {"disk_wait": None, "other_wait": None}
    disk = waits.get(DISK, 0)
    return {"disk_wait": disk, "other_wait": sum(waits.values()) - disk}
