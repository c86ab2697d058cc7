"""The commands of the shell, and the state they work on: the tree, and the directory one is in.

Kafka: Commands, CatCommandHandler, LsCommandHandler and their like.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kraft.tools.shell.columns import in_columns
from kraft.tools.shell.nodes import Directory, Leaf, found_at, is_pattern, path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kraft.tools.shell.nodes import Found, Node


class Problem(str):
    """A line that says why something could not be done."""

    __slots__ = ()


class Shell:
    """The tree, the current directory, and the lines typed so far.

    `width` is that of the screen, None if the output does not go to a screen.
    """

    __slots__ = ("has_left", "history", "root", "width", "working")

    def __init__(self, root: Directory, width: int | None = None) -> None:
        self.root = root
        self.width = width
        self.working: tuple[str, ...] = ()
        self.history: list[str] = []
        self.has_left = False

    def find(self, path: str) -> list[Found]:
        """Return the nodes that a path or a pattern stands for."""
        return found_at(self.root, self.working, path)

    def run_line(self, line: str) -> Iterator[str]:
        """Yield the answer to a line of commands; a Problem for a line that cannot be done."""
        line = line.strip()
        if not line:
            return
        if self.history[-1:] != [line]:
            self.history.append(line)
        try:
            words = shlex.split(line)
        except ValueError as error:
            yield Problem(f"{str(error).lower()}: {line}")
            return
        yield from self.run(words)

    def run(self, words: Sequence[str], *, is_alone: bool = False) -> Iterator[str]:
        """Yield the answer to a command; `is_alone` if it is not typed in a shell.

        Kafka: Commands.parseCommand.
        """
        given = list(words)
        while given and not given[-1]:
            given.pop()
        if not given:
            return
        name, *arguments = given
        names = [n for n, one in COMMANDS.items() if one.is_for_anyone or not is_alone]
        if name not in names:
            choices = ", ".join(map(repr, names))
            yield Problem(f"invalid choice: {name!r} (choose from {choices})")
            return
        command = COMMANDS[name]
        if any(argument in {"-h", "--help"} for argument in arguments):
            yield from manual_of(name)
            return
        # A word that looks like an option is an argument: these commands have no other options.
        surplus = [one for one in arguments if one.startswith("-") and one != "-"]
        if command.at_most is not None:
            surplus += [one for one in arguments if one not in surplus][command.at_most :]
        if surplus:
            yield Problem(f"unrecognized arguments: {' '.join(map(repr, surplus))}")
        elif len(arguments) < command.at_least:
            yield Problem("too few arguments")
        else:
            yield from command.run(self, arguments)


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its name, its function, the number of its arguments."""

    usage: str
    summary: str
    run: Callable[[Shell, Sequence[str]], Iterator[str]]
    at_least: int = 0
    at_most: int | None = None
    is_for_anyone: bool = False
    takes_paths: bool = True


def manual_of(name: str) -> Iterator[str]:
    """Yield the help of one command."""
    command = COMMANDS[name]
    yield f"{name}: {command.summary}"
    yield ""
    yield f"usage: {command.usage}"


def _cat(shell: Shell, arguments: Sequence[str]) -> Iterator[str]:
    for path in arguments:
        found = shell.find(path)
        if not found:
            yield Problem(f"cat: {path}: No such file or directory.")
        for one in found:
            if isinstance(one.node, Leaf):
                yield one.node.text
            else:
                yield Problem(f"cat: {path}: Is a directory")


def _cd(shell: Shell, arguments: Sequence[str]) -> Iterator[str]:
    path = arguments[0] if arguments else "/"
    found = shell.find(path)
    if not found:
        yield Problem(f"cd: {path}: no such directory.")
    for one in found:
        if isinstance(one.node, Leaf):
            yield Problem(f"cd: {path}: not a directory.")
        else:
            shell.working = one.names


def _exit(shell: Shell, _: Sequence[str]) -> Iterator[str]:
    shell.has_left = True
    yield from ()


def _find(shell: Shell, arguments: Sequence[str]) -> Iterator[str]:
    for path in [one for one in arguments if one] or ["."]:
        found = shell.find(path)
        if not found:
            yield Problem(f"find: {path}: no such file or directory.")
        for one in found:
            yield from _paths(one.path if is_pattern(path) else path, one.node)


