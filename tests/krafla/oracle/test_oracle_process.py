"""The JVM in the process: started by need, silent, not shared across a fork, gone at exit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from krafla.oracle import Spec
from krafla.oracle.jvm import undisturbed
from krafla.tlc.class_archive import archive_options
from krafla.tlc.jar import find_jar
from krafla.tlc.jre import find_jre

PRELUDE = """
import os, sys
from pathlib import Path
import krafla.oracle
from krafla.oracle import JvmError, Spec
constants = {"Colour": {"red"}, "Table": 1, "Red": "red"}
"""


def run(specs, program, **environment):
    return subprocess.run(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(program), str(specs)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **environment,
    )


def test_importing_the_oracle_starts_no_jvm(specs):
    found = run(specs, "import jpype; print(jpype.isJVMStarted())")

    assert (found.stdout, found.returncode) == ("False\n", 0)


def test_a_process_that_used_the_oracle_ends_silently_and_leaves_nothing(specs, tmp_path):
    found = run(
        specs,
        """
        spec = Spec.load("Shapes", constants, path=Path(sys.argv[1]))
        print(len(spec.initial_states()))
        """,
        env={"TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin", **_home()},
    )

    assert (found.stdout, found.stderr, found.returncode) == ("2\n", "", 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("brief", [True, False])
def test_the_heap_has_the_bound_that_the_environment_sets(specs, brief):
    program = f"""
        from krafla.oracle.jvm import java, start
        start(brief={brief})
        runtime = java("java.lang.Runtime").getRuntime()
        print(0 < int(runtime.maxMemory()) <= 256 << 20)
        """
    found = run(specs, program, env={**os.environ, "KRAFLA_ORACLE_HEAP_MIB": "256"})

    assert (found.stdout, found.stderr, found.returncode) == ("True\n", "", 0)


@pytest.mark.parametrize("bound", ["255", "1g", "-1"])
def test_a_bound_that_is_none_or_too_small_is_refused(specs, bound):
    program = "krafla.oracle.jvm.start()"
    found = run(specs, program, env={**os.environ, "KRAFLA_ORACLE_HEAP_MIB": bound})

    assert f"KRAFLA_ORACLE_HEAP_MIB is a number of MiB from 256 on, not '{bound}'" in found.stderr
    assert found.returncode == 1


def test_the_first_spec_takes_tlcs_classes_from_the_archive_and_the_second_has_its_own(specs):
    assert archive_options(find_jar(), find_jre())
    found = run(
        specs,
        """
        from krafla.oracle.jvm import java
        from krafla.values import ModelValue
        ballot = {"Replica": {1, 2}, "MaxEpoch": 1, "Nil": ModelValue("Nil")}
        loaded = [
            Spec.load("Shapes", constants, path=Path(sys.argv[1])),
            Spec.load("Ballot", ballot, path=Path(sys.argv[1])),
            Spec.load("Shapes", constants, path=Path(sys.argv[1])),
        ]
        mapped = java("java.lang.ClassLoader").getSystemClassLoader()
        for spec in loaded:
            loader = spec.classes("tlc2.tool.TLCState").class_.getClassLoader()
            print(loader.equals(mapped), len(spec.initial_states()), *spec.variables)
        """,
    )

    lines = found.stdout.splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["True", "False", "False"], found.stderr
    assert lines[0].partition(" ")[2] == lines[2].partition(" ")[2]
    assert (found.stderr, found.returncode) == ("", 0)


@pytest.mark.nightly
def test_threads_may_start_java_and_load_specs_at_once(specs):
    found = run(
        specs,
        """
        from concurrent.futures import ThreadPoolExecutor
        def load(_):
            return len(Spec.load("Shapes", constants, path=Path(sys.argv[1])).initial_states())
        with ThreadPoolExecutor(4) as threads:
            print(*threads.map(load, range(12)))
        """,
    )

    assert (found.stdout.split(), found.stderr, found.returncode) == (["2"] * 12, "", 0)


def test_a_forked_process_is_refused_clearly(specs):
    found = run(
        specs,
        """
        spec = Spec.load("Shapes", constants, path=Path(sys.argv[1]))
        child = os.fork()
        if child == 0:
            try:
                Spec.load("Shapes", constants, path=Path(sys.argv[1]))
            except JvmError as error:
                print(error, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        """,
    )

    assert "forked" in found.stdout
    assert "spawn" in found.stdout


def test_a_forked_process_never_collects_what_is_javas(specs):
    # JPype has Java collect whenever Python has collected, which no thread of a fork would do: in
    # about one process of 300 it came to that, and the process never ended.
    found = run(
        specs,
        """
        import gc
        Spec.load("Shapes", constants, path=Path(sys.argv[1]))
        def javas():
            return [call for call in gc.callbacks if call.__module__ == "_jpype"]
        gc.callbacks.append(print)
        gc.disable()
        print(len(javas()) > 0, flush=True)
        child = os.fork()
        if child == 0:
            print(len(javas()) > 0, print in gc.callbacks, gc.get_freeze_count() > 0, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        gc.callbacks.remove(print)
        print(len(javas()) > 0, gc.get_freeze_count())
        """,
    )

    assert found.stdout.splitlines() == ["True", "False True True", "True 0"], found.stderr


def test_an_interrupt_is_pythons_and_leaves_the_oracle_usable(specs):
    found = run(
        specs,
        """
        import signal
        # A shell has what it starts in the background ignore an interrupt.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        spec = Spec.load("Shapes", constants, path=Path(sys.argv[1]))
        try:
            signal.raise_signal(signal.SIGINT)
            # It comes by way of a thread of the JVM, so not at once.
            while True:
                spec.initial_states()
        except KeyboardInterrupt:
            print(len(spec.initial_states()))
        """,
    )

    assert (found.stdout, found.stderr, found.returncode) == ("2\n", "", 0)


def test_an_interrupt_that_another_thread_takes_waits_as_well():
    may_go = threading.Event()
    over = []

    def take():
        may_go.wait()
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    def go():
        with undisturbed():
            may_go.set()
            other.join()
            over.append(True)

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    # Before the context: a thread keeps the signals blocked that were so at its start.
    other = threading.Thread(target=take)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            go()
    finally:
        signal.signal(signal.SIGINT, handler)
    assert over == [True]


def test_what_a_spec_prints_does_not_reach_the_terminal(tmp_path, capfd):
    (tmp_path / "Loud.tla").write_text(
        "---- MODULE Loud ----\nEXTENDS TLC\nVARIABLE x\nInit == x = 1\n"
        'Next == PrintT("heard") /\\ x\' = x\n====\n'
    )
    spec = Spec.load("Loud", path=tmp_path)

    after = spec.apply(spec.state({"x": 1}), "Next")

    assert after["x"] == 1
    assert capfd.readouterr() == ("", "")


def _home():
    kept = ("HOME", "JAVA_HOME", "XDG_CACHE_HOME", "KRAFLA_TLA2TOOLS")
    return {name: os.environ[name] for name in kept if name in os.environ}


# What ends Java's process without a word is a fault for which no handler stands.
STANDS = """
import atexit, ctypes, faulthandler
def handler():
    found = ctypes.create_string_buffer(1024)
    ctypes.CDLL(None).sigaction(11, None, found)
    return found.raw[:8]
def stands(): return handler() == of_java
"""


def test_java_has_its_faults_again_at_the_end_of_the_process(specs):
    found = run(
        specs,
        textwrap.indent(STANDS, " " * 8)
        + """
        from krafla.oracle import jvm
        faulthandler.enable()
        atexit.register(lambda: print(stands()))
        jvm.start()
        of_java = handler()
        faulthandler.disable()
        print(stands())
        """,
    )

    assert (found.stdout.split(), found.stderr) == (["False", "True"], "")
    assert found.returncode == 0


def test_java_has_its_faults_again_when_pytest_has_run_its_tests(tmp_path):
    # What else cleans up after the last test may collect garbage, and have Java do the same.
    (tmp_path / "conftest.py").write_text(
        f"{STANDS}\n"
        "from krafla.oracle import jvm\n"
        "def pytest_configure(config): config.add_cleanup(lambda: print('stands:', stands()))\n"
        "def pytest_runtest_setup(item):\n"
        "    global of_java\n"
        "    jvm.start()\n"
        "    of_java = handler()\n"
    )
    (tmp_path / "test_one.py").write_text("def test_one(): pass\n")
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:xdist", tmp_path],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip

    assert "stands: True" in found.stdout
    assert found.returncode == 0
