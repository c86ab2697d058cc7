"""The judge agrees with every step of the spec, and with no other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from krafla.oracle.difference import Difference
from krafla.oracle.properties import Properties
from krafla.refinement.common.judged_spec import JudgedSpec
from krafla.refinement.common.judgement import Agreed, Divergence, PropertyViolated
from krafla.refinement.common.lockstep import Judge
from krafla.refinement.lease import spec as lease_spec
from krafla.refinement.lease.mapping import LeaseMapping
from krafla.refinement.lease.properties import MODULE, read_properties
from krafla.refinement.lease.vocabulary import Vocabulary
from krafla.traces.spec_facts import facts_of
from krafla.values import same
from krafla.verdict import KraflaError
from kraft.controller.operations.heartbeats import HeartbeatState
from kraft.sim.common.step import Done, Refused, StepResult
from kraft.sim.lease import choices
from kraft.sim.lease.cluster import first_cluster
from kraft.sim.lease.configuration import Configuration, processes
from kraft.sim.lease.step import replay_choices

SMALL = Configuration(
    processes(1, 2), session_timeout_ms=3, heartbeat_interval_ms=1, request_timeout_ms=2
)
FIRST, SECOND = (one.incarnation_id for one in SMALL.processes)
UNTIL_UNFENCED = (
    choices.StartBroker(FIRST),
    choices.SendRegistration(FIRST),
    choices.Deliver(0),
    choices.Deliver(1),
    choices.ReplayMetadata(FIRST, 0),
    choices.SendHeartbeat(FIRST, want_fence=True),
    choices.Tick(1),
    choices.Deliver(2),
    choices.Deliver(3),
    choices.SendHeartbeat(FIRST, want_fence=False),
    choices.Deliver(4),
    choices.Deliver(5),
)


def steps_of(*chosen, configuration=SMALL):
    return list(replay_choices(configuration, chosen))


def judged(steps, judge=None):
    judge = judge or lease_spec.judge(SMALL)
    return [judge.judge(step) for step in steps]


def with_contact(cluster, contact_time_ms):
    """The cluster with another time at which broker 1 was last heard."""
    beats = cluster.controller.heartbeats
    state = replace(beats.brokers[1], contact_time_ms=contact_time_ms)
    beats = replace(beats, brokers=beats.brokers.set(1, state))
    return replace(cluster, controller=replace(cluster.controller, heartbeats=beats))


def test_every_step_until_a_broker_is_unfenced_is_an_action_of_the_spec():
    names = [judgement.action.name for judgement in judged(steps_of(*UNTIL_UNFENCED))]
    assert names == [
        "StartBroker", "SendRegistration", "RegisterBroker", "HandleRegistrationResponse",
        "ReplayMetadata", "SendHeartbeat", "Tick", "KeepFenced", "HandleHeartbeatResponse",
        "SendHeartbeat", "UnfenceBroker", "HandleHeartbeatResponse",
    ]  # fmt: skip


def test_the_spec_is_in_the_state_that_the_cluster_maps_to():
    steps = steps_of(*UNTIL_UNFENCED)
    judge = lease_spec.judge(SMALL)
    judged(steps, judge)
    fresh = LeaseMapping(Vocabulary.of(SMALL)).variables(steps[-1].after)
    assert fresh.keys() == set(judge.state)
    assert all(same(judge.state[name], value) for name, value in fresh.items())


def test_a_wrong_state_is_a_divergence_that_names_the_variable_and_the_values():
    *good, last = steps_of(*UNTIL_UNFENCED[:8])
    judge = lease_spec.judge(SMALL)
    judged(good, judge)
    finding = judge.judge(replace(last, after=with_contact(last.after, 0)))
    assert isinstance(finding, Divergence)
    assert finding.action.name == "KeepFenced"
    assert finding.variables == ("contact_age",)
    assert Difference("contact_age[1]", 0, 1, ("contact_age", 1)) in finding.explanation.differences
    assert judge.finding is finding


def test_an_action_that_the_spec_forbids_is_a_divergence_that_names_the_conjunct():
    *good, last = steps_of(*UNTIL_UNFENCED[:8])
    judge = lease_spec.judge(SMALL)
    judged(good, judge)
    finding = judge.judge(replace(last, outcome=Done("UnfenceBroker")))
    assert isinstance(finding, Divergence)
    assert finding.variables == ()
    assert "NextBrokerState(b, m) = next" in str(finding)
    assert "BrokerLease.tla:" in str(finding)


def test_a_state_that_changed_without_a_step_is_a_divergence():
    judge = lease_spec.judge(SMALL)
    (first,) = steps_of(choices.FailOver())
    judge.judge(first)
    moved = replace(first.after, controller_time_ms=0, network=())
    stale = StepResult(
        replace(moved, log=moved.log, controller=first.before.controller),
        moved,
        choices.FailOver(),
        Done("FailOver"),
    )
    finding = judge.judge(stale)
    assert isinstance(finding, Divergence)
    assert finding.action.name == "Init"
    assert "log_end" in finding.variables


def test_a_refusal_is_right_where_the_spec_has_no_step_either():
    assert judged(steps_of(choices.SendRegistration(FIRST), choices.Deliver(7))) == [
        Agreed(None),
        Agreed(None),
    ]


def test_refusing_what_the_spec_allows_is_a_divergence():
    cluster = first_cluster(SMALL)
    step = StepResult(cluster, cluster, choices.StartBroker(FIRST), Refused("not today"))
    finding = lease_spec.judge(SMALL).judge(step)
    assert isinstance(finding, Divergence)
    assert "refuses StartBroker" in str(finding)
    assert "not today" in str(finding)


def test_a_refusal_that_changes_something_is_a_divergence():
    (step,) = steps_of(choices.FailOver())
    finding = lease_spec.judge(SMALL).judge(replace(step, outcome=Refused("no")))
    assert isinstance(finding, Divergence)
    assert "log_end" in finding.variables


def test_a_tick_backwards_is_no_step_of_the_spec():
    assert judged(steps_of(choices.Tick(-1))) == [Agreed(None)]


@pytest.mark.parametrize("name", ["NoOverlapInv", "OneServerPerIdInv"])
def test_kafka_as_built_breaks_the_properties_of_brokers_that_fence_themselves(name):
    """The judge checks this only on request: in Kafka a fenced broker keeps serving."""
    crash_free = (*UNTIL_UNFENCED, choices.Tick(4), choices.FenceStaleBroker(1))
    assert all(isinstance(judgement, Agreed) for judgement in judged(steps_of(*crash_free)))
    second_runs = (
        choices.StartBroker(SECOND),
        choices.SendRegistration(SECOND),
        choices.Deliver(6),
        choices.Deliver(7),
        choices.ReplayMetadata(SECOND, 3),
        choices.SendHeartbeat(SECOND, want_fence=True),
        choices.Deliver(8),
        choices.Deliver(9),
        choices.SendHeartbeat(SECOND, want_fence=False),
        choices.Deliver(10),
        choices.Deliver(11),
    )
    judge = lease_spec.judge(SMALL, also=(name,))
    for step in steps_of(*crash_free, *second_runs):
        judgement = judge.judge(step)
        if not isinstance(judgement, Agreed):
            break
    assert isinstance(judgement, PropertyViolated)
    assert judgement.name == name
    assert judgement.explanation.reasons


def test_the_judge_checks_every_property_that_the_module_defines():
    lease = lease_spec.load(SMALL)
    module = lease.spec.sources.find(MODULE)
    text = module.read_text(encoding="utf-8")
    defined = {
        line.split("==")[0].strip()
        for line in text.splitlines()
        if line[:1].isalpha() and "==" in line
    }
    named = {name for name in defined if name.endswith(("Inv", "Prop", "Reach"))}
    held = lease.properties
    facts = facts_of(MODULE)
    excused = {*facts.conditional, *facts.left_to_models}
    assert excused <= named
    assert named - {*held.invariants, *held.steps, *held.witnesses} == excused
    assert "TypeOK" in held.invariants


def test_a_module_without_properties_is_refused(tmp_path):
    module = tmp_path / f"{MODULE}.tla"
    module.write_text("OneInv == TRUE\nOneReach == TRUE\n")
    with pytest.raises(KraflaError, match=r"no property called \.\.\.Prop"):
        read_properties(module)
    with pytest.raises(KraflaError, match="NoSuchInv"):
        read_properties(module, also=("NoSuchInv",))


class WrongMapping(LeaseMapping):
    """A mapping that loses the offsets which the brokers have replayed."""

    def variables(self, cluster):
        values = super().variables(cluster)
        return values | {"applied_offset": values["broker_epoch"]}


def test_a_wrong_mapping_is_noticed():
    judge = Judge(lease_spec.load(SMALL), mapping=WrongMapping(Vocabulary.of(SMALL)))
    findings = []
    for step in steps_of(*UNTIL_UNFENCED):
        judgement = judge.judge(step)
        if not isinstance(judgement, Agreed):
            findings.append(judgement)
            break
    assert findings[0].variables == ("applied_offset",)


def test_a_judge_without_properties_misses_what_one_with_them_finds():
    """A red test of the check of properties: empty lists would accept a broken state."""
    whole = lease_spec.load(SMALL)
    emptied = JudgedSpec(
        whole.module, whole.constants, whole.spec, Properties((), (), ()), whole.mapping
    )
    before = whole.initial
    broken = before.replace(controlled_shutdown_offset=(3,))
    changed = ("controlled_shutdown_offset",)
    assert whole.broken_by(before, broken, changed) == "ShuttingDownIsUnfencedInv"
    assert emptied.broken_by(before, broken, changed) is None


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("leads", frozenset({1})),
        ("log_end", -1),
        ("status", None),
        ("applied_offset", None),
        ("contact_age", (0,)),
        ("metadata_offset", (0,)),
        ("clock_lead", None),
    ],
)
def test_checking_only_what_a_change_can_break_overlooks_nothing(variable, value):
    lease = lease_spec.load(SMALL)
    if value is None:
        value = lease.initial[variable].updated(str(FIRST), 7)
    after = lease.initial.replace(**{variable: value})
    everything = lease.all_broken_by(lease.initial, after)
    assert everything
    assert lease.broken_by(lease.initial, after, (variable,)) == everything[0]


def test_a_state_that_cannot_be_evaluated_keeps_no_property():
    lease = lease_spec.load(SMALL)
    nonsense = lease.initial.replace(registrations=("not a registration",))
    assert "TypeOK" in lease.all_broken_by(lease.initial, nonsense)
    assert lease.broken_by(lease.initial, nonsense, ("registrations",)) is not None


def test_ages_stop_growing_one_past_the_timeout_and_are_not_measured_without_one():
    steps = steps_of(*UNTIL_UNFENCED, choices.SendHeartbeat(FIRST, want_fence=False))
    cluster = replace(steps[-1].after, controller_time_ms=1_000)
    values = LeaseMapping(Vocabulary.of(SMALL)).variables(cluster)
    assert values["contact_age"] == (4,)
    assert values["request_age"][str(FIRST)] == 0
    assert HeartbeatState().contact_time_ms is None


def test_constants_are_those_of_the_configuration():
    fencing = replace_configuration(broker_timeout_ms=2, max_skew_ms=1, reorder=False)
    constants = Vocabulary.of(fencing).constants
    assert (constants["SelfFence"], constants["BrokerTimeout"]) == (True, 2)
    assert (constants["MaxSkew"], constants["Reorder"]) == (1, False)
    assert Vocabulary.of(SMALL).constants["SelfFence"] is False


def replace_configuration(**fields):
    values = {name: getattr(SMALL, name) for name in SMALL.__struct_fields__}
    return Configuration(**(values | fields))
