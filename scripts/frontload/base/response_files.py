"""Response files (@FILE): the arguments of commands that are longer than the kernel allows.

gcc, clang, linkers and LLVM's programs read them; a link of a large program has one.
"""

from collections.abc import Sequence


def words(content: str) -> list[str]:
    """The arguments in a response file, as gcc, clang and GNU ld read it: a backslash keeps the
    next character, also in quotes, and only C's spaces separate."""
    found: list[str] = []
    word: list[str] | None = None
    quote = ""
    characters = iter(content)
    for character in characters:
        if character == "\\":
            word = word or []
            word.append(next(characters, ""))
        elif character == quote:
            quote = ""
        elif not quote and character in "'\"":
            quote, word = character, word or []
        elif not quote and character in " \t\n\v\f\r":
            if word is not None:
                found.append("".join(word))
            word = None
        else:
            word = word or []
            word.append(character)
    return found if word is None else [*found, "".join(word)]


def text(arguments: Sequence[str]) -> str:
    """The text that `words` reads as these arguments."""
    def quoted(word: str) -> str:
        return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return "".join(quoted(argument) + "\n" for argument in arguments)
