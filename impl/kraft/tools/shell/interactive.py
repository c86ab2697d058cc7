"""The shell on a terminal: a prompt, lines that can be edited and found again, completion.

Kafka: InteractiveShell.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from kraft.errors import printable
from kraft.tools.shell.commands import COMMANDS, Problem
from kraft.tools.shell.nodes import Directory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kraft.tools.shell.commands import Shell

PROMPT: Final = ">> "
_BLANKS: Final = " \t\n"


def answer(lines: Iterable[str]) -> bool:
    """Print the answer to a command, and return whether all of it could be done."""
    is_done = True
    for line in lines:
        is_done = is_done and not isinstance(line, Problem)
        sys.stdout.write(f"{printable(line)}\n")
    return is_done


def converse(shell: Shell) -> None:
    """Read commands from a terminal and answer them until `exit` or the end of the input.

    An interrupt ends the line or the answer, not the shell, as in Kafka's.
    """
    _complete_with(shell)
    sys.stdout.write("[ Kafka Metadata Shell ]\n")
    while not shell.has_left:
        try:
            answer(shell.run_line(input(PROMPT)))
        except EOFError:
            sys.stdout.write("\n")
            return
        except KeyboardInterrupt:
            sys.stdout.write("^C\n")


def completions(shell: Shell, before: str, word: str) -> list[str]:
    """Return the completions of a word that has been begun, given the line before it."""
    words = before.split()
    if not words or words == ["man"]:
        return [f"{name} " for name in COMMANDS if name.startswith(word)]
    command = COMMANDS.get(words[0])
    if command is None or not command.takes_paths:
        return []
    start, slash, begun = word.rpartition("/")
    found = shell.find(start + slash or ".")
    if len(found) != 1 or not isinstance(found[0].node, Directory):
        return []
    return [
        f"{start}{slash}{name}{'/' if isinstance(child, Directory) else ' '}"
        for name, child in found[0].node.children.items()
        if child is not None and name.startswith(begun)
    ]


def _complete_with(shell: Shell) -> None:
    try:
        import readline
    except ImportError:
        # Some builds of Python have none: lines can be typed without it.
        return

    def complete(word: str, state: int) -> str | None:
        before = readline.get_line_buffer()[: readline.get_begidx()]
        found = completions(shell, before, word)
        return found[state] if state < len(found) else None

    readline.set_completer_delims(_BLANKS)
    readline.set_completer(complete)
    is_editline = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_editline else "tab: complete")
