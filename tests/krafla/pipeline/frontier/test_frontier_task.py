"""The tasks themselves, in this process: what they are given decides what they find."""

from __future__ import annotations

import base64
from array import array
from collections import Counter
from dataclasses import replace

import pyarrow
import pytest
from tests.krafla.oracle.cut_specs import CUT_SPECS
from tests.krafla.pipeline.frontier.conftest import sample, written

from krafla.oracle import SpecError, explore
from krafla.oracle.batch import Batch
from krafla.pipeline.frontier.plan import Plan, loaded, plan_of
from krafla.pipeline.frontier.search import Level, Reached
from krafla.pipeline.frontier.seen import Seen
from krafla.pipeline.frontier.tally import Fault, Tally
from krafla.pipeline.frontier.task import Alone, Spread


@pytest.fixture(scope="module")
def planned():
    return plan_of(sample("Shapes", "Shapes"))


def ran(task, batches=()):
    """Return the rows of a task, and its tally."""
    rows = [row for batch in task(iter(batches)) for row in batch.to_pylist()]
    notes = [row["note"] for row in rows if row["note"] is not None]
    (note,) = notes
    return [row for row in rows if row["note"] is None], Tally.of(note)


def everything(plan):
    return Alone(plan.packed, 0, 10**6, 600.0, None, False)


def test_one_task_alone_finds_every_state(planned):
    plan, spec = planned

    rows, tally = ran(everything(plan))

    found = explore(spec)
    assert sorted(row["fp"] for row in rows) == sorted(found.fingerprints)
    assert tally.generated == found.generated
    assert Counter(row["depth"] for row in rows)[1] == 2
    assert max(row["depth"] for row in rows) == found.depth
    assert tally.left == 0


@pytest.mark.parametrize("cut", CUT_SPECS, ids=lambda cut: cut.name)
def test_where_steps_are_cut_invariants_are_asked_of_what_tlc_asks(tmp_path, cut):
    plan, _ = plan_of(written(tmp_path, cut.name, cut.text, cut.config))

    rows, tally = ran(everything(plan))

    assert (len(rows), tally.generated) == (cut.distinct, cut.generated)
    assert (tally.fault and tally.fault.name) == cut.violated
    level = pyarrow.RecordBatch.from_pylist(
        [{name: row[name] for name in ("fp", "state")} for row in rows]
    )
    _, spread = ran(Spread(plan.packed, 1), [level])
    assert (spread.fault and spread.fault.name) == cut.violated


def test_a_spec_that_asks_chance_is_refused(tmp_path):
    text = "EXTENDS Naturals, TLC\nVARIABLE x\nInit == x = 0\nNext == x' = RandomElement(0 .. 9)"

    with pytest.raises(SpecError, match=r"RandomElement.* other states"):
        plan_of(written(tmp_path, "Chance", text, "INIT Init\nNEXT Next\n"))
    words = text.replace("RandomElement(0 .. 9)", "1 (* RandomElement *)")
    plan_of(written(tmp_path, "Chance", words, "INIT Init\nNEXT Next\n"))


def test_parts_of_a_level_together_find_what_it_finds_whole(planned):
    plan, _ = planned
    rows, _ = ran(everything(plan))
    level = [row for row in rows if row["depth"] == 4]
    columns = {name: [row[name] for row in level] for name in ("fp", "state")}
    whole = pyarrow.RecordBatch.from_pydict(columns)
    half = len(level) // 2

    found, tally = ran(Spread(plan.packed, 4), [whole])
    one, first = ran(Spread(plan.packed, 4), [whole.slice(0, half)])
    other, second = ran(Spread(plan.packed, 4), [whole.slice(half)])

    assert {row["fp"] for row in found} | {row["fp"] for row in level} == (
        {row["fp"] for row in one + other} | {row["fp"] for row in level}
    )
    first.add(second)
    assert (first.generated, first.taken) == (tally.generated, tally.taken)
    assert {row["fp"] for row in rows if row["depth"] == 5} <= {row["fp"] for row in found}


def test_a_fingerprint_of_few_bits_loses_states_and_the_count_tells(planned, monkeypatch):
    plan, spec = planned
    right, distinct = Batch.successors, explore(spec).distinct

    def successors(self, function, chunk):
        sizes, states, prints = right(self, function, chunk)
        return sizes, states, array("q", [one & 0xFF for one in prints])

    monkeypatch.setattr(Batch, "successors", successors)

    rows, _ = ran(everything(plan))

    assert len(rows) <= 258 < distinct


def test_the_odds_of_a_collision_are_those_that_tlc_prints():
    tally = Tally(generated=1_000_000)
    reached = Reached([Level("level-000001", 1, 400_000, 0, tally)], tally)

    assert reached.collision_odds == pytest.approx(400_000 * 600_000 / 2**64)


def test_a_process_that_numbers_strings_differently_takes_no_part(planned):
    plan, _ = planned

    loaded(plan)
    with pytest.raises(SpecError, match="two processes"):
        loaded(replace(plan, model_values=(*plan.model_values, "other")))
    state, fingerprint = plan.samples[0]
    with pytest.raises(SpecError, match="two fingerprints"):
        loaded(replace(plan, samples=((state, fingerprint + 1),)))


def test_a_plan_is_told_by_its_content(planned):
    plan, _ = planned

    assert Plan.unpacked(plan.packed) == plan
    assert Plan.unpacked(plan.packed).digest == plan.digest
    assert replace(plan, config=f"{plan.config}\n").digest != plan.digest
    assert not [text for text in plan.strings if str(plan_path()) in text]


def plan_path():
    return sample("Shapes", "Shapes").module.parent


def test_the_samples_are_states_of_the_spec(planned):
    plan, spec = planned

    states = plan.codec(spec).decode([base64.b64decode(one) for one, _ in plan.samples])

    known = set(explore(spec).fingerprints)
    with spec.reduced():
        assert {int(one.fingerPrint()) for one in states} <= known
    assert len(plan.samples) > 1


def test_of_two_faults_the_one_at_the_end_of_the_shorter_way_is_shown():
    near, far = Fault(3, 1, "NearInv", 7), Fault(3, 0, "FarProp", 1, 2, 0, "00", is_step=True)
    one, other = Tally(expanded=1, fault=far, stuck=(4, 1)), Tally(expanded=2, fault=near)

    one.add(other)

    assert (one.fault, one.expanded, one.stuck) == (near, 3, (4, 1))
    assert Tally.of(one.as_json(task=3)) == one


def test_a_set_that_forgets_finds_again_and_one_that_was_given_states_does_not():
    import numpy

    seen = Seen(numpy.array([2, 5, 9]))
    assert seen.fresh(array("q", [5, 6, 6, 9, -1])) == [1, 4]
    assert seen.add(6)
    assert not seen.add(6)
    assert seen.fresh(array("q", [6, 7]), allowed=[1, 0]) == []
    seen.leave_out([7])
    assert seen.fresh(array("q", [7])) == []
