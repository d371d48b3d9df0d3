"""The colours of a report's page, light and dark."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    read: str
    touched: str
    unknown: str
    backward: str
    causes: dict[str, str]


# Colours that people who do not see red and green as different can tell apart (after Okabe and Ito,
# "Color Universal Design", 2008); red is left for backward reads.
LIGHT = Theme(read="#e0a458", touched="#0b4f9c", unknown="#b9c0c8",
              backward="#e0002d",
              causes={"exec": "#6d7680", "loader": "#c0579a", "relocation": "#e08a00",
                      "constructor": "#00966b", "code": "#0063b1", "constant": "#3fb0ea",
                      "data": "#7d52c7", "kernel": "#a08a62"})
DARK = Theme(read="#a8753a", touched="#6aa9ee", unknown="#5b646e",
             backward="#ff5470",
             causes={"exec": "#9aa5b1", "loader": "#ea86c6", "relocation": "#ffb02e",
                     "constructor": "#2fd39f", "code": "#4c9df0", "constant": "#8fdcff",
                     "data": "#b493f5", "kernel": "#c9b487"})


def style() -> str:
    """The colours with a meaning, as CSS variables: each once, for light and for dark."""
    pairs = {"touched": (LIGHT.touched, DARK.touched), "wasted": (LIGHT.read, DARK.read),
             "unknown": (LIGHT.unknown, DARK.unknown),
             "backward": (LIGHT.backward, DARK.backward),
             "front": ("#00966b", "#2fd39f"), "listed": ("#7d52c7", "#b493f5"),
             "both": ("#3d4650", "#d5dbe2"), "unasked": ("#d55e00", "#ff8a4c")}
    pairs |= {f"c{number}": (LIGHT.causes[cause], DARK.causes[cause])
              for number, cause in enumerate(LIGHT.causes)}
    lines = [f"  --{name}: light-dark({light}, {dark});" for name, (light, dark) in pairs.items()]
    return "\n".join([":root {", *lines, "}", ""])
