"""The data source ``krafla-campaign``: runs as rows, in anybody's session."""

from __future__ import annotations

import pytest

from krafla.fuzz.engine.system import RunOptions, find_system
from krafla.pipeline.campaign.plan import SEED
from krafla.pipeline.campaign.rows import PLAYED
from krafla.spark.campaign_source import CampaignSource, plan_of
from krafla.verdict import KraflaError


@pytest.mark.xdist_group("spark")
def test_a_row_is_the_run_of_its_seed(spark):
    spark.spark.dataSource.register(CampaignSource)
    source = spark.spark.read.format("krafla-campaign").option("system", "raft")
    frame = source.option("seeds", "3..5").option("chaos", "1").option("chunk", 2).load()
    assert frame.columns == PLAYED.names
    found = sorted(frame.collect(), key=lambda row: row["seed"])
    runs = find_system("raft").runs(SEED, RunOptions(chaos=1.0))
    assert [row["seed"] for row in found] == [3, 4, 5]
    for row in found:
        run = runs.play(row["seed"])
        assert (row["digest"], row["run"]) == (run.result_digest(row["seed"]), run.digest)
        assert (row["steps"], row["totals"]) == (run.steps, dict(run.tallies["totals"]))


@pytest.mark.xdist_group("spark")
def test_a_wrong_option_is_one_sentence_of_the_user(spark):
    from pyspark.errors import PySparkException

    spark.spark.dataSource.register(CampaignSource)
    source = spark.spark.read.format("krafla-campaign").option("system", "raf")
    with pytest.raises(PySparkException, match="did you mean raft"):
        source.option("seeds", "3..5").load().collect()


def test_options_are_those_of_krafla_fuzz():
    plan = plan_of({
        "system": "lease", "Seeds": "0..9", "profile": "shutdowns,restless", "steps": "7",
        "chunk": "3",
    })  # fmt: skip
    assert (plan.first, plan.last, plan.chunk) == (0, 9, 3)
    assert plan.runs.options == RunOptions(7, ("shutdowns", "restless"))
    assert plan_of({"system": "raft", "seeds": "1..1"}).chunk == find_system("raft").chunk
    raft = plan_of({"system": "raft", "seeds": "1..1", "lockstep": "TRUE", "faults": "none"})
    assert raft.runs.options == RunOptions(faults=(), lockstep=True)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"seeds": None}, "needs the option 'seeds'"),
        ({"system": None}, "needs the option 'system'"),
        ({"seeds": "9"}, "a first and a last number"),
        ({"step": "9"}, "no option 'step'; did you mean steps"),
        ({"steps": "0"}, "a number from 1"),
        ({"steps": "many"}, "a number from 1"),
        ({"chaos": "2"}, "lease takes no option 'chaos'"),
        ({"system": "raft", "steps": "2"}, "raft takes no option 'steps'"),
        ({"system": "raft", "chaos": "nan"}, "at least 1"),
        ({"system": "raft", "lockstep": "maybe"}, "true or false"),
        ({"profile": "restles"}, "did you mean restless"),
    ],
)
def test_an_option_that_is_wrong_is_named(wrong, reason):
    options = {"system": "lease", "seeds": "0..9"} | wrong
    with pytest.raises(KraflaError, match=reason):
        plan_of({name: text for name, text in options.items() if text is not None})
