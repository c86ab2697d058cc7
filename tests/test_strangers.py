"""The check of strangers' specs: its table, its answers, and how a run that was cut off goes on."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from strangers import __main__ as strangers
from strangers import traces
from strangers.page import TREATMENT, page, shortcomings

SPEC = """---- MODULE Lamp ----
EXTENDS Naturals
VARIABLES lit, count
Init == lit = FALSE /\\ count = 0
Press == count < 3 /\\ lit' = ~lit /\\ count' = count + 1
Reset == lit' = FALSE /\\ count' = 0
Next == Press \\/ Reset
Few == count <= 3
====
"""
CONFIG = "INIT Init\nNEXT Next\nINVARIANT Few\n"
STAGES = [
    {"stage": "load", "ok": True, "text": ""},
    {"stage": "check", "ok": True, "holds": True, "distinct": 4, "text": "no error"},
    {"stage": "explore", "ok": True, "distinct": 4, "violated": None, "complete": True},
    {"stage": "explain", "ok": True, "text": "mutant: Few is false"},
]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


ROW = strangers.Row(
    "else/lamps", "Lamp.tla", "Lamp.cfg", "success", 4, digest(SPEC), digest(CONFIG)
)


@pytest.fixture
def checkouts(tmp_path, monkeypatch):
    """Return a folder with a checkout of one spec, which is the whole table."""
    folder = tmp_path / "checkouts" / "else+lamps"
    folder.mkdir(parents=True)
    (folder / "Lamp.tla").write_text(SPEC)
    (folder / "Lamp.cfg").write_text(CONFIG)
    monkeypatch.setattr(strangers, "table", lambda: [ROW])
    monkeypatch.setitem(strangers.REPOSITORIES, "else/lamps", "c0ffee")
    return folder.parent


def answer(*changed, **row):
    stages = {one["stage"]: one for one in STAGES} | {one["stage"]: one for one in changed}
    return {"row": asdict(replace(ROW, **row)), "stages": [*stages.values()]}


def test_the_table_names_files_by_digest_and_repositories_by_commit():
    rows = strangers.table()

    assert len({row.name for row in rows}) == len(rows) >= 40
    for row in rows:
        assert re.fullmatch(r"[0-9a-f]{40}", strangers.REPOSITORIES[row.repository])
        assert all(len(one) == 64 for one in (row.module_sha256, row.cfg_sha256))
        assert row.result in {"success", "safety", "liveness", "deadlock", "assumption", "large"}


def test_a_spec_is_tried_once_and_written_on_the_page(checkouts, tmp_path, capsys):
    options = ["--checkouts", str(checkouts), "--results", str(tmp_path / "results")]
    status = strangers.main([*options, "--page", str(tmp_path / "page.md")])
    text = (tmp_path / "page.md").read_text()

    assert status == 0, capsys.readouterr().out
    assert "| else: Lamp | 4 | yes | yes | yes | yes |" in text
    assert "1 all four" in text
    capsys.readouterr()
    assert strangers.main(options) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [("Lamp.tla", None, "is not there"), ("Lamp.cfg", f"{CONFIG}\n", "is another file")],
)
def test_a_file_that_is_not_that_of_the_table_is_refused(checkouts, name, text, told, capsys):
    path = checkouts / "else+lamps" / name
    path.unlink()
    if text is not None:
        path.write_text(text)

    assert strangers.main(["--checkouts", str(checkouts)]) == 2
    error = capsys.readouterr().err
    assert str(path) in error
    assert told in error
    assert "c0ffee" in error


def test_a_spec_that_does_all_that_it_should_has_no_shortcoming():
    assert not any(shortcomings(answer()).values())
    assert not any(shortcomings(answer(result="large", distinct=None)).values())


@pytest.mark.parametrize(
    ("stage", "change", "row"),
    [
        ("load", {"ok": False, "text": "no module Nowhere"}, {}),
        ("check", {"distinct": 5}, {}),
        ("check", {"holds": False}, {}),
        ("check", {}, {"result": "safety", "distinct": None}),
        ("explore", {"distinct": 5}, {}),
        ("explore", {"distinct": 5}, {"distinct": None}),
        ("explore", {}, {"result": "safety", "distinct": None}),
        ("explain", {"ok": False, "text": "no conjunct is blamed"}, {}),
    ],
)
def test_what_a_spec_did_not_do_is_told_with_its_stage(stage, change, row):
    (known,) = (one for one in STAGES if one["stage"] == stage)
    given = answer({**known, **change}, **row)

    assert shortcomings(given)[stage]
    assert "**no**" in page([given], [], 1)
    assert f"{stage}: " in page([given], [], 1) or "check: " in page([given], [], 1)


def test_a_stage_that_time_cut_off_says_so():
    given = answer()
    given["stages"] = [given["stages"][0], {"stage": "end", "ok": False, "text": "not within 5 s"}]

    assert shortcomings(given) == {
        "load": None, "check": "not within 5 s", "explore": "not within 5 s",
        "explain": "not within 5 s",
    }  # fmt: skip


def test_json_becomes_values_of_tla():
    read = json.loads('{"a": [1, true, null], "b": {"c": "x"}}')

    assert traces.fmt(traces.value_of(read)) == '[a |-> <<1, TRUE, "null">>, b |-> [c |-> "x"]]'


def test_traces_that_were_followed_and_broken_ones_are_told_apart():
    known = {"trace": "lamp", "lines": 9, "must_follow": 9, "followed": 9, "foreign": 1}
    text = page([answer()], [known, {**known, "must_follow": 4, "followed": 4}], 3)

    assert "1 of the 3 that" in text
    assert "| lamp | 9 | 9 | 1 |" in text
    assert "1 of 1\ntraces" in text
    assert "1 of 1 end at that line" in text
    assert "0 of 1 end at that line" in page([answer()], [{**known, "must_follow": 4}], 1)


def test_the_page_tells_how_specs_are_treated_now():
    text = Path(__file__).parents[1].joinpath("docs/strangers.md").read_text("utf-8")

    assert text.endswith(TREATMENT.strip() + "\n")
