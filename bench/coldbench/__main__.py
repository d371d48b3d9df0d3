"""`python3 -m coldbench NAME ARGUMENT...`: the programs in bench/, each a module with `parse` and
`run`."""

import importlib
import sys

from coldbench import command


def main(argv: list[str]) -> int:
    """The exit status. Errors are reported in one line."""
    name, *arguments = argv
    program = importlib.import_module(f"coldbench.{name}")
    args = program.parse(arguments)
    return command.end(lambda: program.run(args), f"bench/{name}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
