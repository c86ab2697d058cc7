"""docs/other-languages.md: its logs, requests and answers are those of the commands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.krafla.cli.lock_spec import LOCK, krafla

PAGE = (Path(__file__).parents[3] / "docs" / "other-languages.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\{.*?\})` \| `(\{.*?\})` \|", re.MULTILINE)


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_log_at_the_beginning_is_judged_as_shown(tmp_path, monkeypatch):
    shown, _ = blocks("console")
    log, _, said = shown.partition("$ krafla validate lock.log --spec Lock.tla\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for file in (LOCK, LOCK.with_suffix(".cfg")):
        (tmp_path / file.name).write_text(file.read_text(encoding="utf-8"))
    (tmp_path / "lock.log").write_text(log.removeprefix("$ cat lock.log\n"))

    assert krafla("validate", "lock.log", "--spec", "Lock.tla").stdout.startswith(said)


def test_each_request_is_answered_as_shown(tmp_path, monkeypatch):
    rows = ROW.findall(PAGE)
    hello, violated = (one.strip() for one in blocks("json")[1:3])
    monkeypatch.chdir(tmp_path)
    result = krafla("judge", "--spec", LOCK, lines="".join(f"{asked}\n" for asked, _ in rows))
    first, *answers, last, _ = result.stdout.splitlines()

    assert json.loads(first) | {"krafla": "0.1.0"} == json.loads(hello)
    assert len(rows) == 9
    assert answers == [answer for _, answer in rows[:-1]]
    found = {**json.loads(last), "story": "..."}
    assert json.dumps(found, separators=(",", ":")) == violated


def test_the_lines_of_the_log_are_a_behaviour(tmp_path):
    (tmp_path / "run.log").write_text(blocks("json")[0])

    assert krafla("validate", tmp_path / "run.log", "--spec", LOCK).exit_code == 0


@pytest.mark.parametrize("line", blocks("json")[0].splitlines())
def test_each_line_of_the_log_is_one(tmp_path, line):
    (tmp_path / "run.log").write_text(line + "\n")
    result = krafla("validate", tmp_path / "run.log", "--spec", LOCK)

    # The beginning alone is no step to judge.
    statuses = {3} if json.loads(line).get("action") == "Init" else {0, 1}
    assert result.exit_code in statuses, result.output
