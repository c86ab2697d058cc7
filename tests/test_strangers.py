"""The check of strangers' specs: its table, its answers, and how a run that was cut off goes on."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from strangers import __main__ as strangers
from strangers import traces, trial
from strangers import version as versions
from strangers.page import (
    ENDS,
    INTRODUCTION,
    NOTHING,
    TREATMENT,
    is_followed,
    page,
    shortcomings,
)
from strangers.version import version

from krafla.oracle import Explanation
from krafla.verdict import KraflaError

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
    {"stage": "check", "ok": True, "kind": "Finished", "violated": [], "distinct": 4, "text": ""},
    {"stage": "explore", "ok": True, "distinct": 4, "violated": None, "complete": True},
    {"stage": "explain", "ok": True, "text": "mutant x: Few is false"},
]
STAGE_NAMES = [one["stage"] for one in STAGES]


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
    assert "| all | 1 | 1 | 1 | 1 | 1 | 1 |" in text
    assert "asked about 1 specs that others wrote, unchanged; `.ci/strangers/specs.csv`" in text
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


def changed(stage, **change):
    (known,) = (one for one in STAGES if one["stage"] == stage)
    return {**known, **change}


FAILS = [
    changed("check", kind="InvariantViolated", violated=["Few"]),
    changed("explore", violated="Few", complete=False, distinct=3),
    changed("explain", text="as published: Few is false: count <= 3"),
]
LARGE = [
    changed("check", kind="Interrupted"),
    changed("explore", distinct=5_000, complete=False),
]
UNFAIR = [changed("check", kind="TemporalPropertyViolated", violated=["Lit"])]


@pytest.mark.parametrize(
    ("stages", "row"),
    [
        ([], {}),
        (FAILS, {"result": "safety", "distinct": None}),
        (UNFAIR, {"result": "liveness", "distinct": None}),
        (LARGE, {"result": "large", "distinct": None}),
        ([changed("explain", text=NOTHING[0])], {}),
    ],
)
def test_a_spec_that_does_all_that_it_should_has_no_shortcoming(stages, row):
    assert not any(shortcomings(answer(*stages, **row)).values())


SAFETY = {"result": "safety", "distinct": None}
MANY = {"result": "large", "distinct": None}


@pytest.mark.parametrize(
    ("stage", "change", "stages", "row"),
    [
        ("load", {"ok": False, "text": "no module Nowhere"}, [], {}),
        ("check", {"distinct": 5}, [], {}),
        ("check", {"kind": "InvariantViolated"}, [], {}),
        ("check", {"kind": "Finished"}, FAILS, SAFETY),
        ("check", {"kind": "TemporalPropertyViolated"}, FAILS, SAFETY),
        ("check", {"kind": "Deadlock"}, FAILS, SAFETY),
        ("check", {"kind": "InvariantViolated"}, UNFAIR, {"result": "liveness"}),
        ("check", {"kind": "OutOfMemory"}, LARGE, MANY),
        ("explore", {"distinct": 5}, [], {}),
        ("explore", {"distinct": 5}, [], {"distinct": None}),
        ("explore", {"complete": False}, [], {}),
        ("explore", {"violated": "Few"}, [], {}),
        ("explore", {"violated": None}, FAILS, SAFETY),
        ("explore", {"violated": "Lit"}, FAILS, SAFETY),
        ("explore", {"complete": False}, UNFAIR, {"result": "liveness"}),
        ("explore", {"distinct": 4_999, "complete": False}, LARGE, MANY),
        ("explain", {"ok": False, "text": "no conjunct is blamed"}, [], {}),
        ("explain", {"text": ""}, [], {}),
        ("explain", {"text": "as published: Few is false"}, [], {}),
        ("explain", {"text": "mutant x: Few is false"}, FAILS, SAFETY),
        ("explain", {"text": NOTHING[1]}, FAILS, SAFETY),
        ("explain", {"text": NOTHING[0]}, LARGE, MANY),
    ],
)
def test_what_a_spec_did_not_do_is_told_with_its_stage(stage, change, stages, row):
    known = {one["stage"]: one for one in [*STAGES, *stages]}[stage]
    given = answer(*stages, {**known, **change}, **row)

    assert [name for name, reason in shortcomings(given).items() if reason][:1] == [stage]
    assert f"| {stage}: " in page([given], [], 1)


def test_specs_that_fail_for_one_reason_are_one_line():
    names = ("Low", "High")
    given = [
        answer({"stage": "load", "ok": False, "text": f"{one}.cfg: gives the constant {one} no"})
        for one in names
    ]
    for one, name in zip(given, names, strict=True):
        one["row"]["module"], one["row"]["cfg"] = f"{name}.tla", f"{name}.cfg"

    text = page(given, [], 2)
    assert "| else: High, else: Low | load: its cfg gives a constant no value |\n" in text


def test_a_spec_with_nothing_to_explain_is_not_counted_as_explained():
    text = page([answer(changed("explain", text=NOTHING[0])), answer()], [], 2)

    assert "| all | 2 | 2 | 2 | 2 | 1 (1 have nothing to explain) | 2 |" in text
    assert "0 are the spec's own, 1 come from a mutant" in text


@pytest.mark.parametrize(
    ("finding", "reasons"), [("Few cannot be evaluated", ("count <= 3",)), ("Few is false", ())]
)
def test_an_explanation_names_a_conjunct_that_is_false(finding, reasons):
    with pytest.raises(KraflaError, match="no conjunct is false"):
        trial.first_reason(Explanation(finding, reasons))


@pytest.mark.parametrize(
    ("kept", "status", "told"),
    [
        ([], 2, "has no answer to this table"),
        ([replace(ROW, distinct=5)], 2, "has no answer to this table"),
        ([ROW], 0, ""),
        ([ROW, None], 3, "1 of 2 specs have no answer"),
    ],
)
def test_answers_that_are_missing_or_about_another_table_are_not_green(
    checkouts, tmp_path, monkeypatch, capsys, kept, status, told
):
    other = replace(ROW, repository="else/others")
    monkeypatch.setattr(strangers, "table", lambda: [ROW, other][: max(1, len(kept))])
    monkeypatch.setattr(strangers, "mismatches", lambda *_: [])
    for row in filter(None, kept):
        given = {"row": asdict(row), "krafla": version(), "stages": STAGES}
        strangers.answer_file(row, tmp_path).write_text(json.dumps(given))

    given = ["--checkouts", str(checkouts), "--results", str(tmp_path), "--known"]
    assert strangers.main(given) == status
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("of", [{}, {"krafla": "another"}])
def test_an_answer_of_another_krafla_is_told_and_asked_again(checkouts, tmp_path, capsys, of):
    strangers.answer_file(ROW, tmp_path).write_text(json.dumps(answer() | of))
    given = ["--checkouts", str(checkouts), "--results", str(tmp_path)]
    page_of = tmp_path / "page.md"

    assert strangers.main([*given, "--known", "--page", str(page_of)]) == 3
    assert "1 of 1 answers are older than this krafla or its TLC" in capsys.readouterr().err
    assert "| all | 1 | 1 | 1 | 1 | 1 | 1 |" in page_of.read_text()
    assert strangers.main(given) == 0
    assert capsys.readouterr().out.startswith("1/1 else/lamps/Lamp.tla:Lamp.cfg: ")
    assert strangers.main([*given, "--known"]) == 0


def test_which_krafla_it_is_depends_on_its_sources_and_on_tlc(tmp_path, monkeypatch):
    found = {version()}
    with monkeypatch.context() as changed:
        changed.setattr(versions, "SHA256", "another")
        found.add(version.__wrapped__())
    (tmp_path / "krafla.py").write_text("")
    monkeypatch.setattr(versions, "MODEL", tmp_path)
    found.add(version.__wrapped__())
    (tmp_path / "krafla.py").write_text("pass\n")
    found.add(version.__wrapped__())

    assert len(found) == 4


@pytest.mark.parametrize(
    ("change", "status", "told"),
    [
        ({}, 0, ""),
        ({"followed": 8}, 1, "1 of 2 traces are not followed as they must be: a\n"),
        ({"error": "no module", "followed": None}, 1, "1 of 2 traces are not followed"),
        ({"krafla": "another"}, 3, "1 of 3 answers are older"),
    ],
)
def test_a_trace_that_is_not_followed_counts(checkouts, tmp_path, capsys, change, status, told):
    given = answer() | {"krafla": version()}
    strangers.answer_file(ROW, tmp_path).write_text(json.dumps(given))
    lines = [{**TRACE, **change}, {**CUT, "trace": "b"}]
    traces_of = tmp_path / "traces.ndjson"
    traces_of.write_text("".join(json.dumps({"krafla": version()} | one) + "\n" for one in lines))

    options = ["--results", str(tmp_path), "--known", "--traces", str(traces_of)]
    assert strangers.main(["--checkouts", str(checkouts), *options]) == status
    assert told in capsys.readouterr().err


def test_a_stage_that_time_cut_off_says_so():
    given = answer()
    given["stages"] = [given["stages"][0], {"stage": "end", "ok": False, "text": "not within 5 s"}]

    assert "| all | 1 | 1 | 0 | 0 | 0 | 0 |" in page([given], [], 1)
    assert shortcomings(given) == {
        "load": None, "check": "not within 5 s", "explore": "not within 5 s",
        "explain": "not within 5 s",
    }  # fmt: skip


def test_json_becomes_values_of_tla():
    read = json.loads('{"a": [1, true, null], "b": {"c": "x"}}')

    assert traces.fmt(traces.value_of(read)) == '[a |-> <<1, TRUE, "null">>, b |-> [c |-> "x"]]'


TRACE = {"trace": "a", "lines": 9, "must_follow": 9, "followed": 9, "foreign": 1, "tlc": ENDS[True]}
CUT = {**TRACE, "must_follow": 4, "followed": 4, "tlc": ENDS[False]}


@pytest.mark.parametrize(
    "change", [{"followed": 8}, {"tlc": ENDS[False]}, {"tlc": "stopped"}, {"must_follow": 8}]
)
def test_a_trace_is_followed_if_oracle_and_tlc_say_so(change):
    assert is_followed(TRACE)
    assert not is_followed({**TRACE, **change})
    assert is_followed(CUT)
    assert not is_followed({**CUT, "tlc": ENDS[True]})
    assert not is_followed({"trace": "a", "lines": 9, "must_follow": 9, "error": "no module"})


def test_traces_that_were_followed_and_broken_ones_are_told_apart():
    text = page([answer()], [TRACE, CUT], 3)

    assert "asked about 1 of 3 specs that others wrote" in text
    assert "Of 1\ntraces with 9 lines together, 1 are followed" in text
    assert "1 of 1 end at that line" in text
    assert "In 1 of them the trace spec takes steps by a rule of its own, 1 together" in text
    text = page([answer()], [{**CUT, "followed": 5}, {**TRACE, "error": "no end", "tlc": None}], 1)
    assert "0 of 1 end at that line" in text
    assert "* a: no end\n" in text


def published(file="docs/strangers.md"):
    return Path(__file__).parents[1].joinpath(file).read_text("utf-8")


def test_the_page_tells_how_specs_are_treated_now():
    text = published()
    assert text.startswith(INTRODUCTION.format(asked=f"{len(strangers.table())} specs"))
    assert text.endswith(TREATMENT.strip() + "\n")


def cells(text, columns):
    """Return the rows of a table of the page, each as its cells, without the head."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [row for row in rows[1:] if len(row) == columns]