def _paths(path: str, node: Node | None) -> Iterator[str]:
    yield path
    if isinstance(node, Directory):
        start = path if path == "/" else f"{path}/"
        for name, child in node.children.items():
            yield from _paths(start + name, child)


def _help(_shell: Shell, _: Sequence[str]) -> Iterator[str]:
    yield "Commands:"
    for command in COMMANDS.values():
        yield f"  {command.usage:<20} {command.summary}"
    yield ""
    yield "A PATH begins at / or where you are. In it * is any text, ? any character, {a,b} one of"
    yield "two: cat /image/topics/byName/*/0"


def _history(shell: Shell, arguments: Sequence[str]) -> Iterator[str]:
    count = len(shell.history)
    if arguments:
        if not (arguments[0].isascii() and arguments[0].isdigit()):
            yield Problem(f"history: {arguments[0]}: not a number of lines")
            return
        count = int(arguments[0][:9])
    first = max(0, len(shell.history) - count)
    for number, line in enumerate(shell.history[first:], first):
        yield f"{number:5}  {line}"


def _ls(shell: Shell, arguments: Sequence[str]) -> Iterator[str]:
    """Yield the leaves first, then what each directory lists; one that is empty, not at all.

    Kafka: LsCommandHandler.printTargets.
    """
    leaves: list[str] = []
    directories: list[tuple[str, list[str]]] = []
    for path in [one for one in arguments if one] or ["."]:
        found = shell.find(path)
        if not found:
            yield Problem(f"ls: {path}: no such file or directory.")
        for one in found:
            if isinstance(one.node, Leaf):
                leaves.append(one.name)
            else:
                directories.append((one.name, list(one.node.children)))
    yield from in_columns(leaves, shell.width)
    has_titles = bool(leaves) or len(directories) > 1
    is_first = not leaves
    for name, names in directories:
        if has_titles and names:
            if not is_first:
                yield ""
            yield f"{name}:"
        is_first = False
        yield from in_columns(names, shell.width)


def _man(_: Shell, arguments: Sequence[str]) -> Iterator[str]:
    name = arguments[0]
    if name in COMMANDS:
        yield from manual_of(name)
    else:
        yield Problem(f"man: unknown command {name}. Type help to get a list of commands.")


def _pwd(shell: Shell, _: Sequence[str]) -> Iterator[str]:
    yield path_of(shell.working)


def _tree(shell: Shell, arguments: Sequence[str]) -> Iterator[str]:
    for path in arguments:
        found = shell.find(path)
        if not found:
            yield Problem(f"tree: {path}: No such file or directory.")
        for one in found:
            yield from _indented(one.node, "")


def _indented(node: Node | None, indent: str) -> Iterator[str]:
    if isinstance(node, Leaf):
        yield indent + node.text
    elif node is not None:
        for name, child in node.children.items():
            yield f"{indent}{name}:"
            yield from _indented(child, f"{indent}  ")


COMMANDS: Final = {
    "cat": Command("cat PATH...", "Print what leaves say.", _cat, 1, is_for_anyone=True),
    "cd": Command("cd [PATH]", "Go to a directory, or to the root.", _cd, at_most=1),
    "exit": Command("exit", "Leave the shell.", _exit, at_most=0, takes_paths=False),
    "find": Command(
        "find [PATH...]", "List the paths of nodes and of all below.", _find, is_for_anyone=True
    ),
    "help": Command("help", "Print this list.", _help, at_most=0, takes_paths=False),
    "history": Command(
        "history [COUNT]", "Print the lines typed so far, or the last of them.", _history,
        at_most=1, takes_paths=False,
    ),
    "ls": Command("ls [PATH...]", "List what directories hold.", _ls, is_for_anyone=True),
    "man": Command(
        "man COMMAND", "Print the help of one command.", _man, 1, at_most=1, takes_paths=False
    ),
    "pwd": Command("pwd", "Print where you are.", _pwd, at_most=0, takes_paths=False),
    "tree": Command(
        "tree PATH...", "Print nodes, with all below, indented.", _tree, 1, is_for_anyone=True
    ),
}  # fmt: skip
