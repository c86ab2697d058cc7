"""The command ``krafla``: one module for each verb, imported when that verb is used.

A verb's module defines ``command``, a function typer can read. It returns an ``ExitCode``
and raises ``KraflaError``; everything else about errors is settled here, once. A verb with several
actions defines ``ACTIONS`` instead, such a function for each, and ``HELP``.

What takes time to import, typer too, is imported once signals are listened to.
"""

from __future__ import annotations

import errno
import functools
import os
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from krafla.cli.interruption import Ending, leave
from krafla.interrupted import Terminated
from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable

    import typer

__all__ = ["VERBS", "application", "main"]

# Each verb in the order of the help, with its line there: the help imports no verb.
VERBS = {
    "init": "Write a small project of your own: a spec, code, a test, a workflow.",
    "check": "Check models with TLC; show counterexamples.",
    "explore": "Build the state graph of a model: paths, dead ends, a page to walk in.",
    "mutate": "Put mistakes into the specs, and see which property notices each.",
    "prove": "Prove invariants for any number of nodes, by z3 from the spec's text.",
    "fuzz": "Run code with random calls and faults; a spec judges each step.",
    "judge": "Judge the steps of a program in any language while it runs.",
    "validate": "Ask whether a trace, whole or partial, fits a behaviour of the spec.",
    "replay": "Play a trace on the spec or on the code.",
    "shrink": "Make a trace as small as possible while it still shows the same.",
    "explain": "Show a trace node by node, and what is false at its end.",
    "convert": "Convert a trace from or into TLC's formats and ITF.",
    "keep": "Keep a trace in a corpus, as a test from now on.",
    "verify": "Kafka: judge the models, the implementation and recorded logs.",
    "audit": "Kafka: audit the metadata logs of real clusters against the specs.",
    "record": "Kafka: run a real cluster through a scenario, and audit it.",
    "dump": "Kafka: print a metadata log as Kafka's own tool does.",
    "campaign": "Kafka: fuzz with very many seeds, in Spark.",
    "pipeline": "Kafka: read and audit very many logs, in Spark; report on a campaign.",
    "doctor": "Show what this installation found, and what is missing.",
}

# They are about Kafka, in whatever project they are started.
_ABOUT_SHIPPED = frozenset({"verify", "campaign", "audit", "record", "pipeline", "dump"})

_HELP = """Judge code, logs and models by TLA+ specs: yours, or those of Kafka's KRaft controller.

\b
Start here:
  krafla init lock          a spec, code and a test of your own
  krafla verify             Kafka's specs: the first verdict on everything
  krafla check --help       more about one command
\b
Exit status: 0 held, 1 violated, 2 could not run,
3 inconclusive, 4 crashed, 130 interrupted, 141 if
the reader of the output has left.
"""
# Errors of the file system, which are no fault of this program.
_OF_THE_WORLD = frozenset(
    {errno.EACCES, errno.EDQUOT, errno.EISDIR, errno.ENOENT, errno.ENOSPC, errno.ENOTDIR,
     errno.EPERM, errno.EROFS}
)  # fmt: skip
# A write that fails with one of these need not name the file.
_FULL = frozenset({errno.EDQUOT, errno.ENOSPC})
# The status that a shell reports for a program whose reader has left.
_BROKEN_PIPE = 128 + signal.SIGPIPE if hasattr(signal, "SIGPIPE") else 141


def main() -> NoReturn:
    """Run the command line and end the process with one of the statuses of ``ExitCode``."""
    ending = Ending()
    ending.listen()
    verb = next((word for word in sys.argv[1:] if not word.startswith("-")), None)
    try:
        status = _status(verb)
        ending.is_settled = True
    except KeyboardInterrupt:
        # It came between two other places.
        ending.is_settled = True
        status = ExitCode.INTERRUPTED
    if verb in VERBS:
        from krafla.scratch import sweep

        sweep()
    leave(status)


def _status(verb: str | None) -> int:
    """Run a verb and return its exit status."""
    import typer

    try:
        _guarded(_run)(verb)
    except typer.Exit as leaving:
        # Raised outside of any verb: by an import, the help, or the last flush of the output.
        return leaving.exit_code
    except SystemExit as leaving:
        return int(leaving.code or 0)
    return ExitCode.HELD


def _run(verb: str | None) -> None:
    if verb in VERBS:
        _warn_of_a_copy()
    if verb in _ABOUT_SHIPPED:
        from krafla.project.at_hand import put_shipped_at_hand

        put_shipped_at_hand()
    run = application(verb)
    try:
        run(prog_name="krafla")
    finally:
        sys.stdout.flush()


