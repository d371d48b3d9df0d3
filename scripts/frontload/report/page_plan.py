"""What a reading list and fronts would give to a whole start, as the page shows it: by device, and
file by file, which says what to mend and how.
"""

from frontload.reading import planning
from frontload.report import page_text as text

_WAYS = {planning.AS_IT_IS: "as it is", planning.LIST: "with a list",
         planning.FRONTS: "with fronts", planning.BOTH: "with fronts and a list"}


def starts(document: dict) -> tuple[list[str], list[dict]]:
    """The devices, and for each way to start the time on each of them."""
    plan = document["plan"]
    if plan is None:
        return [], []
    devices = plan["devices"]
    return devices, [{"way": title, "cells": [_cell(plan["starts"][device][way])
                                              for device in devices]}
                     for way, title in _WAYS.items()]


def _cell(cost: dict) -> dict:
    return {"time": _duration(cost["seconds"]), "requests": text.number(cost["requests"])}


def files(document: dict) -> list[dict]:
    """What each file costs on the first device, and what mending it saves there, the most first."""
    plan = document["plan"]
    if plan is None:
        return []
    device = plan["devices"][0]
    rows = []
    for file in plan["files"]:
        ways = file["devices"][device]
        now = ways[planning.AS_IT_IS]
        saved = {way: planning.gain(ways, way) for way in _WAYS}
        rows.append((-saved[planning.BOTH], {
            "path": file["path"], "touched": file["touched_bytes"], "read": now["read_bytes"],
            "wasted": max(0, now["read_bytes"] - file["touched_bytes"]),
            "faults": text.number(now["major_faults"]), "requests": text.number(now["requests"]),
            "list": _duration(saved[planning.LIST]),
            "front": _duration(saved[planning.FRONTS]) if file["can_have_front"] else "",
            "both": _duration(saved[planning.BOTH])}))
    return [row for _, row in sorted(rows, key=lambda item: item[0])]



def _duration(seconds: float) -> str:
    return text.duration(seconds * 1e9)
