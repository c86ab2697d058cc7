"""``krafla prove`` as a user meets it: exit statuses, JSON of each mode, a behaviour to replay."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import z3
from tests.krafla.takers import check_taken
from typer.testing import CliRunner

from krafla.cli import application
from krafla.manifest import find_specs
from krafla.proofs.prove import Proofs
from krafla.refinement.lease.proof_instances import lease_instances
from krafla.traces import ClaimKind, read_whole_trace

INSTANCES = "krafla.refinement.lease.proof_instances.lease_instances"


def krafla(*arguments):
    """Return (exit status, standard output, standard error) of a command."""
    result = CliRunner().invoke(application(arguments[0]), [str(a) for a in arguments])
    return result.exit_code, result.stdout, result.stderr


def test_what_is_proved_is_told_by_case_and_how_to_repeat_it():
    status, out, _ = krafla("prove", "lease", "--only", "epochs/Crash", "--quiet")

    lines = out.splitlines()
    assert status == 0
    assert lines[0].startswith("epochs: Broker epochs are unique")
    assert lines[1].split()[0] == "Crash"
    assert lines[-2].startswith("HELD  lease: ")
    assert lines[-1].strip() == "reproduce: krafla prove lease --only 'epochs/Crash'"


@pytest.mark.nightly
def test_json_names_every_obligation_with_its_verdict():
    status, out, _ = krafla("prove", "lease", "--only", "epochs/initial", "--json")

    document = json.loads(out)
    assert status == 0
    assert document["verdict"] == "held"
    assert {one["verdict"] for one in document["obligations"]} == {"held"}
    assert "epochs/initial/TypeOK" in {one["name"] for one in document["obligations"]}


@pytest.mark.nightly
def test_what_is_false_is_shown_with_its_step_and_exit_status_1(tmp_path, monkeypatch):
    specs = tmp_path / "specs"
    shutil.copytree(find_specs(), specs)
    path = specs / "lease" / "BrokerLease.tla"
    guard = "EXCEPT ![b].record_offset = log_end]"
    text = path.read_text()
    assert text.count(guard) == 1
    path.write_text(text.replace(guard, f"{guard[:-1]}, ![b].epoch = log_end]"))
    monkeypatch.setenv("KRAFLA_SPECS", str(specs))

    status, out, _ = krafla(
        "prove", "lease", "--only", "epochs/AmendRegistration/EpochFollowsIncarnationProp", "-q"
    )

    assert status == 1
    assert "AmendRegistration([" in out
    assert out.splitlines()[-2].startswith("VIOLATED  lease: 0 of 1 obligations proved")


def test_what_z3_does_not_know_has_exit_status_3(monkeypatch):
    monkeypatch.setattr("krafla.proofs.solver._checked", lambda *_: z3.unknown)

    status, out, _ = krafla(
        "prove", "lease", "--only", "epochs/Crash/HeldByOneProcessInv", "--json"
    )

    assert (status, json.loads(out)["verdict"]) == (3, "inconclusive")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["raft"], "nothing is to be proved of 'raft', but of lease"),
        (["lease", "--only", "nonsense"], "no obligation is named nonsense"),
        (["lease", "--invariant", "TypeOK"], "--invariant is for a module by its path"),
        (["nowhere.tla", "--invariant", "A"], "nowhere.tla: there is no such file"),
        (["nowhere.tla", "--only", "A"], "FILE.tla takes --invariant only, no --only"),
        (["lease", "--refuted", "--only", "nonsense"], "no proof that must fail is named nonsense"),
        (["lease", "--needed", "--only", "nonsense"], "no clause is named nonsense"),
        (["lease", "--mutants", "--only", "nonsense"], "no mutant is named nonsense"),
        (["lease", "--agreement", "--only", "Tick"], "leave out --only"),
        (["lease", "--save", "x.ndjson"], "add --refuted"),
    ],
)
def test_bad_input_is_one_line_and_exit_status_2(arguments, said):
    status, out, err = krafla("prove", *arguments, "--quiet")

    assert status == 2
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.nightly
def test_the_behaviour_that_refutes_is_saved_and_replayed_on_both_sides(tmp_path):
    path = tmp_path / "overlap.ndjson"

    status, out, _ = krafla("prove", "lease", "--refuted", "--save", path, "--json")

    (found,) = json.loads(out)["refuted"]
    assert status == 0
    trace = read_whole_trace(path)
    assert [step.action for step in trace.steps[:-1]] == found["path"]
    assert all(step.parameters is not None for step in trace.steps)
    assert trace.origin.made_by == "z3"
    assert (trace.claim.kind, trace.claim.property) == (ClaimKind.INVARIANT, "NoOverlapInv")
    assert trace.claim.conjunct is not None
    for flags in ([], ["--impl"]):
        status, out, _ = krafla("replay", path, *flags)
        assert status == 1
        assert "violates NoOverlapInv" in out
        assert "as claimed" in out
    check_taken(path, "a counterexample", tmp_path)


# By day test_proofs_agreement asks for it, and the next test for what is told of it.
@pytest.mark.nightly
def test_what_agrees_with_tlc_is_a_table_of_init_and_the_actions(monkeypatch):
    monkeypatch.setattr(INSTANCES, lambda: lease_instances(2))

    status, out, _ = krafla("prove", "lease", "--agreement", "--json")

    document = json.loads(out)
    assert status == 0
    assert document["verdict"] == "held"
    rows = {row["action"]: row for row in document["agreement"]}
    assert len(rows) == 28
    assert all(row["steps_tlc"] == row["steps_z3"] > 0 for row in rows.values())
    assert all(row["differences"] == [] for row in rows.values())


def test_models_in_which_an_action_is_never_taken_are_inconclusive(monkeypatch):
    monkeypatch.setattr(INSTANCES, lambda: lease_instances(2)[:1])

    status, out, _ = krafla("prove", "lease", "--agreement", "--quiet")

    assert status == 3
    assert "TLC takes no such step in these models" in out


@pytest.mark.nightly
def test_json_of_a_needed_clause_and_of_a_mutant(monkeypatch):
    def few(proofs):
        cases = proofs.cases_of(proofs.plans[0])
        return (case for case in cases if case.action == "HandleRegistrationResponse")

    monkeypatch.setattr(Proofs, "cases", few)

    status, out, _ = krafla(
        "prove", "lease", "--needed", "--only", "GivenToOneProcessInv", "--json"
    )
    (need,) = json.loads(out)["needed"]
    assert status == 0
    assert need["fails"].startswith("epochs/HandleRegistrationResponse/")

    status, out, _ = krafla(
        "prove", "lease", "--mutants", "--only", "amend-allocates-epoch", "--json"
    )
    (mutant,) = json.loads(out)["mutants"]
    assert status == 0
    assert mutant["verdict"] == "held"


COUNTER = """---- MODULE Counter ----
EXTENDS Integers
VARIABLES v
vars == <<v>>
TypeOK == v \\in Nat
Init == v = 0
Up == v < 3 /\\ v' = v + {step}
Next == Up
Spec == Init /\\ [][Next]_vars
SmallInv == v <= 3
EvenInv == v % 2 = 0
LessInv == v * v <= 9
====
"""


@pytest.mark.parametrize(
    ("step", "invariant", "status", "said"),
    [
        (1, "SmallInv", 0, "HELD  Counter: SmallInv: 4 of 4 obligations proved"),
        (2, "SmallInv", 1, "a behaviour: Init, Up x 2"),
        (1, "EvenInv", 3, "refused, so nothing is proved"),
        (1, "Nothing", 2, "Counter has no operator Nothing"),
        ("one", "SmallInv", 2, "Counter.tla:7: Unknown operator: `one'."),
        (1, "LessInv", 0, "HELD"),
        (1, "TypeOK", 0, "HELD  Counter: TypeOK: 2 of 2 obligations proved"),
    ],
)
def test_a_claim_of_a_module_is_tried_by_its_path(tmp_path, step, invariant, status, said):
    path = tmp_path / "Counter.tla"
    path.write_text(COUNTER.format(step=step))

    found, out, err = krafla("prove", path, "--invariant", invariant, "-q")

    assert found == status
    assert said in out + err
    if status in (0, 1):
        assert f"reproduce: krafla prove {path} --invariant {invariant}" in out


@pytest.mark.parametrize(
    ("old", "new", "invariant", "said"),
    [
        ("", "", "SmalInv", "Counter.tla: Counter has no operator SmalInv; did you mean SmallInv"),
        ("TypeOK ==", "Typed ==", "SmalInv", "no operator SmalInv; did you mean SmallInv"),
        (
            "EXTENDS ", "EXTENDS Absent, ", "SmallInv",
            "Counter.tla: no module Absent beside it, in krafla's specs or among TLA+'s own: put ",
        ),
    ],
    ids=["a slip", "a slip beside a missing TypeOK", "a missing module"],
)  # fmt: skip
def test_what_is_missing_is_named_with_what_may_be_meant(tmp_path, old, new, invariant, said):
    path = tmp_path / "Counter.tla"
    path.write_text(COUNTER.format(step=1).replace(old, new, 1))

    status, _, err = krafla("prove", path, "--invariant", invariant, "-q")

    assert status == 2
    assert err.startswith(f"krafla: {tmp_path}")
    assert said in err


def test_a_constant_that_may_be_no_number_is_refused_with_the_remedy(tmp_path):
    path = tmp_path / "Counter.tla"
    text = COUNTER.format(step=1).replace("VARIABLES v", "CONSTANT Max\nVARIABLES v", 1)
    path.write_text(text.replace("v < 3", "v < Max", 1))

    status, out, _ = krafla("prove", path, "--invariant", "SmallInv", "-q")

    assert status == 3
    assert "a number is needed, not Max; where it is one, write ASSUME Max \\in Nat" in out


OWNED = """---- MODULE Owned ----
CONSTANTS {constants}
VARIABLE owner
Init == owner = Nobody
Take(c) == owner = Nobody /\\ owner' = c
Next == \\E c \\in Customer : Take(c)
Spec == Init /\\ [][Next]_owner
TypeOK == {type}
OwnerInv == owner \\in Customer \\union {{Nobody}}
KeptProp == [][owner # Nobody => UNCHANGED owner]_owner
====
"""
TYPE = "owner \\in Customer \\union {Nobody}"


def owned(tmp_path, constants, type_=TYPE):
    path = tmp_path / "Owned.tla"
    path.write_text(OWNED.format(constants=constants, type=type_))
    return path


def test_a_set_with_one_more_constant_is_refused_with_what_can_be_proved(tmp_path):
    beside = "Customer, Nobody ASSUME Nobody \\notin Customer /\\ Customer # {}"
    status, out, _ = krafla("prove", owned(tmp_path, beside), "--invariant", "OwnerInv", "-q")

    told = r"declare a CONSTANT All in place of Customer, and write ASSUME (.*) and (.*)$"
    found = re.search(told, out, re.MULTILINE)
    assert status == 3
    assert found is not None
    within = f"All, Nobody ASSUME {found[1]} {found[2]}"
    status, out, _ = krafla("prove", owned(tmp_path, within), "--invariant", "OwnerInv", "-q")
    assert (status, out.splitlines()[-2][:4]) == (0, "HELD")


def test_an_assumption_that_is_missing_is_told_in_tla(tmp_path):
    records = "owner \\in [c : Customer, n : Int] \\union {Nobody}"
    constants = "Customer, Nobody ASSUME Customer # {}"
    path = owned(tmp_path, constants, records)
    path.write_text(path.read_text().replace("CONSTANTS", "EXTENDS Integers CONSTANTS"))
    status, out, _ = krafla("prove", path, "--invariant", "TypeOK", "-q")

    assert status == 3
    assert "ASSUME Nobody \\notin [c: Customer, n: Int]\n" in f"{out}\n"


@pytest.mark.parametrize(
    ("type_", "invariant", "told"),
    [
        (TYPE, "KeptProp", "[]: this speaks of behaviours, and what is proved of a module"),
        ("owner \\in Customer \\X Customer", "TypeOK", "\\X: this operator has no translation"),
    ],
)
def test_what_has_no_translation_is_called_as_the_spec_writes_it(tmp_path, type_, invariant, told):
    path = owned(tmp_path, "Customer, Nobody", type_)
    status, out, _ = krafla("prove", path, "--invariant", invariant, "-q")

    assert status == 3
    assert f"Owned.tla:{10 if invariant == 'KeptProp' else 8}: {told}" in out


def test_a_property_of_the_cfg_is_said_not_to_be_asked(tmp_path):
    constants = "All, Nobody ASSUME Nobody \\in All Customer == All \\ {Nobody}"
    config = owned(tmp_path, constants).with_suffix(".cfg")
    config.write_text(
        "SPECIFICATION Spec\nCONSTANTS All = {a, b} Nobody = a\n"
        "INVARIANT OwnerInv\nPROPERTY KeptProp\n"
    )

    status, out, _ = krafla("prove", config, "-q")
    assert status == 0
    assert "not asked: PROPERTY KeptProp" in out
    _, out, _ = krafla("prove", config, "--json")
    assert json.loads(out)["not_asked"] == ["KeptProp"]


def test_the_search_for_a_behaviour_is_told_with_its_time(tmp_path):
    path = tmp_path / "Counter.tla"
    path.write_text(COUNTER.format(step=2))

    _, out, _ = krafla("prove", path, "--invariant", "SmallInv", "-q")

    assert re.search(r"proved in [\d.]+ s, a behaviour looked for in [\d.]+ s\n", out)


def test_a_file_without_a_module_is_named(tmp_path):
    path = tmp_path / "Counter.tla"
    path.write_text("VARIABLES v\n")

    status, _, err = krafla("prove", path, "--invariant", "SmallInv", "-q")

    said = "this is no TLA+ module: there is no line ---- MODULE ..."
    assert (status, err) == (2, f"krafla: {path}: {said}\n")


@pytest.mark.parametrize("seconds", [1.5, pytest.param(4.0, marks=pytest.mark.nightly)])
def test_an_interrupt_ends_a_proof_at_once_wherever_z3_is(seconds):
    process = subprocess.Popen(
        [sys.executable, "-m", "krafla", "prove", "lease"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)

    assert (out.splitlines()[-1], process.returncode) == ("krafla: interrupted", 130)
    assert "Traceback" not in out
    assert "ignored" not in out


@pytest.mark.nightly
def test_what_is_not_inductive_says_what_would_help(proofs_folder):
    path = proofs_folder / "Order.tla"

    status, out, _ = krafla("prove", path, "--invariant", "SinceInv", "-q")

    assert status == 3
    assert "name an invariant that rules them out: a second --invariant" in out
    status, out, _ = krafla(
        "prove", path, "--invariant", "HeldInv", "--invariant", "SinceInv", "--json"
    )
    assert (status, json.loads(out)["verdict"]) == (0, "held")


@pytest.fixture
def proofs_folder():
    return Path(__file__).parents[1] / "proofs" / "specs" / "unsound"


def test_a_refusal_is_json_too(proofs_folder):
    status, out, _ = krafla(
        "prove", proofs_folder / "Atoms.tla", "--invariant", "ApartInv", "--json"
    )

    document = json.loads(out)
    assert (status, document["verdict"]) == (3, "inconclusive")
    assert "ASSUME Low # High" in document["refused"]
