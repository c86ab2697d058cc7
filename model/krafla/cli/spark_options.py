"""The options that every command on Spark has: where Spark runs, and what it is told."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from krafla.pipeline.session import Session

__all__ = [
    "Conf",
    "Master",
    "Packages",
    "Remote",
    "check_one_spark",
    "running_spark",
    "without_token",
]

Master = Annotated[
    str | None,
    typer.Option(
        help="Spark's master, as spark-submit takes it: local[N], spark://HOST:PORT, yarn,"
        " k8s://HOST:PORT; by default local[*].",
        show_default=False,
    ),
]
Remote = Annotated[
    str | None,
    typer.Option(
        metavar="sc://HOST:PORT", help="A running Spark Connect server to use instead of --master."
    ),
]
Conf = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="An option of Spark; may be repeated."),
]
Packages = Annotated[
    str,
    typer.Option(
        metavar="G:A:V,...",
        help="Maven packages that Spark loads, as for s3a://: org.apache.hadoop:hadoop-aws:3.5.0.",
        show_default=False,
    ),
]


@contextmanager
def running_spark(
    name: str,
    master: str | None,
    remote: str | None,
    conf: list[str] | None,
    packages: str,
    *,
    quiet: bool,
    reads: Sequence[str] = (),
    opens: str | None = None,
    writes: str | None = None,
) -> Iterator[Session]:
    """Yield a session as the options say, whose progress is shown in a line of the terminal.

    ``KraflaError`` if the options contradict each other; and, where tasks run on this machine, if a
    source that the command ``reads`` or a store that it ``opens`` is not there, or if it cannot
    make the one that it ``writes``.
    """
    from krafla.cli import screen
    from krafla.pipeline import session
    from krafla.pipeline.server import parse_settings

    check_one_spark(master, remote)
    settings = parse_settings(conf or [], packages)
    if _runs_here(master, remote):
        from krafla.pipeline.local_places import check_makeable, check_sources, check_store

        check_sources(reads)
        if opens is not None:
            check_store(opens)
        if writes is not None:
            check_makeable(writes)
    with screen.LiveLine(quiet=quiet) as live:
        live.begin("starting Spark" if remote is None else f"connecting to {without_token(remote)}")
        with session.session(
            name,
            master or session.DEFAULT_MASTER,
            remote=remote,
            settings=settings,
            show=live.show,
        ) as running:
            yield running


def _runs_here(master: str | None, remote: str | None) -> bool:
    """Return whether the tasks of a command run on this machine, with its disk."""
    return remote is None and (master or "local").startswith("local")


def without_token(remote: str) -> str:
    """Return the address of a server without its secret."""
    return re.sub(r"(token=)[^;/]*", r"\1...", remote)


def check_one_spark(master: str | None, remote: str | None) -> None:
    """Raise ``KraflaError`` if both kinds of Spark are asked for."""
    if master is not None and remote is not None:
        raise KraflaError("--master starts a Spark and --remote uses one that runs: give one")
