"""The page about the specs of strangers: what the engine does with each, and why not the rest."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

__all__ = ["ENDS", "LARGE_STATES", "NOTHING", "STAGES", "is_followed", "page", "shortcomings"]

STAGES = ("load", "check", "explore", "explain")
FOLDERS = re.compile(r"/\S*/(?=[^/\s]+\.(?:tla|cfg))")
HEADS = ("loaded", "checked", "explored", "explained")
# The ends of TLC that show what is published, and those that show nothing wrong of a large model.
_SAFETY = ("InvariantViolated", "ActionPropertyViolated", "AssertionFailed")
KINDS = {
    "success": ("Finished",),
    "safety": _SAFETY,
    "liveness": ("TemporalPropertyViolated",),
    "deadlock": ("Deadlock",),
    "assumption": ("AssumptionFailed",),
    "large": (*_SAFETY, "Finished", "Interrupted", "TemporalPropertyViolated", "Deadlock"),
}
# This many states are explored of a spec whose number of states is not published.
LARGE_STATES = 5_000
NOTHING = ("a module of assumptions alone has no states", "no step changes a variable")
TOLD = ("as published: ", "mutant ", "false property: ")
# What TLC says if a behaviour reaches the end of a trace, and if none does.
ENDS = {True: "invariant KraflaNotAtEndInv is violated", False: "no error in any reachable state"}
INTRODUCTION = """# Specs of strangers

krafla was asked about {asked} that others wrote, unchanged; `.ci/strangers/specs.csv` names
them, with the SHA-256 of each file. None of them is in this repository;
`python -m strangers --help` (`.ci` on the path) says how to get them and ask again.

**Loaded**: krafla's evaluator (the [oracle](glossary.md)) has the spec, with its cfg.

**Checked**: of tlaplus/Examples, TLC finds what their `manifest.json` says: that the spec holds,
with the same number of distinct states; or that it fails, in the same kind of property (safety,
liveness, deadlock). Where the states are too many to be counted, as in all of Vanlightly's, TLC
ends with no error, or with a violation of theirs. Such a spec passes, too, if the time runs out
before TLC finds an error; one whose states are counted does not.

**Explored**: krafla's evaluator finds, by its own search, the same number of states and no
violation; or the property that TLC found violated. It judges no liveness: there it explores all
states. Of specs whose states are not counted it explores all, or finds a violation, or explores
some thousand.

**Explained**: a violation is told with the first false conjunct and its values. The violation is
the spec's own if it breaks a safety property as published. If not, krafla makes one: by a mistake
put into the spec (a [mutant](glossary.md)), or by an added property that is false. A module of
assumptions alone, or without a step, has nothing to explain.

A spec has two minutes for all four, beside other work on two cores.

TLC is [the pinned one](adr/0002-tlc-and-java-are-provisioned.md): it calls itself 2.18 of March
2023 and lacks what other builds have had since about 2020. The CommunityModules are used as TLA+
alone, without their Java.

"""
TRACES = """
## Recorded traces

The recorded traces of etcd's raft and their trace spec are those of specula-org's case studies
(`python -m strangers.traces`, whose help says what differs in the copy). Of {traces}
traces with {lines} lines together, {followed} are followed to their last line by the oracle and
by TLC.
{broken}
In {foreign} of them the trace spec takes steps by a rule of its own, {foreign_steps} together,
which the spec behind it does not have.{missed}
"""
TREATMENT = """
## How krafla treats a spec that is not its own

* **Modules** are looked for beside the spec, in the folder above a Toolbox model
  (`X.toolbox/Model_1`), in the CommunityModules, among krafla's own stubs of the modules of TLAPS,
  and in the file of the spec itself, after its first module. The CommunityModules come from no
  registry: `KRAFLA_COMMUNITY_MODULES` names their jar or a checkout; else krafla takes those beside
  the jar of `KRAFLA_TLA2TOOLS`, or of an editor's TLA+ extension.
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
    ("StackOverflowError", "the expressions of so long a trace go deeper than Java's stack"),
    ("Tool.cdot", "composes actions (`\\cdot`), which a newer TLC does, if asked by an option"),
    ("TLC.TLCSet(", "keeps a number of a run of TLC, which the evaluator is not"),
    ("TLCGet(config)", "asks a newer TLC for its settings"),
    ("TLCGet(", "asks a newer TLC for a number of its own"),
    (
        "in an UNCHANGED",
        "leaves a definition of << >> unchanged, which a newer TLC takes",
    ),
    ("module UndirectedGraphs", "leaves a set without end to Java of the CommunityModules"),
    ("work by Java alone", "reads or writes files by Java of the CommunityModules"),
    ("no module declares", "its cfg names a constant that no module declares"),
    ("no module ", "extends a module that is not among its files"),
    (" arguments.", "calls an operator with more or fewer arguments than it has"),
    ("gives the constant", "its cfg gives a constant no value"),
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
    """Return how the answer of a stage differs from what it should be."""
    if name == "check":
        return _of_check(row, one)
    if name == "explore":
        return _of_explore(row, one, stages["check"])
    return _of_explain(row, one, stages["explore"]) if name == "explain" else None


def _of_check(row: dict[str, Any], one: dict[str, Any]) -> str | None:
    if one["kind"] not in KINDS[row["result"]]:
        return f"published: {row['result']}; found: {one['text']}"
    published = row["distinct"]
    if row["result"] == "success" and published is not None and one["distinct"] != published:
        return f"{one['distinct']} states, published: {published}"
    return None


