"""What the commands of a night print is read, and loses nothing that was found."""

from __future__ import annotations

import json
import sys

from night import answers, process, stages
from tests.krafla.fuzz.fuzz_runs import CHOICE_DRIVEN, fuzz, krafla


def test_what_fuzz_prints_is_read():
    lease = CHOICE_DRIVEN[0]
    held = fuzz("lease", "--examples", "2", "--steps", "40", "--json", "--require-coverage")
    answer = answers.fuzz(held.exit_code, held.stdout)
    assert (answer.word, answer.verdicts) == ("inconclusive", {"lease": "inconclusive"})
    assert answer.findings[0].text.startswith("actions never taken: ")
    assert answer.facts == ["2 runs, 80 steps judged by the spec"]
    with lease.broken():
        bad = fuzz(*lease.arguments, "--no-shrink", "--json")
    answer = answers.fuzz(bad.exit_code, bad.stdout)
    (finding,) = answer.findings
    assert answer.word == "violated"
    assert finding.key.startswith("lease: ")
    assert "krafla fuzz lease" in finding.again


def test_steps_that_only_properties_judge_are_told_with_their_properties():
    counts = {"steps": 1000, "judged": 0, "acknowledged": 3, "properties": 61}
    assert answers.played(counts) == "1,000 steps, 61 properties checked after each"
    assert answers.played(counts | {"judged": 7}).endswith("after each, 7 judged by the spec")
    seeds = {"seeds": 5, "held": 5, "violated": 0, "inconclusive": 0}
    printed = {
        "system": "raft", "verdict": "held", "findings": [], "doubts": [], "counts": seeds | counts,
        "reproduce": "again",
    }  # fmt: skip
    assert answers.campaign(0, json.dumps(printed)).facts == [
        "5 seeds, 5 held: 1,000 steps, 61 properties checked after each"
    ]


def test_the_record_of_a_night_names_no_folder_of_its_machine():
    printed = json.dumps({"folder": f"{answers.ROOT}/traces", "other": "/elsewhere"})
    assert answers.document(printed) == {"folder": "traces", "other": "/elsewhere"}


def test_what_the_audit_prints_is_read():
    logs = stages.ROOT / "traces" / "kafka-4.1" / "crash"
    result = krafla("audit", str(logs), "--json")
    answer = answers.audit(result.exit_code, result.stdout)
    assert answer.word == "held"
    assert [*answer.verdicts.values()] == ["held"]
    assert "records" in answer.facts[0]
    data = json.loads(result.stdout)
    data["clusters"][0]["findings"] = [
        {"weight": "violation", "path": "a.log", "kind": "EpochBegins", "detail": "no"},
        {"weight": "note", "path": "a.log", "kind": "a note", "detail": "no"},
    ]
    (finding,) = answers.audit(1, json.dumps(data)).findings
    assert finding.text == "a.log: EpochBegins: no"


def test_what_pytest_writes_is_read(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "import pytest\ndef test_good(): pass\ndef test_bad(): assert 1 == 2\n"
        "def test_skipped(): pytest.skip('no')\n"
    )
    results = tmp_path / "tests.xml"
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={results}", tmp_path)
    ended = process.run([sys.executable, *map(str, words)], {}, tmp_path / "log", tmp_path, 300)
    answer = answers.tests(ended.status, ended.output, results)

    assert (answer.word, answer.facts) == ("violated", ["3 tests, 1 failed, 1 skipped"])
    (finding,) = answer.findings
    assert finding.text == "test_it::test_bad: assert 1 == 2"
    assert [*answer.seconds] == ["test_it"]
