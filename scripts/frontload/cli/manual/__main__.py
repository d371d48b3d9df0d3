"""`python3 -m frontload.cli.manual`: writes man and reference pages, and completions, to folders.

The build runs it (scripts/CMakeLists.txt), and so does the web site's. Files that would not change
are left alone.
"""

import argparse
import sys
from pathlib import Path

from frontload.base.files import write_if_changed
from frontload.cli import completions, manual
from frontload.cli.main import build_parser
from frontload.cli.manual import man, markdown


def main() -> int:
    parser = argparse.ArgumentParser(prog="frontload.cli.manual", description=__doc__)
    parser.add_argument("--bin", metavar="DIR", help="where the native programs are")
    parser.add_argument("--man", metavar="DIR", help="write man pages there")
    parser.add_argument("--markdown", metavar="DIR", help="write Markdown there, and an index.md")
    parser.add_argument("--completions", metavar="DIR",
                        help="write completions below it, as below a prefix's share")
    args = parser.parse_args()
    pages = manual.pages(build_parser(), args.bin)
    documents = manual.documents(pages)
    if args.man:
        _write(args.man, {f"{each[0].file_name}.1": man.render(*each) for each in documents})
    if args.markdown:
        texts = {f"{each[0].file_name}.md": markdown.render(*each) for each in documents}
        _write(args.markdown, texts | {"index.md": markdown.render_index(pages)})
    if args.completions:
        for folder, texts in completions.render(pages).items():
            _write(Path(args.completions, folder), texts)
    return 0


def _write(folder: Path | str, texts: dict[str, str]) -> None:
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_if_changed(folder / name, text.encode())


sys.exit(main())