def _of_explore(row: dict[str, Any], one: dict[str, Any], check: dict[str, Any]) -> str | None:
    result, violated = row["result"], one["violated"]
    if result == "large":
        enough = violated is not None or one["complete"] or one["distinct"] >= LARGE_STATES
        return None if enough else f"only {one['distinct']} states"
    if result in {"success", "liveness"}:
        if violated is not None or not one["complete"]:
            return f"not all states were explored: {violated or 'the search was cut off'}"
        published, found = row["distinct"], one["distinct"]
        if result == "success" and published is None and found != check["distinct"]:
            return f"{found} states, TLC found {check['distinct']}: it may draw at random"
        if result == "success" and published not in (None, found):
            return f"{found} states, published: {published}"
    elif violated is None:
        return "the failure was not found"
    elif violated not in check["violated"]:
        return f"{violated} is violated; TLC found {', '.join(check['violated'])}"
    return None


def _of_explain(row: dict[str, Any], one: dict[str, Any], explore: dict[str, Any]) -> str | None:
    told = str(one["text"])
    if told in NOTHING:
        return None if row["result"] == "success" else f"nothing to explain: {told}"
    if not told.startswith(TOLD):
        return f"no explanation: {told}"
    if told.startswith(TOLD[0]) != (explore["violated"] is not None):
        return f"not the violation that was found, but {told}"
    return None


def is_followed(answer: dict[str, Any]) -> bool:
    """Return whether the oracle and TLC follow a trace as far as they must, and no further."""
    must = answer["must_follow"]
    reaches_end = must == answer["lines"]
    return answer.get("followed") == must and answer.get("tlc") == ENDS[reaches_end]


def page(answers: list[dict[str, Any]], traces: list[dict[str, Any]], total: int) -> str:
    """Return the page as Markdown; ``total`` specs could have been asked."""
    counts: dict[str, Counter[str]] = {}
    reasons: dict[str, list[str]] = {}
    for answer in sorted(answers, key=lambda one: _name(one["row"]).lower()):
        row, short = answer["row"], shortcomings(answer)
        count = counts.setdefault(row["repository"], Counter())
        count.update(name for name in STAGES if short[name] is None)
        count.update(["asked"] if short["explain"] else ["asked", _told(answer)])
        count["all"] += all(reason is None for reason in short.values())
        first = next((name for name in STAGES if short[name] is not None), None)
        if first is not None:
            reasons.setdefault(f"{first}: {_short(short[first] or '')}", []).append(_name(row))
    known = len(answers)
    asked = f"{total} specs" if known == total else f"{known} of {total} specs"
    introduction = INTRODUCTION.format(asked=asked)
    told = [f"| {', '.join(names)} | {reason} |" for reason, names in sorted(reasons.items())]
    return "\n".join(
        [
            introduction.rstrip(), "", *_counted(counts),
            "## Why not", "", "| spec | first thing that failed |", "|---|---|", *told,
            *([_traces(traces)] if traces else []), TREATMENT.rstrip(), "",
        ]
    )  # fmt: skip


def _counted(counts: dict[str, Counter[str]]) -> list[str]:
    """Return the table of how many specs did what, and how they were explained."""
    whole = sum(counts.values(), Counter())
    lines = [
        f"| specs of | asked | {' | '.join(HEADS)} | all four |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, count in [*sorted(counts.items()), ("all", whole)]:
        explained = str(count["explain"] - count["nothing"])
        if count["nothing"]:
            explained += f" ({count['nothing']} have nothing to explain)"
        numbers = [count["asked"], *(count[one] for one in STAGES[:-1]), explained, count["all"]]
        lines.append(f"| {name} | {' | '.join(map(str, numbers))} |")
    how = (
        f"{whole[TOLD[0]]} are the spec's own, {whole[TOLD[1]]} come from a mutant, "
        f"{whole[TOLD[2]]} from an added property"
    )
    return [*lines, "", f"Of the violations that were explained, {how}.", ""]


def _told(answer: dict[str, Any]) -> str:
    """Return how a spec was explained: one of ``TOLD``, or "nothing"."""
    text = next(str(one["text"]) for one in answer["stages"] if one["stage"] == "explain")
    return next((start for start in TOLD if text.startswith(start)), "nothing")


def _traces(answers: list[dict[str, Any]]) -> str:
    """Return the part about recorded traces."""
    whole = [one for one in answers if one["must_follow"] == one["lines"]]
    cut = [one for one in answers if one not in whole]
    broken = (
        f"With one line broken, {sum(map(is_followed, cut))} of {len(cut)} end at that line."
        if cut
        else ""
    )
    foreign = [one["foreign"] for one in whole if one.get("foreign")]
    missed: dict[str, list[str]] = {}
    for one in answers:
        if not is_followed(one):
            reason = _short(str(one.get("error", one.get("tlc"))))
            missed.setdefault(reason, []).append(str(one["trace"]))
    told = [f"* {', '.join(dict.fromkeys(names))}: {reason}" for reason, names in missed.items()]
    if told:
        told = [" Not followed:", "", *told]
    return TRACES.format(
        followed=sum(map(is_followed, whole)), traces=len(whole),
        lines=f"{sum(one['lines'] for one in whole):,}", broken=broken,
        foreign=len(foreign), foreign_steps=sum(foreign),
        missed="\n".join(told),
    ).rstrip()  # fmt: skip


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
