"""Where traces come from: walks, files of every format; what a file does not say is found."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.krafla.testing.lock_server import LockDriver

from krafla.testing import (
    AmbiguousStepWarning,
    ModelValue,
    NoBehaviour,
    Spec,
    Trace,
    counterexamples,
    drive,
    random_walks,
    shortest_paths,
    trace_files,
)
from krafla.testing.setting import Setting
from krafla.testing.walks import walk
from krafla.tlc.printout import dumps_printed
from krafla.traces import Observation, PartialTrace, Step, TraceFormatError, dumps
from krafla.traces.itf import dumps_itf
from krafla.traces.tlc_json import dumps_tlc_json
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.testing.setting import TraceSource

SPECS = Path(__file__).parent / "specs"
C1, C2 = ModelValue("c1"), ModelValue("c2")
PROJECT = """
[[model]]
cfg = "TwoPhaseHasty.cfg"
expect = "violates"
property = "AgreementInv"

[[model]]
module = "Lock.tla"
cfg = "LockRests.cfg"
expect = "violates"
property = "Rests"
"""
STATES = [("Nobody", []), ("c1", []), ("c1", ["c2"]), ("c2", [])]
STEPS = [("Acquire", (C1,)), ("Acquire", (C2,)), ("Release", (C1,))]


@pytest.fixture(scope="module")
def lock() -> Setting:
    return Setting(SPECS.parent, lambda: Spec.load(SPECS / "Lock.tla"))


@pytest.fixture(scope="module")
def dice() -> Setting:
    return Setting(SPECS.parent, lambda: Spec.load(SPECS / "Dice.tla"))


@pytest.fixture(scope="module")
def two_phase() -> Setting:
    return Setting(SPECS.parent, lambda: Spec.load(SPECS / "TwoPhase.tla"))


@pytest.fixture
def here(lock: Setting, tmp_path: Path) -> Setting:
    """The lock's spec, for a test in a folder of its own."""
    return Setting(tmp_path, lambda: lock.spec)


def made(setting: Setting, source: TraceSource) -> list[Any]:
    return [one.make() for one in source.cases(setting)]


def calls(trace: Trace) -> list[tuple[str, Any]]:
    return [(step.action, step.parameters) for step in trace.steps[1:]]


# --- random walks


@given(st.integers(), st.booleans())
def test_a_walk_is_a_behaviour_of_the_spec(lock: Setting, seed: int, rare_first: bool) -> None:
    spec = lock.spec
    (trace,) = made(lock, random_walks(1, 8, seed, rare_first=rare_first))
    assert len(trace) == 9
    state = spec.initial_states()[0]
    for step in trace.steps[1:]:
        state = spec.apply(state, step.action, *step.parameters)
        assert state.as_function() == step.state


def test_walks_of_one_seed_are_the_same_and_each_is_another(lock: Setting) -> None:
    first, again = made(lock, random_walks(6, 10, 1)), made(lock, random_walks(6, 10, 1))
    assert first == again
    assert len({tuple(map(str, calls(one))) for one in first}) == 6
    assert made(lock, random_walks(6, 10, 2)) != first


def test_walks_are_the_same_in_whatever_order_tlc_has_met_its_strings(tmp_path: Path) -> None:
    path, text = SPECS / "TwoPhase.tla", (SPECS / "TwoPhase.cfg").read_text()
    other = tmp_path / "other.cfg"
    other.write_text(text.replace('{"p1", "p2"}', '{"p2", "p1"}'))
    first, second = Spec.load(path), Spec.load(path, cfg=other)
    names = [
        [one[:2] for one in spec.successors(spec.initial_states()[0])] for spec in (first, second)
    ]
    assert names[0] != names[1]
    assert sorted(map(str, names[0])) == sorted(map(str, names[1]))
    assert [walk(first, 9, str(n)) for n in range(9)] == [walk(second, 9, str(n)) for n in range(9)]


