"""``krafla judge``: the steps of a program in any language, judged while it runs."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from krafla.cli.options import names_in
from krafla.cli.spec_options import Cfg, Constants, SpecOptions
from krafla.testing.judge_options import JudgeOptions
from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.testing.judge_session import JudgeSession

__all__ = ["command"]

# One line, in bytes.
_LINE_MOST = 4 * 1024 * 1024
_SCHEMAS = ("request", "answer", "log", "trace")

_Spec = Annotated[
    str | None,
    typer.Option(
        metavar="PATH", help="The spec: a .tla, a .cfg, a krafla.toml; by default the project's."
    ),
]
_Hidden = Annotated[
    list[str] | None,
    typer.Option(metavar="ACTION,...", help="Actions that may happen unseen; may be repeated."),
]
_AnyHidden = Annotated[bool, typer.Option("--any-hidden", help="Any action may happen unseen.")]
_MaxHidden = Annotated[
    int, typer.Option(metavar="N", help="Hidden steps followed in a row.", min=0)
]
_Invariant = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Judge this instead of the cfg's; may be repeated."),
]
_Property = Annotated[
    list[str] | None,
    typer.Option(
        "--property",
        metavar="NAME",
        help="Judge this of each step, instead of the cfg's; may be repeated.",
    ),
]
_Frontier = Annotated[
    int, typer.Option(metavar="N", help="Candidate states followed at a time.", min=1)
]
_Limit = Annotated[
    float,
    typer.Option(metavar="SECONDS", help="Time for one request; after that it is inconclusive."),
]
_Schema = Annotated[
    str | None,
    typer.Option(metavar="WHICH", help=f"Print a JSON Schema: {', '.join(_SCHEMAS)}."),
]


def command(
    spec: _Spec = None,
    cfg: Cfg = None,
    constants: Constants = None,
    hidden: _Hidden = None,
    any_hidden: _AnyHidden = False,
    max_hidden: _MaxHidden = JudgeOptions.hidden_max,
    invariant: _Invariant = None,
    property_name: _Property = None,
    frontier: _Frontier = JudgeOptions.frontier,
    limit_s: _Limit = JudgeOptions.limit_s,
    schema: _Schema = None,
) -> ExitCode:
    r"""Judge the steps of a program in any language while it runs.

    The program writes requests to the standard input, one JSON object a line, and reads a line of
    answer to each. The first line on the standard output says that the spec is loaded.

    \b
    {"start": {"seen": {"holder": "Free"}}}
    {"step": "Acquire", "parameters": ["c1"], "seen": {"holder": "c1"}}
    {"stay": {"seen": {"queue": []}}}
    {"refuse": "Acquire", "parameters": ["c2"], "seen": {"holder": "c1"}}
    {"enabled": "Release"}
    {"states": true}
    {"save": "found.ndjson"}

    "stay" says that the program took no step; "refuse", that it refused an action. "seen" may
    leave out variables. It may also be pairs of a path and a value: [[["queue", 1], "c2"]] shows
    the first element. "parameters" may have null for one that is not known. A string that names a
    model value of the spec is that model value. A request with "judge": "NAME" belongs to a run of
    its own, so one process serves many tests.

    Answers to such lines: a step that held, a step of a client that does not hold the lock, and a
    line that is no request.

    \b
    {"verdict":"held","candidates":1,"line":2}
    {"verdict":"violated","conjunct":"holder = c","values":{"holder":"c2","c":"c1"},...}
    {"error":"the request: no request 'stop'; did you mean step?","line":3}

    A line with an error is not judged, and the session goes on. At the end of the input a last
    line sums up.

    Exit status: 0 if every step held; 1 if one was violated; 2 if a line was no request, or the
    spec does not load; 3 if a judge could not tell, or no step was judged.

    \b
    Examples:
      krafla judge --spec Lock.tla --cfg Lock.cfg < requests.ndjson
      krafla judge --spec Lock.tla --hidden Timeout,Crash --max-hidden 2
      krafla judge --schema request
    """
    if schema is not None:
        return _print_schema(schema)
    options = SpecOptions(spec, cfg, constants)
    if spec is None and options.has_constants:
        raise typer.BadParameter("--cfg and --constants need --spec FILE.tla")
    if any_hidden and hidden:
        raise typer.BadParameter("--any-hidden leaves nothing for --hidden to name")
    judged = JudgeOptions(
        hidden=None if any_hidden else names_in(hidden),
        hidden_max=max_hidden,
        invariants=invariant,
        properties=property_name,
        frontier=frontier,
        limit_s=limit_s,
    )
    return _held(_answers_only(), lambda: _session(options, judged))


def _answers_only() -> BinaryIO:
    """Return the standard output for answers alone: all else goes to the standard error.

    Java writes to it past Python, as options in the environment tell it.
    """
    try:
        number = sys.stdout.fileno()
    except OSError:
        # It is no file, but something inside this process.
        return sys.stdout.buffer
    sink = os.fdopen(os.dup(number), "wb")
    os.dup2(sys.stderr.fileno(), number)
    return sink


def _held(sink: BinaryIO, load: Callable[[], JudgeSession]) -> ExitCode:
    """Hold a session on the standard streams, and return its status."""
    try:
        session = load()
    except KraflaError as error:
        # The program reads this, not what stands on the standard error.
        _send(sink, _unloaded(error))
        raise
    _send(sink, session.hello())
    if sys.stdin.isatty():
        sys.stderr.write("krafla judge: one request a line; Ctrl-D ends\n")
    try:
        _serve(session, sys.stdin.buffer, sink)
    finally:
        # After a signal, too: what was judged until then is told.
        _send(sink, session.summary())
    return session.status


def _session(options: SpecOptions, judged: JudgeOptions) -> JudgeSession:
    """Return a session whose spec is loaded; ``KraflaError`` says what is wrong."""
    from krafla.testing import Judge, Spec
    from krafla.testing.judge_session import JudgeSession

    source, constants = options.given()
    spec = Spec.load(
        source.module, dict(constants), cfg=source.config, search_path=source.search_path
    )
    return JudgeSession(Judge(spec, **vars(judged)))


def _unloaded(error: KraflaError) -> bytes:
    from krafla.testing.judge_session import unloaded

    return unloaded(str(error))


def _serve(session: JudgeSession, source: BinaryIO, sink: BinaryIO) -> None:
    """Answer each line, at once, until the input ends."""
    while line := source.readline(_LINE_MOST + 1):
        if len(line) > _LINE_MOST:
            while not line.endswith(b"\n") and (line := source.readline(_LINE_MOST)):
                pass
            _send(sink, session.too_long(_LINE_MOST))
            continue
        answer = session.answer(line)
        if answer is not None:
            _send(sink, answer)


def _send(sink: BinaryIO, line: bytes) -> None:
    sink.write(line)
    sink.flush()


def _print_schema(which: str) -> ExitCode:
    from krafla.testing.schemas import SCHEMAS

    if which not in SCHEMAS:
        raise typer.BadParameter(f"--schema is one of {', '.join(_SCHEMAS)}; not {which!r}")
    sys.stdout.write(SCHEMAS[which]())
    return ExitCode.HELD