def failures(text):
    """Return of each spec that failed, by its name on the page, the stage that failed first."""
    rows = cells(text.partition("## Why not")[2].partition("\n## ")[0], 2)
    return {name: reason.partition(":")[0] for names, reason in rows for name in names.split(", ")}


def home_of(name, table):
    """Return the repository of a spec that the page names by owner and module, perhaps a cfg."""
    owner, module = name.partition(" (")[0].split(": ")
    (home,) = {
        row.repository
        for row in table
        if row.repository.startswith(f"{owner}/") and f"/{row.module}".endswith(f"/{module}.tla")
    }
    return home


def test_the_figures_of_the_page_agree_with_its_rows_and_with_the_table():
    text = published()
    rows = {
        name: [int(number) for number in re.findall(r"\d+", " ".join(numbers))]
        for name, *numbers in cells(text.partition("## Why not")[0], 7)
    }
    whole = rows.pop("all")
    # The specs with nothing to explain stand in brackets, where there are any.
    nothing = {name: row.pop(5) if len(row) == 7 else 0 for name, row in rows.items()}
    assert whole.pop(5) == sum(nothing.values())
    assert [sum(column) for column in zip(*rows.values(), strict=True)] == whole
    told = re.search(r"(\d+) are the spec's own, (\d+) come from a mutant, (\d+) from an", text)
    assert sum(map(int, told.groups())) == whole[4]

    table = strangers.table()
    asked = Counter(row.repository for row in table)
    assert {name: row[0] for name, row in rows.items()} == asked
    failed = failures(text)
    first = Counter((home_of(name, table), stage) for name, stage in failed.items())
    for name, (count, loaded, checked, _explored, explained, through) in rows.items():
        assert loaded == count - first[name, "load"]
        assert checked == loaded - first[name, "check"]
        assert through == count - sum(first[name, stage] for stage in STAGE_NAMES)
        assert explained + nothing[name] >= through


def test_the_figures_of_the_page_are_those_of_the_readme_and_the_change_log():
    (row,) = (one for one in cells(published(), 7) if one[0] == "all")
    _, asked, loaded, _, _, _, through = row

    specs = f"[{asked} specs that others wrote](docs/strangers.md)"
    assert f"Of {specs}, {loaded} load, and {through} pass all" in published("README.md")
    assert f"{loaded} of {specs} load as they are" in published("CHANGELOG.md")
