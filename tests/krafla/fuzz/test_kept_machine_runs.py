"""Runs on machines in a corpus: nothing is found in them, and a seeded bug that they name is."""

from __future__ import annotations

import json
import tomllib

import pytest
from tests.krafla.fuzz.fuzz_runs import krafla

from krafla.fuzz.engine.kept_trace import check_corpus
from krafla.fuzz.engine.mutant import find_mutant
from krafla.fuzz.engine.run_file import write
from krafla.fuzz.engine.system import find_system
from krafla.verdict import KraflaError, Verdict

RAFT = find_system("raft")
BUG = "boots-unattached"


@pytest.fixture(scope="module")
def failing():
    """A run of raft with a seeded bug that is found early."""
    with find_mutant(BUG, RAFT).applied():
        runs = (RAFT.play(RAFT.case_of(0, number, ("kill",))) for number in range(40))
        return next(run for run in runs if run.finding is not None)


@pytest.fixture
def corpus(tmp_path):
    """An empty corpus."""
    folder = tmp_path / "kept"
    folder.mkdir()
    return folder


def saved(run, path, **changes):
    """Return the file of a run, as it is saved but for some of what it says of itself."""
    write(RAFT, run, path, BUG)
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    return path


def keep(path, corpus, kind):
    """Return how a run is kept."""
    words = ("--as", kind, "--into", str(corpus), "--reason", "It is so.", "--quiet")
    return krafla("keep", str(path), *words)


def test_a_run_with_a_seeded_bug_is_kept_and_goes_on_showing_it(failing, corpus, tmp_path):
    path = saved(failing, tmp_path / "run.json")
    result = keep(path, corpus, "rejected")
    assert result.exit_code == 0, result.output
    (row,) = tomllib.loads((corpus / "index.toml").read_text())["trace"]
    assert row.pop("file").startswith("rejected/raft/restart-prop-")
    assert row == {"reason": "It is so.", "names": "RestartProp"}
    replayed = krafla("replay", str(corpus))
    assert replayed.exit_code == 0, replayed.output
    assert "1 run on machines, with nothing found" in replayed.stdout
    again = keep(path, corpus, "rejected")
    assert again.exit_code == 2
    assert "has this run already: rejected/raft/restart-prop-" in again.stderr


def test_a_kept_run_fails_while_the_implementation_does_it(failing, corpus, tmp_path):
    path = saved(failing, tmp_path / "run.json", mutant="")
    with find_mutant(BUG, RAFT).applied():
        result = keep(path, corpus, "rejected")
        assert result.exit_code == 0, result.output
        assert "does it still: this test fails until it is mended" in result.stdout
        (reason,) = check_corpus(corpus).reasons
        assert "the implementation does it still\nRestartProp: " in reason
    assert check_corpus(corpus).verdict is Verdict.HELD


def test_a_seeded_bug_that_a_kept_run_shows_no_more_is_told(failing, corpus, tmp_path):
    assert keep(saved(failing, tmp_path / "run.json"), corpus, "rejected").exit_code == 0
    index = corpus / "index.toml"
    index.write_text(index.read_text().replace('"RestartProp"', '"AnotherProp"'))
    (reason,) = check_corpus(corpus).reasons
    assert f"with the seeded bug {BUG}, RestartProp is found, not AnotherProp" in reason


@pytest.mark.parametrize(
    ("changes", "kind", "said"),
    [
        ({}, "counterexample", "a run on machines is no counterexample of a spec"),
        ({"failed": "", "mutant": ""}, "rejected", "nothing was found in it when it was saved"),
        ({"failed": "OtherProp"}, "rejected", "RestartProp is found, not OtherProp"),
    ],
)
def test_a_run_that_shows_something_else_is_not_kept(
    failing, corpus, tmp_path, changes, kind, said
):
    result = keep(saved(failing, tmp_path / "run.json", **changes), corpus, kind)
    assert result.exit_code == 2
    assert said in result.stderr
    assert list(corpus.iterdir()) == []


def test_a_run_in_which_something_is_found_is_not_accepted(failing, corpus, tmp_path):
    path = saved(failing, tmp_path / "run.json", mutant="")
    with find_mutant(BUG, RAFT).applied():
        result = keep(path, corpus, "accepted")
    assert result.exit_code == 2
    assert "not accepted: the implementation does it still" in result.stderr
    assert keep(path, corpus, "accepted").exit_code == 0
    assert check_corpus(corpus).verdict is Verdict.HELD


def test_a_listed_run_has_no_step(failing, corpus, tmp_path):
    assert keep(saved(failing, tmp_path / "run.json"), corpus, "rejected").exit_code == 0
    index = corpus / "index.toml"
    index.write_text(f"{index.read_text()}step = 3\n")
    with pytest.raises(KraflaError, match="a run is accepted or rejected, at no step"):
        check_corpus(corpus)
