"""The page about the specs of strangers: what the engine does with each, and why not the rest."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

__all__ = ["STAGES", "page", "shortcomings"]

STAGES = ("load", "check", "explore", "explain")
FOLDERS = re.compile(r"/\S*/(?=[^/\s]+\.(?:tla|cfg))")
TRACE_KEYS = ("trace", "lines", "followed", "foreign")
HEADS = ("loaded", "checked", "explored", "explained")
MARKS = {True: "yes", False: "**no**", None: "-"}
INTRODUCTION = """# Specs of strangers

Specs that others wrote, under krafla's engine as they are: {rows} of the {total} that
`python -m strangers` knows (`.ci` on the path; its `--help` says how to get them). Nothing of them
is part of this repository: `.ci/strangers/specs.csv` names each file with its SHA-256.

**Loaded**: the oracle has the spec, with its cfg.

**Checked**: TLC finds what the authors publish: that it holds, with the same number of distinct
states; or that it fails. Of `large` models, whose states are not counted, it finds no fault
within the time, or one of the spec.

**Explored**: the oracle's own search finds the same number of states, or the same failure. Of
`large` models it explores some thousand states.

**Explained**: a broken variant is told with the false conjunct and its values: the spec as
published where it fails, else a mutant that breaks a property, else a false property.

The numbers are those of the authors' `manifest.json`. TLC is the pinned one, a fork of about 2021,
with the pure TLA+ of the CommunityModules and none of their Java.

{summary}

"""
TRACES = """
## Recorded traces

The recorded traces of etcd's raft and their trace spec are those of specula-org's case studies
(`python -m strangers.traces`, whose help says what differs in the copy). {followed} of {traces}
traces are followed to their last line, by the oracle as by TLC, {lines} lines together. `foreign`
counts steps that the trace spec takes and the spec behind it does not have. {broken}

| trace | lines | followed | foreign steps |
|---|---|---|---|
"""
TREATMENT = """
## How krafla treats a spec that is not its own

* **Modules** are looked for beside the spec, above a Toolbox model (`X.toolbox/Model_1`), in the
  CommunityModules, among the names that proofs of TLAPS use, which krafla has, and behind the first
  module in the file of the spec. The CommunityModules come from no registry:
  `KRAFLA_COMMUNITY_MODULES` names their jar or a checkout; else krafla takes those beside the jar
  of `KRAFLA_TLA2TOOLS`, or of an editor's TLA+ extension.
* **Java beside a spec never runs.** TLC itself takes `Name.class` beside `Name.tla` for an override
  and runs it. Java in the jar of the CommunityModules (it can start programs) runs only after
  `krafla doctor --trust`, which keeps the digest of the jar, only in a TLC that
  `KRAFLA_TLA2TOOLS` names, and never in the oracle: so IOUtils, Json and CSV work in `check` only.
* **A cfg** may have more words than the pinned TLC knows. ALIAS says how states are printed, and is
  left out. POSTCONDITION is a question: krafla says that it was not asked, and the result is not
  green.
* **PlusCal** without translation is told with its line and the command that translates; a
  translation older than its algorithm, by its checksum, is not green.
