"""Whole runs over mutants: samples, processes, results that are gone on with, the verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.krafla.mutate.mutants import SPECS, copy_of_specs, mutants_of, named

from krafla.mutate.pool import Pool, jobs
from krafla.mutate.population import Choice, population
from krafla.mutate.results import Results
from krafla.mutate.run import plan_of, run_plan
from krafla.mutate.sample import sample
from krafla.mutate.summary import Fate, fates, summarize
from krafla.mutate.survivors import Explained, Explanation, explanations
from krafla.mutate.trial import Answer, Trial
from krafla.verdict import KraflaError, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from krafla.mutate.mutants import Mutant
    from krafla.mutate.summary import Summary

INPUTS = {"MCBallot": "here"}
NONE = Explained(SPECS / "mutation.toml", 10, 1, ())


def krafla(*arguments: str, specs: Path = SPECS, seed: str = "0") -> subprocess.CompletedProcess:
    program = "from krafla.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, "mutate", "specs", *arguments],
        env=os.environ | {"KRAFLA_SPECS": str(specs), "PYTHONHASHSEED": seed},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def answered(answers: dict[str, Answer]) -> tuple[list[Mutant], Results]:
    """Return mutants by the beginning of their ids, and results that give them these answers."""
    results = Results(None, INPUTS)
    mutants = [named("ballot", start) for start in answers]
    for mutant, answer in zip(mutants, answers.values(), strict=True):
        results.add(Trial(mutant.id, "MCBallot", answer, "Detail", 0.1))
    return mutants, results


def summary_of(mutants: Sequence[Mutant], results: Results, explained: Explained) -> Summary:
    known = {mutant.id: mutant for mutant in mutants_of("ballot").mutants}
    return summarize(
        fates(mutants, results), explained, known=known, modules=frozenset({"Ballot"}), untried=0
    )


KILLED = {
    f"Ballot.{start}": Answer.PROPERTY
    for start in (
        "Abandon.drop-guard.64f", "Abandon.drop-guard.034", "Close.drop-guard.64f",
        "Close.drop-guard.019", "Close.drop-guard.be9", "Grant.drop-guard.7b4",
        "Grant.drop-guard.64f", "Grant.drop-guard.38b", "Open.drop-guard.7fd",
    )
}  # fmt: skip
SURVIVOR = "Ballot.Open.drop-guard.ee3"


def test_a_sample_takes_some_of_each_module_and_operator_and_is_always_the_same() -> None:
    mutants = [*mutants_of("ballot").mutants, *mutants_of("layout").mutants]
    strata = {(mutant.module, mutant.operator) for mutant in mutants}
    drawn = sample(mutants, len(strata), 1)
    assert {(mutant.module, mutant.operator) for mutant in drawn} == strata
    assert sample(list(reversed(mutants)), len(strata), 1) == drawn[::-1]
    assert set(drawn) < set(sample(mutants, len(strata) + 20, 1))
    assert sample(mutants, len(strata), 2) != drawn
    assert len(sample(mutants, 10_000, 1)) == len(mutants)


def test_who_comes_elsewhere_changes_little_of_a_sample() -> None:
    mutants = list(mutants_of("ballot").mutants)
    drawn = sample(mutants, 20, 1)
    fewer = [mutant for mutant in mutants if mutant.action != "Abandon"]
    kept = {mutant.id for mutant in sample(fewer, 20, 1)} & {mutant.id for mutant in drawn}
    gone = [mutant for mutant in drawn if mutant.action == "Abandon"]
    assert len(kept) >= 20 - 2 * len(gone)


def test_work_is_divided_by_rooms_and_by_halves_only_if_need_be() -> None:
    both = [*mutants_of("ballot").mutants, *mutants_of("layout").mutants]
    models = [*mutants_of("ballot").models, *mutants_of("layout").models]
    assert [{one.room for one in job.mutants} for job in jobs(both, models, 2)] == [
        {"ballot"}, {"layout"},
    ]  # fmt: skip
    halves = jobs(mutants_of("ballot").mutants, models, 2)
    assert len(halves) == 2
    assert sum(len(job.mutants) for job in halves) == len(mutants_of("ballot").mutants)
    assert [one.name for job in halves for one in job.models] == ["MCBallot"] * 2


def test_it_holds_if_nine_of_ten_are_killed_and_the_survivor_is_explained() -> None:
    mutants, results = answered({**KILLED, SURVIVOR: Answer.DIFFERENT})
    survivor = mutants[-1]
    reason = Explanation(survivor.id, survivor.original, "MaxEpoch is where the bounds are", 3)
    good = summary_of(mutants, results, replace(NONE, entries=(reason,)))
    assert good.verdict is Verdict.HELD
    assert (good.whole.killed, good.whole.total) == (9, 10)
    bare = summary_of(mutants, results, NONE)
    assert bare.verdict is Verdict.VIOLATED
    assert [one.mutant for one in bare.unexplained] == [survivor]


def test_it_does_not_hold_if_too_few_are_noticed_or_killed_by_name() -> None:
    mutants, results = answered({**KILLED, SURVIVOR: Answer.COUNT})
    assert summary_of(mutants, results, NONE).verdict is Verdict.HELD
    for mutant in mutants[:3]:
        results.add(Trial(mutant.id, "MCBallot", Answer.ACTION, "takes Other", 0.1))
    by_numbers = summary_of(mutants, results, NONE)
    assert (by_numbers.whole.killed, by_numbers.whole.noticed) == (6, 10)
    assert by_numbers.verdict is Verdict.VIOLATED
    mutants, results = answered({**dict(list(KILLED.items())[:8]), SURVIVOR: Answer.DIFFERENT})
    reason = Explanation(mutants[-1].id, mutants[-1].original, "why", 3)
    unnoticed = summary_of(mutants, results, replace(NONE, entries=(reason,)))
    assert (unnoticed.unexplained, unnoticed.verdict) == ((), Verdict.VIOLATED)


def test_numbers_that_are_not_pinned_notice_nothing() -> None:
    mutants, results = answered({**KILLED, SURVIVOR: Answer.COUNT})
    results.add(Trial(mutants[-1].id, "MCBallot", Answer.COUNT, "9 states for 8", 0.1))
    unpinned = frozenset({"MCBallot"})
    one = fates(mutants[-1:], results, unpinned=unpinned)[0]
    assert (one.fate, one.is_of_numbers) == (Fate.SURVIVED, True)
    assert one.because.endswith(", and no number is pinned: 9 states for 8 (MCBallot)")
    results.add(Trial(mutants[-1].id, "Pinned", Answer.ACTION, "takes Other", 0.1))
    one = fates(mutants[-1:], results, unpinned=unpinned)[0]
    assert (one.fate, one.because) == (Fate.NUMBERS, "takes Other (Pinned)")
    results.add(Trial(mutants[-1].id, "Third", Answer.PROPERTY, "P", 0.1))
    assert fates(mutants[-1:], results, unpinned=unpinned)[0].fate is Fate.PROPERTY


def test_a_mutant_without_another_step_is_not_counted_but_asks_for_a_reason() -> None:
    mutants, results = answered({**KILLED, SURVIVOR: Answer.SAME})
    summary = summary_of(mutants, results, NONE)
    assert (summary.whole.noticed, summary.whole.total) == (9, 9)
    assert [one.fate for one in summary.unexplained] == [Fate.SAME]
    assert summary.verdict is Verdict.VIOLATED
    results.add(Trial(mutants[-1].id, "Other", Answer.DIFFERENT, "", 0.1))
    assert summary_of(mutants, results, NONE).unexplained[0].fate is Fate.SURVIVED


def test_nothing_is_asked_where_there_is_no_file_of_explanations() -> None:
    mutants, results = answered({SURVIVOR: Answer.DIFFERENT})
    assert summary_of(mutants, results, NONE).verdict is Verdict.VIOLATED
    assert summary_of(mutants, results, replace(NONE, is_there=False)).verdict is Verdict.HELD
    results.add(Trial(mutants[0].id, "MCBallot", Answer.UNKNOWN, "", 0.1))
    asked = summary_of(mutants, results, replace(NONE, is_there=False))
    assert asked.verdict is Verdict.INCONCLUSIVE


def test_the_file_may_ask_for_other_shares(tmp_path: Path) -> None:
    (tmp_path / "mutation.toml").write_text("[least]\nnoticed = 100\nkilled = 80\n")
    asked = explanations(tmp_path)
    assert (asked.noticed_least, asked.killed_least) == (1.0, 0.8)
    mutants, results = answered({**KILLED, SURVIVOR: Answer.COUNT})
    assert summary_of(mutants, results, asked).verdict is Verdict.HELD
    for killed in (0.91, 0.95):
        stricter = replace(asked, killed_least=killed)
        assert summary_of(mutants, results, stricter).verdict is Verdict.VIOLATED


def test_what_ran_out_of_time_is_not_green() -> None:
    mutants, results = answered({**KILLED, SURVIVOR: Answer.UNKNOWN})
    assert summary_of(mutants, results, NONE).verdict is Verdict.INCONCLUSIVE


def test_what_is_no_tla_counts_for_nothing() -> None:
    mutants, results = answered({**KILLED, SURVIVOR: Answer.UNPARSABLE})
    summary = summary_of(mutants, results, NONE)
    assert (summary.whole.total, summary.verdict) == (9, Verdict.HELD)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (("Ballot.Close.drop-guard.019e6e", "IsMajority(granted)"), "it is killed: Detail"),
        (("Ballot.Close.drop-guard.000000", "gone"), "there is no such mutant any more"),
        (("Ballot.Open.drop-guard.ee3e5f", "epoch < 7"), "it changes epoch < MaxEpoch"),
    ],
)
def test_an_explanation_that_is_no_longer_true_is_an_error(
    entry: tuple[str, str], why: str
) -> None:
    mutants, results = answered({**KILLED, SURVIVOR: Answer.DIFFERENT})
    survivor = Explanation(mutants[-1].id, mutants[-1].original, "why", 3)
    stale = Explanation(*entry, "because", 9)
    entries = (stale,) if stale.id == survivor.id else (survivor, stale)
    summary = summary_of(mutants, results, replace(NONE, entries=entries))
    assert summary.verdict is Verdict.VIOLATED
    assert [(one.line, text[: len(why)]) for one, text in summary.stale] == [(9, why)]


def test_what_is_equivalent_does_not_count_unless_it_differs() -> None:
    mutants, results = answered({**KILLED, SURVIVOR: Answer.SAME})
    entry = Explanation(mutants[-1].id, mutants[-1].original, "the same", 3, True)
    explained = replace(NONE, entries=(entry,))
    known = {mutant.id: mutant for mutant in mutants_of("ballot").mutants}

    def judged() -> Summary:
        outcomes = fates(mutants, results, explained.equivalent)
        return summarize(outcomes, explained, known=known, modules=frozenset({"Ballot"}), untried=0)

    same = judged()
    assert (same.whole.killed, same.whole.total, same.verdict) == (9, 9, Verdict.HELD)
    results.add(Trial(mutants[-1].id, "Other", Answer.DIFFERENT, "", 0.1))
    other = judged()
    assert other.verdict is Verdict.VIOLATED
    assert other.stale == ((entry, "it is not equivalent: steps differ in 1 model"),)


def test_an_explanation_of_a_room_that_was_not_looked_at_is_left_alone() -> None:
    mutants, results = answered({**KILLED, SURVIVOR: Answer.COUNT})
    elsewhere = Explanation("Layout.Long.drop-guard.000000", "gone", "why", 3)
    assert summary_of(mutants, results, replace(NONE, entries=(elsewhere,))).stale == ()


def test_the_worst_answer_of_all_models_decides_nothing_and_the_best_all() -> None:
    mutants, results = answered({SURVIVOR: Answer.SAME})
    results.add(Trial(mutants[0].id, "Second", Answer.COUNT, "2 states for 1", 0.1))
    results.add(Trial(mutants[0].id, "Third", Answer.WITNESS, "DoneReach", 0.1))
    (one,) = fates(mutants, results)
    assert (one.fate, one.because, one.differs_in) == (Fate.WITNESS, "DoneReach (Third)", 2)


def test_results_are_gone_on_with_and_those_of_other_specs_are_not(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    first = Results(path, {"A": "1", "B": "1"})
    first.add(Trial("m", "A", Answer.SAME, "", 0.1))
    first.add(Trial("m", "B", Answer.PROPERTY, "P", 0.2))
    with path.open("a", encoding="utf-8") as file:
        file.write('{"mutant": "m", "mod')
    second = Results(path, {"A": "1", "B": "2"})
    assert list(second.trials) == [("m", "A")]
    second.add(Trial("n", "A", Answer.COUNT, "3", 0.1))
    assert list(Results(path, {"A": "1", "B": "1"}).trials) == [("m", "A"), ("m", "B"), ("n", "A")]


def test_a_file_that_holds_no_results_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text('{"mutant": 1}\n', encoding="utf-8")
    with pytest.raises(KraflaError, match=r"results.jsonl:1: this is no line of results"):
        Results(path, INPUTS)


@pytest.mark.nightly
def test_a_run_goes_on_where_another_was_ended(tmp_path: Path) -> None:
    specs = copy_of_specs(tmp_path)
    path = tmp_path / "results.jsonl"
    choice = Choice(rooms=("ballot",), operators=("weaken-quorum", "flip-boolean"))
    plan = plan_of(specs, choice, takes_all=True)
    asked: list[str] = []

    def note(trial: Trial | None, _: Results) -> None:
        asked.extend([] if trial is None else [trial.mutant])

    whole = run_plan(plan, workers=2, timeout=100, path=path, progress=note)
    assert sorted(asked) == sorted(mutant.id for mutant in plan.mutants)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3
    path.write_text(lines[0] + "\n" + lines[1][:30], encoding="utf-8")
    asked.clear()
    again = run_plan(plan, workers=1, timeout=100, path=path, progress=note)
    assert len(asked) == 2
    assert [one.fate for one in again.summary.outcomes] == [
        one.fate for one in whole.summary.outcomes
    ]


@pytest.mark.nightly
def test_a_process_that_says_nothing_is_replaced_and_its_mutant_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whatever it says in time is not heard.
    monkeypatch.setattr("krafla.mutate.pool.wait", lambda *_pipes, **_timeout: [])
    specs = copy_of_specs(tmp_path)
    plan = plan_of(specs, Choice(rooms=("ballot",)), only=("Ballot.IsMajority.weaken-quorum.6db",))
    results = Results(None, plan.population.inputs)
    pool = Pool(specs, results, workers=1, timeout=0.0)
    pool.run(jobs(plan.mutants, plan.population.models, 1), lambda _: None)
    (trial,) = results.trials.values()
    assert (trial.answer, trial.detail) == (Answer.UNKNOWN, "no answer within 0 s")


@pytest.mark.nightly
def test_a_model_that_is_not_held_makes_the_run_inconclusive(tmp_path: Path) -> None:
    specs = copy_of_specs(tmp_path)
    plan = plan_of(specs, Choice(rooms=("layout",)), only=("Layout.Long.drop-guard",))
    report = run_plan(plan, workers=1, timeout=100, path=None, progress=lambda *_: None)
    assert "Layout is not held as it stands" in report.broken["Layout"]
    assert report.summary.untried == 1
    assert report.summary.verdict is not Verdict.HELD


@pytest.mark.nightly
def test_a_mutant_that_is_named_is_the_same_though_only_its_room_is_read() -> None:
    names = ("Ballot.IsMajority.weaken-quorum", "Layout.Long.drop-guard")
    read: list[tuple[int, int]] = []
    plan = plan_of(SPECS, Choice(), only=names, progress=lambda *counts: read.append(counts))
    one = plan_of(SPECS, Choice(), only=names[1:], progress=lambda *counts: read.append(counts))
    whole = {mutant.id: mutant for mutant in population(SPECS, Choice()).mutants}

    assert len(plan.mutants) > len(one.mutants) >= 1
    assert all(mutant == whole[mutant.id] for mutant in (*plan.mutants, *one.mutants))
    assert {model.room for model in plan.population.models} == {"ballot", "layout"}
    assert {model.room for model in one.population.models} == {"layout"}
    models = [len(each.population.models) for each in (plan, one)]
    assert read == [(number, count) for count in models for number in range(count)]


def test_a_name_that_begins_no_module_is_looked_for_everywhere() -> None:
    (mutant,) = plan_of(SPECS, Choice(), only=("Layou",)).mutants[:1]
    assert mutant.module == "Layout"


@pytest.mark.nightly
def test_the_command_lists_the_same_mutants_under_every_hash_seed() -> None:
    lists = [krafla("--list", "--sample", "30", seed=seed).stdout for seed in ("0", "1")]
    assert lists[0] == lists[1]
    assert "30 mutants of " in lists[0]


def test_the_command_shows_what_a_mutant_changes() -> None:
    shown = krafla("--show", "Ballot.Close.drop-guard.019")
    assert shown.returncode == 0
    assert "-  /\\ IsMajority(granted)" in shown.stdout
    assert "tried on MCBallot" in shown.stdout


def test_the_command_judges_and_says_how_to_see_it_again() -> None:
    run = krafla("--room", "ballot", "--operator", "weaken-quorum", "--sample", "5")
    assert run.returncode == 1
    assert "VIOLATED  1 of 1 mutants noticed (100.0%, at least 90% must be)" in run.stdout
    assert "not counted: 1 without any difference within the bounds" in run.stdout
    assert "krafla mutate specs --only Ballot.IsMajority.weaken-quorum" in run.stdout


@pytest.mark.nightly
def test_the_command_gives_one_json_document() -> None:
    run = krafla("--json", "--only", "Ballot.Close.drop-guard.019")
    data = json.loads(run.stdout)
    assert (run.returncode, data["verdict"], data["killed"]) == (0, "held", 1)
    (row,) = data["mutants"]
    assert (row["fate"], row["detail"], row["model"]) == (
        "by a property", "ClosedByMajorityProp", "MCBallot",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "Nothing"], "no mutant is called Nothing"),
        (["--tier", "huge"], "--tier is one of smoke, full, nightly; not 'huge'"),
        (["--module", "Typo"], "no module 'Typo' to mutate"),
        (["--results", "/nowhere/results.jsonl"], "/nowhere: there is no such folder"),
    ],
)
def test_a_wrong_question_is_one_sentence_and_exit_status_2(
    arguments: list[str], message: str
) -> None:
    run = krafla(*arguments)
    assert run.returncode == 2
    # A slow machine tells how far it has come.
    (said,) = [line for line in run.stderr.splitlines() if not line.startswith("reading the specs")]
    assert message in said


def test_a_spec_that_does_not_parse_is_named_with_its_line(tmp_path: Path) -> None:
    specs = copy_of_specs(tmp_path)
    file = specs / "ballot" / "Ballot.tla"
    file.write_text(file.read_text(encoding="utf-8").replace("epoch + 1", "epoch + )"))
    run = krafla("--list", specs=specs)
    assert run.returncode == 2
    assert "Ballot.tla:34" in run.stderr
