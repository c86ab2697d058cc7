"""``krafla keep``: what is stored is what was claimed, and what is not is refused."""

from __future__ import annotations

import os
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from tests.krafla.refinement.rounds import going_round
from typer.testing import CliRunner

from krafla.cli import application
from krafla.fuzz.engine.kept_trace import check_corpus
from krafla.match.corpus import read_index
from krafla.traces import Claim, ClaimKind, Origin, read_whole_trace, write_trace
from krafla.verdict import Verdict

CORPUS = Path(__file__).parents[3] / "traces"
LIFE = CORPUS / "accepted" / "lease" / "register-and-unfence.ndjson"
LIVED = read_whole_trace(LIFE)
EARLY = CORPUS / "rejected" / "lease" / "fenced-at-the-timeout.ndjson"
OVERLAP = next(e.path for e in read_index(CORPUS) if e.kind == "counterexamples")


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir()
    return folder


def keep(trace, corpus, kind, *more, reason="It is so."):
    arguments = ["keep", str(trace), "--as", kind, "--into", str(corpus), "--reason", reason, *more]
    return CliRunner().invoke(application("keep"), arguments)


@pytest.mark.parametrize(
    ("trace", "kind", "row"),
    [
        (LIFE, "accepted", {"implementation": True}),
        (EARLY, "rejected", {"step": 13, "names": "contact_age[b] > SessionTimeout"}),
        (OVERLAP, "counterexample", {"names": "~r.fenced", "implementation": True}),
    ],
)
def test_a_kept_trace_comes_to_what_the_index_says_from_then_on(corpus, trace, kind, row):
    result = keep(trace, corpus, kind, "--tag", "KIP-631", "--tag", "lease")
    assert result.exit_code == 0, result.output
    listed = tomllib.loads((corpus / "index.toml").read_text())["trace"][0]
    file = listed.pop("file")
    assert listed == {"reason": "It is so.", "tags": ["KIP-631", "lease"], **row}
    assert f"pytest {corpus}/index.toml::{file}" in result.output
    assert read_whole_trace(corpus / file) == read_whole_trace(trace)
    assert check_corpus(corpus).verdict is Verdict.HELD


def test_a_folder_that_cannot_be_written_is_refused_by_its_name(corpus, monkeypatch):
    # Not by chmod: root may write to every folder.
    monkeypatch.setattr(os, "access", lambda path, _: path != corpus)
    result = keep(LIFE, corpus, "accepted")
    assert result.exit_code == 2
    assert f"krafla: {corpus}: this folder cannot be written to: --into" in result.stderr


def test_the_folder_is_made_and_stays_only_if_the_trace_is_stored(corpus):
    folder = corpus / "traces"
    assert keep(EARLY, folder, "accepted").exit_code == 2
    assert not folder.exists()
    assert keep(LIFE, folder, "accepted").exit_code == 0
    assert check_corpus(folder).verdict is Verdict.HELD


@pytest.mark.parametrize(
    ("trace", "kind", "complaint"),
    [
        (EARLY, "accepted", "rejected at step 13, FenceStaleBroker"),
        (LIFE, "rejected", "not rejected: the spec has every step"),
        (LIFE, "counterexample", "it claims to violate no property"),
        (OVERLAP, "accepted", "it claims a violation: invariant NoOverlapInv"),
        (OVERLAP, "rejected", "not rejected: the spec has every step"),
        (EARLY, "counterexample", "rejected at step 13"),
        (LIFE, "curious", "--as is accepted, rejected, counterexample"),
    ],
)
def test_what_does_not_come_to_what_is_claimed_is_not_stored(corpus, trace, kind, complaint):
    result = keep(trace, corpus, kind)
    assert result.exit_code == 2
    assert complaint in " ".join(result.output.replace("│", " ").split())
    assert list(corpus.iterdir()) == []


def test_a_claim_of_another_conjunct_is_no_counterexample(corpus, tmp_path):
    trace = read_whole_trace(OVERLAP)
    shorter = trace.with_steps(trace.steps[:-1])
    write_trace(shorter, tmp_path / "short.ndjson")
    result = keep(tmp_path / "short.ndjson", corpus, "counterexample")
    assert result.exit_code == 2
    assert "does not violate NoOverlapInv at its end" in result.output
    conjunct = replace(trace.claim.conjunct, text="r # Nil")
    other = replace(trace, claim=Claim(ClaimKind.INVARIANT, "NoOverlapInv", conjunct))
    write_trace(other, tmp_path / "other.ndjson")
    result = keep(tmp_path / "other.ndjson", corpus, "counterexample")
    assert result.exit_code == 2
    assert "another conjunct of NoOverlapInv" in result.output


@pytest.mark.parametrize(
    ("trace", "complaint"),
    [
        (
            read_whole_trace(LIFE).with_steps(read_whole_trace(LIFE).steps[:1]),
            "not accepted: it shows no step",
        ),
        (replace(LIVED, lasso=0, back="Tick"), "no step leads back to step 0"),
        (going_round("", 0), "no step leads back to step 0"),
    ],
    ids=["an initial state alone", "a lasso that is open", "open, by any action"],
)
def test_what_shows_nothing_and_what_does_not_go_round_is_not_accepted(
    corpus, tmp_path, trace, complaint
):
    write_trace(trace, tmp_path / "found.ndjson")
    result = keep(tmp_path / "found.ndjson", corpus, "accepted")
    assert result.exit_code == 2
    assert complaint in " ".join(result.output.split())
    assert list(corpus.iterdir()) == []


def test_a_lasso_is_kept_and_followed_round(corpus, tmp_path):
    write_trace(going_round(), tmp_path / "found.ndjson")
    assert keep(tmp_path / "found.ndjson", corpus, "accepted").exit_code == 0
    assert read_index(corpus)[0].implementation
    assert check_corpus(corpus).verdict is Verdict.HELD


def test_the_same_trace_is_refused_wherever_it_came_from(corpus, tmp_path):
    assert keep(LIFE, corpus, "accepted").exit_code == 0
    before = sorted(corpus.rglob("*"))
    again = tmp_path / "again.ndjson"
    write_trace(replace(read_whole_trace(LIFE), origin=Origin("oracle")), again)
    result = keep(again, corpus, "accepted", reason="Another story.")
    assert result.exit_code == 2
    assert "has this trace already: accepted/lease/" in result.output
    assert "It is so." in result.output
    assert sorted(corpus.rglob("*")) == before


def test_the_index_keeps_its_comments(corpus):
    (corpus / "index.toml").write_text("# Why we keep these.\nkrafla_corpus = 1 # the first\n")
    assert keep(LIFE, corpus, "accepted", reason='A "quoted" \\ reason.').exit_code == 0
    text = (corpus / "index.toml").read_text()
    assert text.startswith("# Why we keep these.\nkrafla_corpus = 1 # the first\n\n[[trace]]\n")
    assert read_index(corpus)[0].reason == 'A "quoted" \\ reason.'


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--tag", "two words"], "'two words' is no tag"),
        (["--reason", "two\nlines"], "a reason is one line of text"),
        (["--reason", " "], "a reason is one line of text"),
        (["--into", "nowhere/deep"], "nowhere/deep: is no folder; make it first: mkdir -p nowhere"),
    ],
)
def test_what_cannot_be_listed_is_refused(corpus, more, complaint):
    result = keep(LIFE, corpus, "accepted", *more)
    assert result.exit_code == 2
    assert complaint in result.output
    assert list(corpus.iterdir()) == []