def test_rare_actions_come_first_if_that_is_asked(dice: Setting) -> None:
    def share(*, rare_first: bool) -> float:
        traces = made(dice, random_walks(60, 1, 1, rare_first=rare_first))
        counts = Counter(trace.steps[1].action for trace in traces)
        return counts["Cheat"] / counts.total()

    # Three of the four steps are rolls.
    assert share(rare_first=False) < 0.4 < share(rare_first=True)


def test_what_a_walk_has_taken_often_becomes_rare(dice: Setting) -> None:
    def unevenness(*, rare_first: bool) -> int:
        found = 0
        for trace in made(dice, random_walks(10, 60, 1, rare_first=rare_first)):
            counts = Counter(step.action for step in trace.steps)
            found = max(found, abs(counts["Roll"] - counts["Cheat"]))
        return found

    assert unevenness(rare_first=True) <= 4 < unevenness(rare_first=False)


def test_a_walk_of_nothing_is_an_error() -> None:
    with pytest.raises(KraflaError, match="at least one walk of at least one step"):
        random_walks(1, 0)


# --- paths and counterexamples


def test_a_path_ends_with_its_action_and_none_is_shorter(lock: Setting) -> None:
    paths = {one.name: one.make() for one in shortest_paths("actions").cases(lock)}
    assert {name: (len(one) - 1, one.steps[-1].action) for name, one in paths.items()} == {
        "Acquire": (1, "Acquire"),
        "Release": (2, "Release"),
    }


def test_a_path_leads_to_each_effect_of_an_action(lock: Setting) -> None:
    paths = {one.name: one.make() for one in shortest_paths("effects").cases(lock)}
    assert {name: len(one) - 1 for name, one in paths.items()} == {
        "Acquire changes holder": 1,
        "Acquire changes queue": 2,
        "Release changes holder": 2,
        "Release changes holder, queue": 3,
    }
    for name, trace in paths.items():
        assert (
            f"{trace.steps[-1].action} changes {', '.join(trace.changed(len(trace) - 1))}" == name
        )


def test_a_path_to_a_conjunct_ends_with_the_refused_action(lock: Setting) -> None:
    paths = {one.name: one.make() for one in shortest_paths("conjuncts").cases(lock)}
    told = {name: (len(one) - 1, one.claim.conjunct.text) for name, one in paths.items()}
    assert told == {
        "Acquire: holder # c": (2, "holder # c"),
        "Acquire: c notin Waiting": (3, "c \\notin Waiting"),
        "Release: holder = c": (1, "holder = c"),
    }
    assert all(one.steps[-1].state == one.steps[-2].state for one in paths.values())


def test_what_no_state_shows_is_said_with_the_bounds(lock: Setting) -> None:
    cases = {one.name: one for one in shortest_paths("actions", states_max=1).cases(lock)}
    with pytest.raises(NoBehaviour, match=r"Release is never taken in the .* states of Lock; the"):
        cases["Release"].make()
    (case,) = counterexamples(invariants=["HolderInv"]).cases(lock)
    with pytest.raises(NoBehaviour, match="HolderInv holds in all 16 states of Lock"):
        case.make()


def test_a_model_that_holds_has_no_counterexample() -> None:
    setting = Setting(SPECS, lambda: Spec.load(SPECS / "Lock.tla"))
    (case,) = counterexamples("Lock.cfg").cases(setting)
    with pytest.raises(NoBehaviour, match="Lock breaks nothing in its 16 states"):
        case.make()


@pytest.fixture
def project(two_phase: Setting, tmp_path: Path) -> Setting:
    """A project with a model that must fail, and another that breaks a property of behaviours."""
    for file in SPECS.iterdir():
        (tmp_path / file.name).write_text(file.read_text())
    (tmp_path / "LockRests.cfg").write_text((SPECS / "Lock.cfg").read_text() + "PROPERTY Rests\n")
    module = (
        (SPECS / "Lock.tla")
        .read_text()
        .replace("Spec ==", "Rests == []<>(holder = Nobody)\nSpec ==")
    )
    (tmp_path / "Lock.tla").write_text(module)
    (tmp_path / "krafla.toml").write_text(PROJECT)
    return Setting(tmp_path, lambda: two_phase.spec)


