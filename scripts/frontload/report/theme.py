"""The colors of a report's page, light and dark."""

# Colors that people who do not see red and green as different can tell apart (after Okabe and Ito,
# "Color Universal Design", 2008); red is left for backward reads.
PARTS = {"wasted": ("#e0a458", "#a8753a"), "touched": ("#0b4f9c", "#6aa9ee"),
         "unknown": ("#b9c0c8", "#5b646e"), "backward": ("#e0002d", "#ff5470"),
         "front": ("#00966b", "#2fd39f"), "listed": ("#7d52c7", "#b493f5"),
         "both": ("#3d4650", "#d5dbe2"), "unasked": ("#d55e00", "#ff8a4c")}
CAUSES = {"exec": ("#6d7680", "#9aa5b1"), "loader": ("#c0579a", "#ea86c6"),
          "relocation": ("#e08a00", "#ffb02e"), "constructor": ("#00966b", "#2fd39f"),
          "code": ("#0063b1", "#4c9df0"), "constant": ("#3fb0ea", "#8fdcff"),
          "data": ("#7d52c7", "#b493f5"), "kernel": ("#a08a62", "#c9b487")}


def style() -> str:
    """The colors with a meaning, as CSS variables: each once, for light and for dark."""
    pairs = PARTS | {f"c{number}": pair for number, pair in enumerate(CAUSES.values())}
    lines = [f"  --{name}: light-dark({light}, {dark});" for name, (light, dark) in pairs.items()]
    return "\n".join([":root {", *lines, "}", ""])
