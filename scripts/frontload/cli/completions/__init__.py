"""Completions for bash, zsh and fish, made of the manual.

Why not by a library: argcomplete starts Python at each Tab, a quarter of a second; shtab knows
argparse alone, in bash neither --option=VALUE nor the command after --, on which most of our verbs
work. So the manual is written down as what these shells have for it themselves: _arguments in zsh,
complete in fish, and the functions of bash-completion.
"""

from frontload.cli.completions import bash, fish, zsh
from frontload.cli.manual.page import Page


def render(pages: list[Page]) -> dict[str, dict[str, str]]:
    """The files of each folder below a prefix's share, where each shell looks for them."""
    command, *others = pages
    verbs = [page for page in others if page.name.startswith(f"{command.name} ")]
    programs = [page for page in others if page not in verbs]
    return {
        "bash-completion/completions": {
            command.name: bash.of_command(command, verbs),
            **{page.name: bash.of_program(page) for page in programs}},
        "zsh/site-functions": {
            f"_{command.name}": zsh.of_command(command, verbs),
            **{f"_{page.name}": zsh.of_program(page) for page in programs}},
        "fish/vendor_completions.d": {
            f"{command.name}.fish": fish.of_command(command, verbs),
            **{f"{page.name}.fish": fish.of_program(page) for page in programs}},
    }
