"""The text of an edited spec travels in a trace, so that its claim can be confirmed elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from tests.krafla.cli import lamp_room
from tests.krafla.match.test_claim_check import with_more
from typer.testing import CliRunner

from krafla.cli import application
from krafla.manifest import find_specs
from krafla.match.spec_source import other_text, source_of, text_of
from krafla.match.trace_check import check_trace
from krafla.oracle.loader import find_module
from krafla.traces import (
    Claim,
    ClaimKind,
    Origin,
    Step,
    Trace,
    dumps,
    loads,
    partial,
    read_whole_trace,
    write_trace,
)
from krafla.values import Function, ModelValue
from krafla.verdict import KraflaError, Verdict

TRACES = Path(__file__).parents[3] / "traces"
OVERLAP = min((TRACES / "counterexamples" / "lease").glob("*.ndjson"))
LIFE = TRACES / "accepted" / "lease" / "register-and-unfence.ndjson"
GUARD = "  /\\ presses < Limit\n"


def krafla(*arguments):
    """Return how a command ends."""
    return CliRunner().invoke(application(arguments[0]), list(map(str, arguments)))


@pytest.fixture
def wide(tmp_path, monkeypatch):
    """A counterexample that only specs without a guard have, found where they are."""
    specs = lamp_room.lay_out(tmp_path)
    lamp_room.edit(specs / "lamp" / "Lamp.tla", GUARD, "")
    lamp_room.edit(specs / "broken/lamp/LampOn.cfg", "NeverOnInv", "PressesInv")
    lamp_room.edit(specs / "lamp/models.toml", '"NeverOnInv"', '"PressesInv"')
    with monkeypatch.context() as here:
        here.setenv("KRAFLA_SPECS", str(specs))
        saved = tmp_path / "wide.ndjson"
        assert krafla("check", "LampOn", "--trace", saved).exit_code == 0
        assert other_text(read_whole_trace(saved)) is None
    return saved


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """The shipped specs with a remark in one of them, as the specs at hand."""
    specs = tmp_path / "edited"
    shutil.copytree(find_specs(), specs)
    file = specs / "lease" / "BrokerLease.tla"
    file.write_text(file.read_text() + "\\* A remark.\n")
    monkeypatch.setenv("KRAFLA_SPECS", str(specs))


@pytest.mark.by_day(1)
@pytest.mark.parametrize("elsewhere", ["without the spec", "with the guard"])
def test_a_claim_is_confirmed_elsewhere_by_the_text_that_the_trace_carries(
    elsewhere, wide, tmp_path, monkeypatch
):
    how = ""
    if elsewhere == "with the guard":
        monkeypatch.setenv("KRAFLA_SPECS", str(lamp_room.lay_out(tmp_path / "other")))
        how = "; the specs at hand differ in Lamp, the configuration of LampOn"
    said = f"judged by the version of Lamp that the trace carries{how}"
    smaller = tmp_path / "smaller.ndjson"
    for words, status in (
        (("replay",), 1), (("explain",), 0), (("validate",), 0),
        (("shrink", "--quiet", "--output", smaller), 0),
    ):  # fmt: skip
        result = krafla(words[0], wide, *words[1:])
        assert result.exit_code == status, result.output
        assert said in result.stdout or words[0] == "shrink"
        is_offered = words == ("replay",) and bool(how)
        assert (f"krafla replay {wide} --at-hand " in result.stdout) == is_offered
    here = krafla("replay", wide, "--at-hand")
    if elsewhere == "without the spec":
        assert here.exit_code == 2
        assert "Lamp" in here.stderr
    else:
        assert here.exit_code == 1
        # What the configuration at hand asks comes first.
        assert "NeverOnInv is false at step 1" in here.stdout
        assert "that the trace carries" not in here.stdout
    assert read_whole_trace(smaller).text == read_whole_trace(wide).text
    assert krafla("replay", smaller).exit_code == 1


def test_a_trace_without_its_text_is_judged_by_the_specs_at_hand_and_says_so(
    wide, tmp_path, monkeypatch
):
    other = lamp_room.lay_out(tmp_path / "other")
    lamp_room.edit(other / "broken/lamp/LampOn.cfg", "NeverOnInv", "PressesInv")
    monkeypatch.setenv("KRAFLA_SPECS", str(other))
    bare = tmp_path / "bare.ndjson"
    write_trace(replace(read_whole_trace(wide), text=None), bare)
    said = "was made with another version of Lamp, which it does not carry"
    result = krafla("replay", bare)
    assert result.exit_code == 1
    assert "the spec does not have step 3: Press is not enabled" in result.stdout
    assert f"the trace {said}: judged by the specs at hand" in result.stdout
    result = krafla("shrink", bare)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.nightly
@pytest.mark.parametrize("trace", [OVERLAP, LIFE], ids=["a counterexample", "a behaviour"])
@pytest.mark.usefixtures("edited")
def test_a_trace_that_needs_no_model_carries_the_modules_of_its_spec(trace, monkeypatch):
    found = read_whole_trace(trace)
    text = text_of(find_module(found.spec, None))
    assert text.root == found.spec
    assert text.config is None
    assert dict(text.modules)["BrokerLease"].endswith("\\* A remark.\n")
    origin = Origin("tlc", digest=text.digest)
    carrying = loads(dumps(replace(found, origin=origin, text=text)))
    assert (source_of(carrying).is_carried, other_text(carrying)) == (False, None)
    monkeypatch.delenv("KRAFLA_SPECS")
    for one in (carrying, partial(carrying)):
        assert source_of(one).is_carried
        assert other_text(one).endswith("; the specs at hand differ in BrokerLease")
    assert check_trace(carrying).verdict is Verdict.HELD


@pytest.mark.usefixtures("edited")
def test_a_text_that_is_not_the_one_of_the_digest_judges_nothing(monkeypatch):
    found = read_whole_trace(LIFE)
    text = text_of(find_module(found.spec, None))
    monkeypatch.delenv("KRAFLA_SPECS")
    other = replace(found, origin=Origin("tlc", digest="0" * 64), text=text)
    with pytest.raises(KraflaError, match="carries another version of BrokerLeaseProperties"):
        check_trace(other)


@pytest.mark.nightly
@pytest.mark.usefixtures("edited")
def test_a_corpus_is_judged_by_the_specs_at_hand(wide, tmp_path, monkeypatch):
    monkeypatch.setenv("KRAFLA_SPECS", str(lamp_room.lay_out(tmp_path / "other")))
    corpus = tmp_path / "kept"
    corpus.mkdir()
    words = ("--into", corpus, "--reason", "So.", "--quiet")
    refused = krafla("keep", wide, "--as", "counterexample", *words)
    assert refused.exit_code == 2
    assert "(by the specs at hand, not by the text that it carries)" in refused.stderr
    assert krafla("keep", wide, "--as", "rejected", *words).exit_code == 0
    (kept,) = corpus.rglob("*.ndjson")
    assert read_whole_trace(kept).text is None
    write_trace(read_whole_trace(wide), kept)
    assert krafla("replay", corpus).exit_code == 0


def test_a_tried_formula_is_confirmed_elsewhere_too(tmp_path, monkeypatch):
    specs = lamp_room.lay_out(tmp_path)
    saved = tmp_path / "tried.ndjson"
    with monkeypatch.context() as here:
        here.setenv("KRAFLA_SPECS", str(specs))
        tried = ("--invariant", "presses < 2", "--trace", saved)
        assert krafla("check", "LampShort", *tried).exit_code == 1
    shutil.rmtree(specs)
    result = krafla("replay", saved)
    assert result.exit_code == 1, result.output
    assert "violates TriedInv at step 2, as claimed" in result.stdout


@pytest.mark.nightly
def test_the_folder_of_a_carried_text_goes_with_the_process(wide, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    ended = subprocess.run(
        [*lamp_room.KRAFLA, "replay", str(wide)], capture_output=True, text=True, check=False,
        env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    assert ended.returncode == 1, ended.stderr
    assert "judged by the version of Lamp" in ended.stdout
    assert list(temporary.iterdir()) == []


def test_a_divergence_that_the_specs_at_hand_allow_is_gone(tmp_path):
    life = read_whole_trace(LIFE)
    path = tmp_path / "found.ndjson"
    last = life.steps[-1].action
    write_trace(replace(life, claim=Claim(ClaimKind.DIVERGENCE, last)), path)
    assert krafla("replay", path).exit_code == 3
    gone = krafla("replay", path, "--at-hand")
    assert (gone.exit_code, gone.stdout.startswith("HELD  ")) == (0, True)
    assert f"; divergence {last}, which it claims, is gone" in gone.stdout
    # What is violated before the end is not gone.
    write_trace(with_more(read_whole_trace(OVERLAP)), path.with_name("longer.ndjson"))
    early = krafla("replay", path.with_name("longer.ndjson"), "--at-hand")
    assert early.exit_code == 3
    assert "already violates NoOverlapInv" in early.stdout
    kept = krafla("keep", path, "--as", "rejected", "--reason", "x", "--into", tmp_path)
    assert kept.exit_code == 2
    assert "which is gone; keep the run instead (.json) --as accepted" in kept.stderr


@pytest.mark.parametrize(
    ("client", "invariant", "status", "said"),
    [
        (ModelValue("c1"), "HolderInv", 0, "the one step is a step of Lock"),
        (ModelValue("c1"), "FreeInv", 1, "FreeInv is false"),
        ("c1", "HolderInv", 1, 'Next has no Acquire("c1")'),
    ],
)
def test_a_trace_without_text_is_judged_by_next_and_the_cfg_of_its_constants(
    client, invariant, status, said, tmp_path, monkeypatch
):
    specs = Path(__file__).parents[1] / "testing" / "specs"
    module, config = tmp_path / "Lock.tla", tmp_path / "Lock.cfg"
    text = (specs / "Lock.tla").read_text()
    module.write_text(text.replace("Spec ==", "FreeInv == holder = Nobody\nSpec =="))
    config.write_text(f"{(specs / 'Lock.cfg').read_text()}INVARIANT {invariant}\n")
    (tmp_path / "krafla.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KRAFLA_SPECS", raising=False)
    names = [ModelValue(name) for name in ("c1", "c2", "c3", "Nobody")]
    free, held = (Function({"holder": one, "queue": ()}) for one in (names[3], client))
    steps = (Step("Init", (), free), Step("Acquire", (client,), held))
    constants = (("Client", frozenset(names[:3])), ("Nobody", names[3]))
    write_trace(Trace("Lock", steps, constants), tmp_path / "found.ndjson")
    with mock.patch.dict(os.environ):
        result = krafla("replay", "found.ndjson")
    assert result.exit_code == status, result.output
    assert said in " ".join(result.output.split())
