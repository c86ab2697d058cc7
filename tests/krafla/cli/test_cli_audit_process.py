"""`krafla audit` as a process of its own: it ends, even where the JVM had nothing to do."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path
from threading import Event, Thread

import pytest

from krafla.audit.specs import LoadingSpec

SMALL_LOG = str(Path(__file__).parents[3] / "traces/kafka-4.1/combined")
SECONDS_MAX = 120.0  # far more than it takes; a process that waits for the JVM never ends


@pytest.mark.parametrize(("make", "status"), [(False, 2), (True, 2)])
def test_an_audit_with_nothing_to_judge_ends(tmp_path, make, status):
    path = tmp_path / "nothing"
    if make:
        path.mkdir()
    finished = subprocess.run(
        [sys.executable, "-c", "from krafla.cli import main; main()", "audit", str(path)],
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert finished.returncode == status, finished.stdout + finished.stderr
    assert finished.stderr.startswith(f"krafla: {path}: ")
    assert "Traceback" not in finished.stderr


# Sends the process a signal as soon as its other thread calls a function.
SIGNALLED = """
import os, signal, sys
from importlib import import_module
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
module, name, number = sys.argv.pop(1), sys.argv.pop(1), int(sys.argv.pop(1))
module = import_module(module)
function = getattr(module, name)
def signalled(*arguments, **options):
    os.kill(os.getpid(), number)
    return function(*arguments, **options)
setattr(module, name, signalled)
from krafla.cli import main; main()
"""


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["interrupt", "end"]
)
@pytest.mark.parametrize(
    ("module", "name"),
    [("krafla.oracle.jvm", "start"), ("krafla.oracle.loader", "_start_tool")],
    ids=["Java starts", "TLC loads a spec"],
)
def test_a_signal_ends_it_while_its_other_thread_is_in_java(module, name, number, status):
    command = [sys.executable, "-c", SIGNALLED, module, name, str(int(number)), "audit", SMALL_LOG]
    finished = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )
    assert finished.returncode == status, finished.stderr
    assert finished.stdout == ""
    assert finished.stderr in {"", "krafla: interrupted\n"}


def within(function, thread):
    """Return whether a thread is within a call of a function."""
    frame = sys._current_frames()[thread.ident]
    while frame is not None and frame.f_code is not function.__code__:
        frame = frame.f_back
    return frame is not None


def test_an_interrupted_wait_for_the_specs_does_not_take_their_thread_for_ended(monkeypatch):
    may_end = Event()
    monkeypatch.setattr(LoadingSpec, "_load", lambda _: may_end.wait(SECONDS_MAX))
    loading = LoadingSpec()
    (thread,) = (one for one in threading.enumerate() if one.name == "load the spec")
    main = threading.main_thread()

    def interrupt():
        while not within(LoadingSpec.get, main) or not within(Event.wait, thread):
            pass
        signal.pthread_kill(main.ident, signal.SIGINT)

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            Thread(target=interrupt).start(), loading.get()
        assert thread.is_alive()
    finally:
        signal.signal(signal.SIGINT, handler)
        may_end.set()
