"""What the lockstep's spec finds by halving is what its definitions say, for every short log."""

from __future__ import annotations

import shutil

import pytest

from krafla.manifest import find_specs, load
from krafla.tlc.trial import Trial
from krafla.verdict import Verdict

# Models let the voters of few logs change, so all logs of up to four records are asked about here.
FOUND = r"""\A n \in 0 .. 4 :
  \A entries \in [1 .. n -> [epoch : {1}, kind : {"Voters"}, value : {{}, Replica}]
                        \cup [epoch : {1}, kind : {"Data", "LeaderChange"}, value : Replica]] :
    FoundVotersOffset(entries) = VotersOffset(entries)"""
LAST = "later == LastVoters(records, middle + 1, high)\n"
LAST += "       IN  IF later # 0 THEN later ELSE LastVoters(records, low, middle)"
FIRST = "earlier == LastVoters(records, low, middle)\n"
FIRST += "       IN  IF earlier # 0 THEN earlier ELSE LastVoters(records, middle + 1, high)"


@pytest.mark.by_day(1)
@pytest.mark.parametrize(
    ("text", "verdict"), [(LAST, Verdict.HELD), (FIRST, Verdict.VIOLATED)], ids=["last", "first"]
)
def test_the_last_voters_of_a_log_are_found(tmp_path, text, verdict):
    specs = tmp_path / "specs"
    shutil.copytree(find_specs(), specs)
    file = specs / "raft" / "KRaftSteps.tla"
    source = file.read_text(encoding="utf-8")
    assert source.count(LAST) == 1
    file.write_text(source.replace(LAST, text), encoding="utf-8")
    (model,) = load(specs).select(("MCKRaftStepsPreVote",))
    with Trial((FOUND,)).folder() as folder:
        check = Trial((FOUND,)).check(folder, model, workers=1)
    assert check.verdict is verdict, check.judgement.reasons