def test_the_models_of_a_project_that_must_fail_are_counterexamples(project: Setting) -> None:
    cases = counterexamples().cases(project)
    assert [one.name for one in cases] == ["TwoPhaseHasty"]
    assert cases[0].make().steps[-1].state["state"]["p1"] != "working"
    with pytest.raises(KraflaError, match="no model 'TwoPhaseHast'; did you mean TwoPhaseHasty"):
        made(project, counterexamples("TwoPhaseHast"))
    lock = Setting(project.folder, lambda: Spec.load(SPECS / "Lock.tla"))
    with pytest.raises(KraflaError, match=r"the action [A-Z]\w+, which Lock does not have"):
        made(lock, counterexamples("TwoPhaseHasty"))


def test_a_project_without_such_models_says_so(lock: Setting, tmp_path: Path) -> None:
    (tmp_path / "krafla.toml").write_text("")
    (tmp_path / "Lock.tla").write_text((SPECS / "Lock.tla").read_text())
    setting = Setting(tmp_path, lambda: lock.spec)
    with pytest.raises(KraflaError, match=r"krafla.toml: no model of Lock that must fail"):
        counterexamples().cases(setting)


@pytest.mark.nightly
def test_a_counterexample_of_whole_behaviours_is_a_trace_too(project: Setting) -> None:
    spec = Spec.load(project.folder / "Lock.tla")
    (trace,) = made(Setting(project.folder, lambda: spec), counterexamples("LockRests"))
    assert trace.lasso is not None
    assert drive(LockDriver, trace, spec=spec).steps >= 1


def test_paths_lead_to_actions_or_conjuncts() -> None:
    with pytest.raises(KraflaError, match="not to 'states'"):
        shortest_paths("states")  # type: ignore[arg-type]  # the mistake


# --- files


def itf(states: list[dict[str, Any]], **more: Any) -> str:
    numbered = [{"#meta": {"index": n}, **state} for n, state in enumerate(states)]
    # Quint lists its own variables twice.
    names = [*states[0], *(name for name in states[0] if name.startswith("mbt::"))]
    return json.dumps({"#meta": {"format": "ITF"}, "vars": names, **more, "states": numbered})


def apalache() -> str:
    """The way Apalache writes a trace: no actions, model values with the name of their type."""

    def named(one: str) -> str:
        return f"{one}_OF_CLIENT"

    return itf([{"holder": named(who), "queue": list(map(named, row))} for who, row in STATES])


def quint() -> str:
    """The way Quint writes a trace with --mbt: names with their module, the action, the picks."""
    none = {"tag": "None", "value": {"#tup": []}}
    steps = [("init", none)] + [
        (name.lower(), {"tag": "Some", "value": str(client)}) for name, (client,) in STEPS
    ]
    return itf(
        [
            {"lock::holder": who, "lock::queue": row, "mbt::actionTaken": name,
             "mbt::nondetPicks": {"c": pick}}
            for (who, row), (name, pick) in zip(STATES, steps, strict=True)
        ]
    )  # fmt: skip


def plain(lock: Setting) -> Trace:
    """The same steps as a trace of krafla."""
    spec = lock.spec
    state = spec.initial_states()[0]
    steps = [Step("Init", (), state.as_function())]
    for name, parameters in STEPS:
        state = spec.apply(state, name, *parameters)
        steps.append(Step(name, parameters, state.as_function()))
    return Trace("Lock", tuple(steps))


