"""Each command line of ``krafla`` in the documents has a verb and options that there are.

Most blocks of ``docs`` are run by the tests of the handbook. This one also reads those that take
minutes, and the README's.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer

from krafla.cli import application

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PROMPT = re.compile(r"^ *\$ (.*)$", re.MULTILINE)
FENCE = re.compile(r"^ *```(?:console|sh)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
ENDS = ("&&", "||", "|", ";", ">", ">>", "<", "&")


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each command line of krafla in the blocks of a page."""
    for block in FENCE.findall(text):
        for line in PROMPT.findall(block):
            reader = shlex.shlex(line, posix=True, punctuation_chars=True)
            reader.whitespace_split = True
            words = list(reader)
            ends = [at for at, word in enumerate(words) if word in ENDS]
            for start, end in zip([-1, *ends], [*ends, len(words)], strict=True):
                if words[start + 1 : start + 2] == ["krafla"]:
                    yield words[start + 2 : end]


def complaint(words: list[str]) -> str | None:
    """Return what the command line finds wrong with its words; ``None`` if it takes them."""
    command = typer.main.get_command(application(words[0] if words else None))
    context, rest = None, list(words)
    try:
        while hasattr(command, "resolve_command"):
            context = command.make_context("krafla", rest, parent=context)
            _, command, rest = command.resolve_command(
                context, [*context._protected_args, *context.args]
            )
        command.make_context("krafla", rest, parent=context)
    except typer.Exit:
        # It asked for the help.
        return None
    except Exception as error:  # the errors of usage have no public name
        if not hasattr(error, "format_message"):
            raise
        return error.format_message()
    return None


def pages() -> list[Path]:
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for folder in ("docs", "specs", "examples", "traces"):
        found += (ROOT / folder).rglob("*.md")
    return sorted(found)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_are_understood(page):
    wrong = {
        " ".join(words): told
        for words in commands(page.read_text("utf-8"))
        if (told := complaint(words)) is not None
    }

    assert not wrong


def test_each_command_of_a_line_is_read():
    text = "```console\n$ cd a && krafla check b > c; krafla judge <d | head # krafla e\n```\n"

    assert list(commands(text)) == [["check", "b"], ["judge"]]


def test_the_readme_has_commands():
    assert len(list(commands((ROOT / "README.md").read_text("utf-8")))) > 0
    assert len(list(commands((ROOT / "specs" / "TOUR.md").read_text("utf-8")))) > 20


@pytest.mark.parametrize("line", ["check --teir full", "chekc", "fuzz lease --seconds sixty"])
def test_a_mistake_in_a_command_is_noticed(line):
    assert complaint(line.split())
