"""The page that says which questions get Kafka's answers.

`python -m tests.kraft.node.answers_page` writes it.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.kraft.node import java_calls, java_commands
from tests.kraft.node.known_differences import KNOWN
from tests.kraft.node.wire_calls import OF_A_STANDBY, STANDBY_CALLS, WIRE_CALLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tests.kraft.node.known_differences import Difference

PAGE: Final = Path(__file__).parents[3] / "docs" / "node-compatibility.md"

_START: Final = """# What Kafka's tools and AdminClient get from our controllers

`tests/kraft/node/test_kafka_answers.py` asks a cluster with Kafka's controllers and one with ours the same questions, by night: Kafka 4.1.0's tools with
`--bootstrap-controller`, its AdminClient with `bootstrap.controllers`, and requests that neither sends. Each cluster has a Java broker and the same history.
What a tool prints, its exit status, the class of an exception and the fields of an answer are equal, unless a table here says otherwise. {counts}

Not compared, because no two runs agree: ids, ports, times, offsets of the log's end, and the order in which Java's hash tables print.
Two things differ everywhere:

* **Sentences for people are our own.** An answer has a sentence where Kafka's has one. Where Kafka's has none, or the one that belongs to the error, a client shows that one.
* **There is no documentation of configurations**: the field is null, as if it had not been asked for.

AdminClient itself refuses what it does not send to controllers, `createTopics` for example, with UnsupportedEndpointTypeException.

In the command lines, CONTROLLER is `--bootstrap-controller HOST:PORT`, and BROKER-AS-CONTROLLER the same with a broker's port. SECOND is the configuration of
controller 3001, UNREACHABLE that of a controller that does not run, DIRECTORY an id that no directory has.

This page is made of the questions, by `python -m tests.kraft.node.answers_page`.
"""  # noqa: E501  # lines of a page


def page() -> str:
    """Return the text of the page."""
    static, dynamic = (
        list(dict.fromkeys(text.strip().splitlines()))
        for text in (java_commands.STATIC, java_commands.DYNAMIC)
    )
    counts = (
        f"{len(static) + len(dynamic)} command lines, {len(java_calls.CALLS)} calls of "
        f"AdminClient and {len(WIRE_CALLS) + len(STANDBY_CALLS)} requests are compared; "
        f"{len(KNOWN)} of them differ."
    )
    of_static = {name: one for name, one in KNOWN.items() if one.static}
    of_dynamic = {name: one for name, one in KNOWN.items() if one.dynamic}
    of_standby = {
        name.removesuffix(OF_A_STANDBY): one
        for name, one in KNOWN.items()
        if name.endswith(OF_A_STANDBY)
    }
    parts = [
        _START.format(counts=counts),
        "## Command lines on one static controller, 3000, and broker 0\n",
        *_commands(static, of_static),
        "## Command lines on a dynamic quorum of 3000, which 3001 joins\n",
        *_commands(dynamic, of_dynamic),
        "## Calls of AdminClient\n",
        *_named(java_calls.CALLS, KNOWN),
        "## Requests to the active controller\n",
        *_named(WIRE_CALLS, KNOWN),
        "## Requests to a controller that is not active\n",
        *_named(STANDBY_CALLS, of_standby),
    ]
    return "\n".join(parts)


def _commands(lines: list[str], known: Mapping[str, Difference]) -> Iterator[str]:
    yield "Equal:\n\n```text"
    yield from (line for line in lines if line not in known)
    yield "```\n"
    yield from _differences(lines, known)


def _named(names: Iterable[str], known: Mapping[str, Difference]) -> Iterator[str]:
    """Yield a table of what is equal, a row for each method or API, and one of what differs."""
    yield "| | equal |\n|---|---|"
    for about, group in groupby(sorted(names, key=_about), key=_about):
        equal = (name.removeprefix(about).lstrip(", ") for name in group if name not in known)
        texts = [one or "as it is" for one in equal]
        if texts:
            yield f"| {about} | {'; '.join(texts)} |"
    yield ""
    yield from _differences(names, known)


def _about(name: str) -> str:
    return name.split()[0].rstrip(",")


def _differences(names: Iterable[str], known: Mapping[str, Difference]) -> Iterator[str]:
    found = [name for name in names if name in known]
    if found:
        yield "| differs | how |\n|---|---|"
        yield from (f"| `{name}` | {known[name].what} |" for name in found)
        yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