FORMATS = {
    "ours.ndjson": dumps,
    "ours.itf.json": dumps_itf,
    "apalache.itf.json": lambda _: apalache(),
    "quint.itf.json": lambda _: quint(),
    "tlc.json": dumps_tlc_json,
    "tlc.txt": dumps_printed,
}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_of_each_format_is_the_same_trace(
    lock: Setting, here: Setting, name: str, packed: bool
) -> None:
    text = FORMATS[name](plain(lock))
    if packed:
        (here.folder / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    else:
        (here.folder / name).write_text(text)
    (case,) = trace_files("*").cases(here)
    assert case.name == name + ".gz" * packed
    trace = case.make()
    assert calls(trace) == STEPS
    assert trace.steps[-1].state == plain(lock).steps[-1].state
    assert drive(LockDriver, trace).steps == 3


def test_a_partial_trace_is_completed_by_the_spec(here: Setting) -> None:
    seen = ((("holder",), C1),), ((("queue",), (C2,)),), ((("holder",), C2),)
    observations = tuple(Observation(None, None, one) for one in seen)
    trace = PartialTrace("Lock", (Observation("Init"), *observations))
    (here.folder / "seen.trace.ndjson").write_text(dumps(trace))
    (found,) = made(here, trace_files("*.ndjson"))
    assert calls(found) == STEPS


def test_a_trace_that_lacks_a_variable_is_completed_by_the_spec(here: Setting) -> None:
    text = itf([{"holder": who} for who, _ in STATES])
    (here.folder / "less.itf.json").write_text(text)
    (found,) = made(here, trace_files("*.json"))
    assert calls(found) == STEPS


def test_a_variable_that_the_spec_does_not_have_is_an_error(here: Setting) -> None:
    text = itf([{"holder": who, "queue": row, "clock": 0} for who, row in STATES])
    (here.folder / "more.itf.json").write_text(text)
    with pytest.raises(KraflaError, match=r"more.itf.json: has a variable clock; Lock has"):
        made(here, trace_files("*.json"))


def test_a_step_of_no_action_is_an_error_with_its_number(here: Setting) -> None:
    text = itf([{"holder": who, "queue": []} for who in ("Nobody", "c1", "c2")])
    (here.folder / "odd.itf.json").write_text(text)
    with pytest.raises(KraflaError, match=r"odd.itf.json: step 2: no action of Lock leads to"):
        made(here, trace_files("*.json"))


def test_a_step_that_may_be_several_is_said_and_the_first_is_driven(
    dice: Setting, tmp_path: Path
) -> None:
    (tmp_path / "roll.itf.json").write_text(itf([{"face": 0}, {"face": 3}]))
    setting = Setting(tmp_path, lambda: dice.spec)
    with pytest.warns(AmbiguousStepWarning, match="step 1 is Roll or Cheat; Roll is driven"):
        (found,) = made(setting, trace_files("*.json"))
    assert calls(found) == [("Roll", ())]


def test_a_step_without_a_name_that_changes_nothing_is_left_out(here: Setting) -> None:
    states = [{"holder": who, "queue": row} for who, row in (*STATES[:1], *STATES)]
    (here.folder / "stutter.itf.json").write_text(itf(states))
    (found,) = made(here, trace_files("*.json"))
    assert calls(found) == STEPS


def test_a_pattern_without_a_file_and_a_file_without_a_trace_are_errors(here: Setting) -> None:
    with pytest.raises(KraflaError, match=r"no file matches '\*.itf.json'"):
        trace_files("*.itf.json").cases(here)
    (here.folder / "bad.json").write_text("{}")
    with pytest.raises(TraceFormatError, match=r"bad.json"):
        made(here, trace_files("bad.json"))


def test_files_of_a_broken_spec_must_be_refused(here: Setting) -> None:
    spec = here.spec
    state = spec.initial_states()[0].as_function()
    denied = Trace("Lock", (Step("Init", (), state), Step("Release", (C1,), state)))
    (here.folder / "denied.ndjson").write_text(dumps(denied))
    (claimless,) = made(here, trace_files("*.ndjson"))
    assert not claimless.claims_violation
    (trace,) = made(here, trace_files("*.ndjson", refused=True))
    assert drive(LockDriver, trace).refused == "Release(c1)"
