"""Each way a command can end has its exit status and one clear line."""

from __future__ import annotations

import ast
import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import krafla.cli
from krafla.cli import _warn_of_a_copy, application
from krafla.cli.interruption import Ending
from krafla.interrupted import Terminated
from krafla.verdict import ExitCode, KraflaError


@pytest.fixture
def run_verb(monkeypatch):
    """Return a function that runs ``krafla doctor`` with another body; it returns the status."""

    def run(body):
        monkeypatch.setattr(krafla.cli, "import_module", lambda _: SimpleNamespace(command=body))
        monkeypatch.setattr(sys, "argv", ["krafla", "doctor"])
        with pytest.raises(SystemExit) as left:
            application("doctor")()
        return left.value.code

    return run


@pytest.mark.parametrize("status", [ExitCode.HELD, ExitCode.VIOLATED, ExitCode.INCONCLUSIVE])
def test_the_status_a_verb_returns_is_the_exit_status(run_verb, status):
    assert run_verb(lambda: status) == status


def test_a_known_error_is_one_line_on_stderr_and_status_two(run_verb, capsys):
    def body():
        raise KraflaError("no such model", "manifest.toml:3")

    assert run_verb(body) == 2
    assert capsys.readouterr() == ("", "krafla: manifest.toml:3: no such model\n")


def test_an_interrupt_is_status_130(run_verb, capsys):
    def body():
        raise KeyboardInterrupt

    assert run_verb(body) == 130
    assert capsys.readouterr().err == "krafla: interrupted\n"


