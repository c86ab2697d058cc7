"""The report on a campaign: its findings as stories, and what its verdict rests on."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.browser import faults

from krafla.fuzz.engine import run_file
from krafla.fuzz.engine.system import RunOptions, find_system
from krafla.pipeline.campaign.findings import save_findings
from krafla.pipeline.campaign.plan import SEED
from krafla.pipeline.report.run import make_report, write_report
from krafla.pipeline.report.stories import story_of

pytestmark = pytest.mark.xdist_group("spark")


@pytest.mark.nightly
def test_a_campaign_is_reported_with_the_stories_of_its_findings(spark, seeded, tmp_path):
    outcome, store = seeded
    (told,) = outcome.findings
    made = make_report(spark, store.uri)
    (row,) = made.tables["findings"]
    assert (row["seeds"], row["number"], row["path"][-1]) == (
        told["seeds"], told["number"], told["property"],
    )  # fmt: skip
    for text in ("KeepFenced: the implementation did", "contact_age", "steps that lead there"):
        assert text in row["story"]
    assert (
        made.document.title == "Violated: KeepFenced of the implementation is no step of the spec"
    )
    # Nothing was saved yet: the command says how.
    (save, *others) = [line for line in made.markdown.splitlines() if line.startswith("krafla ")][
        :3
    ]
    assert save == f"{outcome.reproduce} {outcome.out} --found found"
    assert [line.split()[1] for line in others] == ["explain", "replay"]
    _sums_agree(made.tables, outcome)
    folder = Path(store.uri)
    save_findings(store, folder / "found", outcome.load)
    written = write_report(
        spark, store.uri, markdown=tmp_path / "page.md", tables=str(tmp_path / "tables")
    )
    assert written.page == folder / "report.html"
    page = written.page.read_text("utf-8")
    for text in (page, written.markdown.read_text("utf-8")):
        assert f"krafla explain {folder}/found/{told['saved'][0]}" in text
        assert f"the {told['smallest']} steps that lead there" in text
        assert "--found found" not in text
    assert faults({"the campaign": page}, tmp_path) == []
    unfolded = page.replace("<details", "<details open")
    assert faults({"the campaign": unfolded}, tmp_path, dark=True) == []
    stored = spark.spark.read.parquet(f"{tmp_path}/tables/findings").collect()
    assert [one["story"] for one in stored] == [row["story"]]
    assert len(written.tables) == 7


def _sums_agree(tables, outcome):
    """Compare the tables with the result that the campaign itself has."""
    counts = {row["name"]: row["value"] for row in tables["summary"]}
    assert counts.items() <= outcome.counts.items()
    for verdict in ("held", "violated", "inconclusive"):
        for name in ("profiles", "waves"):
            assert sum(row[verdict] for row in tables[name]) == outcome.counts[verdict], name
    tallies = {}
    for row in tables["tallies"]:
        tallies.setdefault(row["tally"], {})[row["name"]] = row["count"]
        assert (row["count"] > 0) == (row["runs"] > 0)
    assert tallies == {name: counts for name, counts in outcome.tallies.items() if counts}
    first, last = tables["waves"]
    assert (first["last"], last["first"]) == (7, 8)
    assert first["new_states"] + last["new_states"] == last["states"] == counts["states"]
    assert sum(row["steps"] for row in tables["speeds"]) == outcome.counts["steps"]
    assert sum(row["seeds"] for row in tables["processes"]) == 8
    busy = [sum(row["busy_ms"] for row in tables[name]) for name in ("processes", "waves")]
    assert busy[0] == busy[1] > 0


def test_a_run_on_machines_is_played_again_for_its_story(tmp_path):
    system = find_system("raft")
    run = system.play_number(SEED, 0, RunOptions(faults=(), chaos=1.0))
    run_file.write(system, run, tmp_path / "run.json")
    assert "nothing was found; the same run as in the file" in story_of(
        {"run.json": (tmp_path / "run.json").read_bytes()}
    )


@pytest.mark.parametrize("content", [b"", b"{", b'{"krafla_trace": 1}'])
def test_a_file_that_cannot_be_told_says_why(content):
    for name in ("x.ndjson", "../x.json"):
        assert story_of({name: content}).startswith("This finding cannot be told: ")
    assert story_of({}) == ""