def _warn_of_a_copy() -> None:
    """Say so if another copy of krafla runs than the checkout of it that this is asked in.

    Its specs are others: an edit of those in the checkout would change no answer.
    """
    from pathlib import Path

    asked_in, mine = Path.cwd() / "model" / "krafla", Path(__file__).resolve().parents[1]
    if asked_in == mine or "KRAFLA_SPECS" in os.environ:
        return
    if asked_in.is_dir() and (asked_in.parents[1] / "specs" / "lib" / "models.toml").is_file():
        _say(
            f"krafla: judged are the specs installed with {mine}, not those here; "
            "KRAFLA_SPECS=specs judges these, `pip install -e .` runs this checkout"
        )


def application(verb: str | None) -> typer.Typer:
    """Return the command line in which ``verb`` is loaded; of the others only the help line is."""
    import typer

    def global_options(
        version: bool = typer.Option(
            False, "--version", help="Show the version and exit.", is_eager=True,
            callback=_show_version,
        ),
    ) -> None:  # fmt: skip
        pass

    app = typer.Typer(
        add_completion=False,
        help=_HELP,
        no_args_is_help=True,
        # Plain help is readable at any width and does not cost an import of rich.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(global_options)
    for name, line in VERBS.items():
        if name != verb:
            app.command(name, short_help=line)(_unloaded)
            continue
        module = _guarded(import_module)(f"{__name__}.{name}")
        if not hasattr(module, "ACTIONS"):
            _add(app, name, module.command, line)
            continue
        actions = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
        for action, (command, action_line) in module.ACTIONS.items():
            _add(actions, action, command, action_line)
        app.add_typer(actions, name=name, help=module.HELP, short_help=line)
    return app


def _add(app: typer.Typer, name: str, command: Callable[..., Any], line: str) -> None:
    from inspect import cleandoc

    text = cleandoc(command.__doc__ or line).replace("\\b", "\b")
    app.command(name, help=text, short_help=line)(_guarded(_alone(command)))


def _alone(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that leaves its project at hand, and what it read, for itself only."""

    @functools.wraps(command)
    def alone(*arguments: Any, **options: Any) -> Any:
        from krafla.pipes import pipes_kept
        from krafla.project.at_hand import kept_at_hand

        with kept_at_hand(), pipes_kept():
            try:
                return command(*arguments, **options)
            except Terminated:
                raise
            except SystemExit as error:
                # Typer ends with one, a command does not: its status would be taken for ours.
                raise RuntimeError(f"left by sys.exit({error.code!r})") from error

    return alone


def _show_version(wanted: bool) -> None:
    if wanted:
        import typer

        sys.stdout.write(f"krafla {_version()}\n")
        raise typer.Exit


def _version() -> str:
    from importlib.metadata import version

    return version("krafla")


def _unloaded() -> None:
    raise AssertionError("the verb that is run is the verb that is loaded")


def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with each way of failing turned into its exit status."""

    @functools.wraps(function)
    def guarded(*arguments: Any, **options: Any) -> Any:
        import typer

        try:
            result = function(*arguments, **options)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except KraflaError as error:
            _say(f"krafla: {error}")
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            _say("krafla: interrupted")
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        except BrokenPipeError:
            # The reader of our output has left.
            _give_up_stdout()
            raise typer.Exit(_BROKEN_PIPE) from None
        except OSError as error:
            if error.errno in _FULL and error.filename is None:
                _give_up_stdout()
                _say(f"krafla: what was to be written was not: {error.strerror}")
            elif error.errno in _OF_THE_WORLD and error.filename is not None:
                _say(f"krafla: {error.filename}: {error.strerror}")
            else:
                _report_crash(error)
                raise typer.Exit(ExitCode.CRASHED) from None
            raise typer.Exit(ExitCode.COULD_NOT_RUN) from None
        except SystemExit:
            raise
        except BaseException as error:  # noqa: BLE001  # the last resort: told whole, status 4
            _report_crash(error)
            raise typer.Exit(ExitCode.CRASHED) from None
        if isinstance(result, ExitCode):
            raise typer.Exit(int(result))
        return result

    return guarded


def _give_up_stdout() -> None:
    """Keep the interpreter from trying, at its end, to write the rest of the output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_crash(error: BaseException) -> None:
    """Say in one line that this program is at fault, and keep the rest in a file."""
    import tempfile
    import traceback

    report = "".join(traceback.format_exception(error))
    summary = f"{type(error).__name__}: {error}".splitlines()[0][:200]
    try:
        descriptor, name = tempfile.mkstemp(prefix="krafla-crash-", suffix=".txt")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"krafla {_version()}, Python {sys.version}\n")
            file.write(f"{sys.argv}\n{report}")
        where = f"details in {name}"
    except OSError:
        where = f"details:\n{report}"
    _say(f"krafla: crashed, this is a fault in krafla itself ({summary}); {where}")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