def test_an_interrupt_before_signals_are_listened_to_ends_alike():
    program = """
import sys
from importlib.abc import MetaPathFinder

class Interrupts(MetaPathFinder):
    def find_spec(self, name, *_):
        if name == "krafla.cli.interruption":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupts())
from krafla.__main__ import main
main()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (130, "krafla: interrupted\n")


def test_what_a_file_system_refuses_is_status_two_with_the_file(run_verb, capsys, tmp_path):
    def body():
        (tmp_path / "no folder" / "file").write_text("x")

    assert run_verb(body) == 2
    assert "no folder/file: No such file or directory\n" in capsys.readouterr().err


def test_an_error_of_the_system_that_names_no_file_is_a_crash(run_verb, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def body():
        raise OSError(errno.EBADF, "Bad file descriptor")

    assert run_verb(body) == 4


def test_a_full_disk_is_status_two_whoever_writes_to_it(run_verb, monkeypatch, capsys):
    given_up = []
    monkeypatch.setattr(krafla.cli, "_give_up_stdout", lambda: given_up.append(True))

    def body():
        raise OSError(errno.ENOSPC, "No space left on device")

    assert run_verb(body) == 2
    assert given_up
    assert capsys.readouterr().err == (
        "krafla: what was to be written was not: No space left on device\n"
    )


def test_a_reader_that_leaves_ends_the_command_as_a_shell_expects_and_in_silence():
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-c", "from krafla.cli import main; main()", "check", "--list"]
    ended = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)

    assert (ended.returncode, ended.stderr) == (128 + signal.SIGPIPE, "")


@pytest.fixture
def ending(monkeypatch):
    """The handlers of signals that `main` installs."""
    ending = Ending()
    monkeypatch.setattr(sys, "unraisablehook", ending.swallowed)
    handlers = {
        signal.SIGINT: ending.asked,
        signal.SIGTERM: ending.asked,
        signal.SIGALRM: ending.asked_again,
    }
    kept = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    yield ending
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number, handler in kept.items():
        signal.signal(number, handler)


def signal_within(number, module, file, out):
    """Send ourselves a signal in code that belongs to another module or file, by its name."""
    code = "os.kill(os.getpid(), number)\ntime.sleep(0.05)\nout.append('undisturbed')"
    names = {"__name__": module, "os": os, "number": number, "time": time, "out": out}
    exec(compile(code, file, "exec"), names)
    time.sleep(10)
    out.append("not interrupted")


@pytest.mark.parametrize(
    ("number", "raised"),
    [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)],
    ids=["interrupt", "end"],
)
@pytest.mark.parametrize(
    ("module", "file"),
    [("jpype._jclass", "_jclass.py"), ("importlib._bootstrap", "<frozen importlib._bootstrap>")],
    ids=["Java", "an import"],
)
@pytest.mark.usefixtures("ending")
def test_a_signal_waits_until_what_must_not_be_interrupted_is_over(number, raised, module, file):
    out: list[str] = []
    with pytest.raises(raised):
        signal_within(number, module, file, out)
    assert out == ["undisturbed"]


@pytest.mark.usefixtures("ending")
def test_elsewhere_a_signal_does_not_wait():
    out: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        signal_within(signal.SIGINT, "krafla.somewhere", "somewhere.py", out)
    assert out == []


class InterruptedAtTheEnd:
    """Whoever drops it is interrupted in its destructor, which can raise nothing."""

    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)


def drop_what_is_interrupted():
    InterruptedAtTheEnd()
    time.sleep(10)
    raise AssertionError("not interrupted")


@pytest.mark.usefixtures("ending")
def test_an_interrupt_that_python_drops_comes_again():
    with pytest.raises(KeyboardInterrupt):
        drop_what_is_interrupted()


def test_a_crash_is_one_line_a_file_with_the_rest_and_status_four(
    run_verb, capsys, monkeypatch, tmp_path
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def body():
        return {}["secret key"]

    assert run_verb(body) == 4
    line = capsys.readouterr().err
    (report,) = tmp_path.iterdir()
    assert line.count("\n") == 1
    assert str(report) in line
    assert "Traceback" in report.read_text()
    assert "secret key" in report.read_text()


@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit()], ids=["exit", "other"])
def test_a_verb_that_leaves_by_an_error_of_another_kind_is_a_crash(
    error, run_verb, capsys, monkeypatch, tmp_path
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def body():
        raise error

    assert run_verb(body) == 4
    assert "krafla: crashed, this is a fault in krafla itself (" in capsys.readouterr().err


def test_a_verb_that_is_terminated_keeps_the_status_of_the_signal(run_verb):
    def body():
        raise Terminated(143)

    assert run_verb(body) == 143


def test_a_verb_that_cannot_be_imported_is_a_crash_with_its_file(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def fail(_name):
        raise ImportError("missing")

    monkeypatch.setattr(krafla.cli, "import_module", fail)
    monkeypatch.setattr(sys, "argv", ["krafla", "doctor"])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(krafla.cli, "leave", sys.exit)
    with pytest.raises(SystemExit) as left:
        krafla.cli.main()
    assert left.value.code == 4
    assert "ImportError: missing" in capsys.readouterr().err
    assert len(list(tmp_path.iterdir())) == 1


def krafla_process(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-c", "from krafla.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", **environment},
        check=False,
    )


@pytest.mark.parametrize("width", ["10", "80"])
def test_the_help_shows_every_verb_and_its_whole_line_at_any_width(width):
    finished = krafla_process("--help", COLUMNS=width)

    assert finished.returncode == 0
    shown = " ".join(finished.stdout.split())
    assert all(f"{verb} {line}" in shown for verb, line in krafla.cli.VERBS.items())
    assert "Exit status" in finished.stdout
    assert "\x1b" not in finished.stdout


def test_an_unknown_verb_is_a_usage_error():
    finished = krafla_process("frobnicate")

    assert finished.returncode == 2
    assert "frobnicate" in finished.stderr
    assert "Traceback" not in finished.stderr


# Each takes a part of the 0.3 s in which a refusal should come; those of the help, of its 0.15 s.
HEAVY = {"hypothesis", "jgo", "jpype", "networkx", "numpy", "pyspark", "z3"}
HEAVY_FOR_HELP = {*HEAVY, "importlib.metadata", "krafla.manifest", "pydantic", "rich", "tempfile"}


@pytest.mark.parametrize(
    ("line", "status", "heavy"),
    [
        ("--help", 0, HEAVY_FOR_HELP),
        ("frobnicate", 2, HEAVY),
        ("audit nowhere", 2, HEAVY),
        ("check NoSuchModel", 2, HEAVY),
        ("explore NoSuchModel", 2, HEAVY),
        ("fuzz lease --exampels 3", 2, HEAVY),
        ("replay nowhere.ndjson", 2, HEAVY),
        ("validate nowhere.ndjson", 2, HEAVY),
    ],
)
def test_help_and_refusals_import_nothing_heavy(line, status, heavy):
    code = (
        "import sys, krafla.cli\n"
        "krafla.cli.leave = lambda status: print('left', status, sorted(sys.modules))\n"
        "krafla.cli.main()"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code, *line.split()], capture_output=True, text=True, check=True
    )

    _, ended, modules = finished.stdout.splitlines()[-1].split(maxsplit=2)
    assert int(ended) == status
    assert heavy & {*ast.literal_eval(modules)} == set()


def test_the_version_is_told():
    assert krafla_process("--version").stdout.startswith("krafla ")


@pytest.mark.parametrize(
    ("package", "words", "refusal"),
    [
        ("krafla", ["check", "NoSuchModel"], "krafla: "),
        ("kraft", ["storage", "info", "-c", "/no/such/file"], "kraft: /no/such/file: "),
    ],
)
def test_python_dash_m_is_the_command(package, words, refusal):
    ended = subprocess.run(
        [sys.executable, "-m", package, *words], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(refusal)


@pytest.mark.parametrize(
    ("made", "specs", "is_told"),
    [
        (("model/krafla", "specs/lib"), None, True),
        (("model/krafla", "specs/lib"), "specs", False),
        (("specs/lib",), None, False),
        (("model/krafla",), None, False),
    ],
    ids=["a checkout", "specs that are named", "no krafla", "no specs"],
)
def test_another_checkout_is_told_that_it_is_not_what_is_judged(
    tmp_path, monkeypatch, capsys, made, specs, is_told
):
    for folder in made:
        (tmp_path / folder).mkdir(parents=True)
    if "specs/lib" in made:
        (tmp_path / "specs" / "lib" / "models.toml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KRAFLA_SPECS", raising=False)
    if specs is not None:
        monkeypatch.setenv("KRAFLA_SPECS", specs)
    _warn_of_a_copy()
    told = capsys.readouterr().err
    assert ("KRAFLA_SPECS=specs judges these" in told) is is_told


def test_the_checkout_that_runs_is_told_nothing(monkeypatch, capsys):
    monkeypatch.chdir(Path(__file__).parents[3])
    monkeypatch.delenv("KRAFLA_SPECS", raising=False)
    _warn_of_a_copy()
    assert capsys.readouterr().err == ""
