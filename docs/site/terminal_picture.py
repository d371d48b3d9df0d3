"""Draws the output of `frontload auto` as it looks in a terminal, as SVG: docs/auto.svg.

    script -qec "examples/case-studies/server FOLDER" /dev/null |
      docs/site/terminal_picture.py FOLDER >docs/auto.svg

Of long output it shows the notes, the steps with their times, the table and the verdict. Paths
begin in FOLDER.
"""

import io
import re
import sys

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

WIDTH = 80
PROMPT = "$ frontload auto --device hdd --build make … -- postgres -D data"
# A reader's own font: pictures load nothing from elsewhere.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)


def shown(output: str, folder: str) -> list[Text]:
    # What is drawn between hiding the cursor and showing it again is drawn over; the last stays.
    drawn, _, after = output.partition("\x1b[?25h")
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn.partition("\x1b[?25l")[0]
                  + drawn.rpartition("\x1b[2K")[2] + after)
    lines = [line.rstrip().replace(f"{folder}/", "") for line in text.rstrip().splitlines()]
    last = max(number for number, line in enumerate(lines) if re.match(r"\d:\d\d:\d\d ", line))
    # A broken line goes on behind two spaces.
    notes = [number for number, line in enumerate(lines[:last + 1])
             if re.match(r"frontload: note|\d:\d\d:\d\d |  \S", line)]
    table_end = lines.index("", notes[-1])
    return [Text(PROMPT, "bold"), *(Text(lines[number], "bright_black") for number in notes),
            Text(lines[notes[-1] + 1], "bold"), *map(Text, lines[notes[-1] + 2:table_end]),
            Text("…", "bright_black"), Text(lines[-1], "bold green")]


def picture(lines: list[Text]) -> str:
    console = Console(width=WIDTH, record=True, file=io.StringIO(), highlight=False)
    for line in lines:
        console.print(line)
    return console.export_svg(title="frontload auto", code_format=FORMAT, unique_id="auto")


if __name__ == "__main__":
    print(picture(shown(sys.stdin.read(), sys.argv[1].rstrip("/"))), end="")