* **A newer TLC** in `KRAFLA_TLA2TOOLS` runs the checks. The oracle stays in the pinned one.
"""
# A word of an answer, and the reason in the words of the page.
REASONS = (
    ("Tool.cdot", "composes actions (`\\cdot`), which a newer TLC does, if asked by an option"),
    ("TLCGet(config)", "asks a newer TLC for its settings"),
    ("TLCGet(", "asks a newer TLC for a number of its own"),
    (
        "in an UNCHANGED",
        "leaves a definition of << >> unchanged, which a newer TLC takes",
    ),
    ("work by Java alone", "reads or writes files by Java of the CommunityModules"),
    ("time of", "not within the time"),
    ("not within", "not within the time"),
)


def shortcomings(answer: dict[str, Any]) -> dict[str, str | None]:
    """Return for each stage why it did not do what it should; None if it did."""
    row = answer["row"]
    stages = {one["stage"]: one for one in answer["stages"]}
    found: dict[str, str | None] = {}
    for name in STAGES:
        one = stages.get(name)
        if one is None:
            end = stages.get("end", {"text": "the stage before it failed"})
            found[name] = str(end["text"])
        elif not one["ok"]:
            found[name] = str(one["text"])
        else:
            found[name] = _difference(name, row, one, stages)
    return found


def _difference(
    name: str, row: dict[str, Any], one: dict[str, Any], stages: dict[str, Any]
) -> str | None:
    """Return how the answer of a stage differs from what is published."""
    published = row["distinct"]
    if name == "check" and row["result"] != "large":
        holds = row["result"] == "success"
        if one["holds"] != holds:
            return f"published: {row['result']}; found: {one['text']}"
        if holds and published is not None and one["distinct"] != published:
            return f"{one['distinct']} states, published: {published}"
    if name == "explore":
        if row["result"] == "success" and one["distinct"] != (
            published if published is not None else stages["check"]["distinct"]
        ):
            return f"{one['distinct']} states, published: {published}"
        if row["result"] in {"safety", "assumption"} and one["violated"] is None:
            return "the failure was not found"
    return None


def page(answers: list[dict[str, Any]], traces: list[dict[str, Any]], total: int) -> str:
    """Return the page as Markdown; ``total`` specs could have been asked."""
    lines = ["| spec | published | " + " | ".join(HEADS) + " |"]
    lines.append("|---|---|" + "---|" * len(STAGES))
    reasons: dict[str, list[str]] = {}
    counts: Counter[str] = Counter()
    for answer in sorted(answers, key=lambda one: _name(one["row"]).lower()):
        row, short = answer["row"], shortcomings(answer)
        published = row["result"] if row["distinct"] is None else f"{row['distinct']:,}"
        marks = [MARKS[short[name] is None] for name in STAGES]
        counts.update(name for name in STAGES if short[name] is None)
        counts["all"] += all(reason is None for reason in short.values())
        lines.append(f"| {_name(row)} | {published} | {' | '.join(marks)} |")
        first = next((name for name in STAGES if short[name] is not None), None)
        if first is not None:
            reasons.setdefault(f"{first}: {_short(short[first] or '')}", []).append(_name(row))
    summary = (
        f"Of {len(answers)} specs {counts['load']} load, {counts['check']} are checked, "
        f"{counts['explore']} explored, {counts['explain']} explained; {counts['all']} all four. "
        f"Explained are {_told_of(answers)}."
    )
    introduction = INTRODUCTION.format(rows=len(answers), total=total, summary=summary)
    told = [f"| {', '.join(names)} | {reason} |" for reason, names in sorted(reasons.items())]
    return "\n".join(
        [
            introduction.rstrip(), "", *lines, "",
            "## Why not", "", "| spec | first thing that failed |", "|---|---|", *told,
            *([_traces(traces)] if traces else []), TREATMENT.rstrip(), "",
        ]
    )  # fmt: skip


def _told_of(answers: list[dict[str, Any]]) -> str:
    """Return how many specs were explained as they are, by a mutant, and by a false property."""
    texts = [
        str(one["text"])
        for answer in answers
        for one in answer["stages"]
        if one["stage"] == "explain" and one["ok"]
    ]
    numbers = [
        f"{sum(text.startswith(start) for text in texts)} {told}"
        for start, told in (
            ("as published", "as published"),
            ("mutant", "by a mutant"),
            ("false", "by a false property"),
            ("a module of assumptions", "have assumptions only"),
            ("no step", "have no step to break"),
        )
    ]
    return ", ".join(numbers)


def _traces(answers: list[dict[str, Any]]) -> str:
    """Return the part about recorded traces."""
    whole = [one for one in answers if one["must_follow"] == one["lines"]]
    cut = [one for one in answers if one not in whole]
    right = sum(one.get("followed") == one["must_follow"] for one in cut)
    broken = f"With one line broken, {right} of {len(cut)} end at that line." if cut else ""
    head = TRACES.format(
        followed=sum(one.get("followed") == one["lines"] for one in whole), traces=len(whole),
        lines=f"{sum(one['lines'] for one in whole):,}", broken=broken,
    )  # fmt: skip
    rows = [
        "| " + " | ".join(str(one.get(key, "-")) for key in TRACE_KEYS) + " |"
        for one in sorted(whole, key=lambda one: str(one["trace"]))
    ]
    return f"{head}{chr(10).join(rows)}"


def _name(row: dict[str, Any]) -> str:
    """Return the spec in few words: its repository, module and cfg."""
    owner = row["repository"].partition("/")[0]
    module = row["module"].removeprefix("specifications/").removesuffix(".tla")
    cfg = row["cfg"].removesuffix(".cfg")
    told = module if module.rpartition("/")[2] == cfg else f"{module} ({cfg})"
    return f"{owner}: {told}"


def _short(reason: str) -> str:
    for word, told in REASONS:
        if word in reason:
            return told
    text = FOLDERS.sub("", " ".join(reason.split())).replace("|", "\\|")
    return text if len(text) <= 160 else f"{text[:160]}..."
