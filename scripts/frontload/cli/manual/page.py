"""What is known of one command, as the man pages, the reference pages and the completions need it.

Pages are made of argparse's parsers (verbs.py) and of what native programs say with --help
(programs.py); what renders them knows neither.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Argument:
    """An option, or an argument without a flag."""

    flags: tuple[str, ...]  # -o, --output; none: it is known by its place
    value: str  # what follows, as it is shown: FILE, {hdd,ssd}; nothing for a flag alone
    help: str
    choices: tuple[str, ...] = ()
    is_value_optional: bool = False
    is_repeatable: bool = False
    is_joined: bool = False  # --output=FILE is how it is shown, not --output FILE

    def shown(self) -> list[str]:
        """Each form of it, as one types it."""
        if not self.flags:
            return [self.value]
        return [flag + self._value_after(flag) for flag in self.flags]

    def _value_after(self, flag: str) -> str:
        if not self.value:
            return ""
        if self.is_joined and flag.startswith("--"):
            return f"[={self.value}]" if self.is_value_optional else f"={self.value}"
        return f" [{self.value}]" if self.is_value_optional else f" {self.value}"


@dataclass(frozen=True)
class Group:
    """Arguments that belong together."""

    title: str
    text: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Example:
    text: str  # what it does; may be empty
    commands: str  # shell text


@dataclass(frozen=True)
class Section:
    """Terms and what they mean: exit statuses, environment variables, files, formats."""

    title: str
    terms: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Page:
    name: str  # as it is typed: frontload record, ld.frontload
    summary: str
    synopsis: tuple[str, ...]
    description: str  # paragraphs; indented lines are to be left as they are
    groups: tuple[Group, ...] = ()
    sections: tuple[Section, ...] = ()
    examples: tuple[Example, ...] = ()
    see_also: tuple[str, ...] = field(default=(), compare=False)  # names of other pages

    @property
    def file_name(self) -> str:
        return self.name.replace(" ", "-")

    def arguments(self) -> list[Argument]:
        return [argument for group in self.groups for argument in group.arguments]

    def options(self) -> list[Argument]:
        """Each option once; a verb with verbs of its own may say it for each of them."""
        by_flags = {argument.flags: argument for argument in self.arguments() if argument.flags}
        return list(by_flags.values())


def examples_of(text: str) -> tuple[Example, ...]:
    """Reads shell text, in which a comment says what the commands below it do."""
    found: list[tuple[list[str], list[str]]] = []
    for line in text.splitlines():
        is_comment = line.lstrip().startswith("#")
        if not line.strip():
            continue
        if not found or (is_comment and found[-1][1]):
            found.append(([], []))
        if is_comment:
            found[-1][0].append(line.strip().lstrip("#").strip())
        else:
            found[-1][1].append(line)
    return tuple(Example(" ".join(comment), "\n".join(commands)) for comment, commands in found)
