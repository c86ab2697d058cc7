"""Runs of TLC that follow one another in one JVM: each is as in a JVM of its own."""

from __future__ import annotations

import os
import signal
from dataclasses import fields, replace

import pytest
from tests.krafla.unlisted_models import model_of

from krafla.manifest import find_specs, load
from krafla.tlc import warm_java
from krafla.tlc.command import Options, Simulation, prepare
from krafla.tlc.config import read_config
from krafla.tlc.jar import find_jar
from krafla.tlc.jre import find_jre
from krafla.tlc.outcome import (
    Finished,
    Interrupted,
    Killed,
    TemporalPropertyViolated,
    violated_names,
)
from krafla.tlc.run import run
from krafla.tlc.warm_java import warm_javas

# Of its own JVM: what it cost, how it was started, and advice which collector to use.
OF_A_JAVA = {"seconds", "java_command", "warnings"}
# Two specs, of other variables and other names; liveness and an invariant that fail, and hold.
DIFFERENT = ("NobodyFetches", "MCAtomicController", "ForgottenHighWatermark", "MCReplicatedLogLive")
# Strings have other numbers, and liveness is searched in their order: it may find another lasso.
OF_LIVENESS = {"counterexample"}


def models(names=None, tier=None):
    return load(find_specs()).select(names or (), tier)


def facts(model):
    """Return what a run says of a model, whichever JVM it has."""
    result = run(model, coverage=False)
    left_out = OF_A_JAVA
    if isinstance(result.outcome, TemporalPropertyViolated):
        left_out = OF_A_JAVA | OF_LIVENESS
    return {one.name: getattr(result, one.name) for one in fields(result)} | dict.fromkeys(left_out)


@pytest.fixture(autouse=True)
def no_javas(monkeypatch):
    """Hide those of a test module that runs all of its models in them."""
    monkeypatch.setattr(warm_java, "_pool", None)


@pytest.fixture
def javas(scratch, started):
    """The processes that runs have started, in a context in which JVMs stay warm."""
    with warm_javas():
        yield started
    assert list(scratch.iterdir()) == []


def test_a_run_says_what_it_says_in_a_java_of_its_own(javas):
    first, *others = models(DIFFERENT)
    order = [first, *others, first, *reversed(others)]
    found = [facts(model) for model in order]
    in_one_java = len(javas)

    assert in_one_java == 1
    assert found[: len(DIFFERENT)] == [found[len(DIFFERENT)], *found[: len(DIFFERENT) : -1]]
    with pytest.MonkeyPatch.context() as alone:
        alone.setattr(warm_java, "_pool", None)
        assert [facts(model) for model in (first, *others)] == found[: len(DIFFERENT)]
    assert len(javas) == in_one_java + len(DIFFERENT)


def test_no_definition_of_an_earlier_run_gives_its_place_to_another_of_this_one(javas, tmp_path):
    # TLC's classes keep the string "queue" themselves, and with it its place in a table of a spec.
    steps = "VARIABLE x\nInit == x = 0\nNext == x' = 1 - x\n"
    found = []
    for name, more in (("One", ""), ("Two", "ZeroInv == x < 1\n")):
        module, config = tmp_path / f"{name}.tla", tmp_path / f"{name}.cfg"
        text = f"---- MODULE {name} ----\nEXTENDS Naturals\n{steps}{more}queue == TRUE\n====\n"
        module.write_text(text)
        invariants = f"INVARIANT {'ZeroInv ' if more else ''}queue\n"
        config.write_text(f"INIT Init\nNEXT Next\n{invariants}")
        found.append(run(model_of(module, config), coverage=False).outcome)

    assert isinstance(found[0], Finished)
    assert violated_names(found[1]) == ("ZeroInv",)
    assert len(javas) == 1


@pytest.mark.nightly
def test_each_model_says_what_it_says_in_a_java_of_its_own():
    every = [one for one in models(tier="full") if one.kind != "simulation"]
    with warm_javas():
        found = {model.name: facts(model) for model in every}

    wrong = [model.name for model in every if facts(model) != found[model.name]]
    assert not wrong


def test_runs_at_once_have_a_java_each_and_all_end_with_the_context(scratch, started):
    with warm_javas():
        with warm_java._pool.lent() as one, warm_java._pool.lent() as other:
            assert one is not other
        with warm_java._pool.lent() as later:
            assert later in (one, other)
        with warm_javas():
            pass
        assert [java.poll() for java in started] == [None, None]
    assert None not in [java.poll() for java in started]
    assert list(scratch.iterdir()) == []


@pytest.mark.nightly
def test_a_run_out_of_time_ends_its_java_and_the_next_run_has_another(endless, counter, javas):
    result = run(endless, timeout=4.0, coverage=False)

    assert isinstance(result.outcome, Interrupted)
    assert javas[0].poll() is not None
    assert isinstance(run(counter("SPECIFICATION Spec"), coverage=False).outcome, Finished)
    assert len(javas) == 2


def test_a_java_killed_by_another_is_told_with_its_signal(endless, javas):
    def kill(_progress):
        os.kill(javas[0].pid, signal.SIGKILL)

    result = run(endless, progress=kill, coverage=False)

    assert result.outcome == Killed(signal.SIGKILL)


def test_a_ctrl_c_passes_through_and_ends_its_java(endless, javas):
    def interrupt(_progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(endless, progress=interrupt, coverage=False)

    assert javas[0].poll() is not None


def test_a_java_killed_between_two_runs_is_replaced(counter, javas):
    model = counter("SPECIFICATION Spec")
    run(model, coverage=False)
    os.kill(javas[0].pid, signal.SIGKILL)
    javas[0].wait()

    assert isinstance(run(model, coverage=False).outcome, Finished)
    assert len(javas) == 2


def test_where_no_java_stays_each_run_has_its_own(counter, javas, tmp_path, monkeypatch):
    program = tmp_path / "fails.py"
    program.write_text("raise SystemExit(1)")
    monkeypatch.setattr(warm_java, "_PROGRAM", program)

    result = run(counter("SPECIFICATION Spec"), coverage=False)

    assert isinstance(result.outcome, Finished)
    assert [one.args[0] == result.java_command[0] for one in javas] == [False, True]


@pytest.mark.parametrize(
    "options",
    [{"coverage": True}, {"workers": 2}, {"heap_mb": 600}, {"simulation": Simulation(10)}],
)
def test_a_run_that_asks_more_of_java_has_its_own(counter, tmp_path, options):
    model = counter("SPECIFICATION Spec")
    config = read_config(model.config)
    tools = {"jar": find_jar(), "jre": find_jre(), "folder": tmp_path}
    plain = Options(coverage=False)

    assert not prepare(model, config, replace(plain, **options), **tools).fits_any_java
    for name in ("states", "tmp"):
        (tmp_path / name).rmdir()
    assert prepare(model, config, plain, **tools).fits_any_java
