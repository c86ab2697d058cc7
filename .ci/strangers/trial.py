"""One spec of a stranger under the whole engine: `python -m strangers.trial CASE.json`.

Prints one line of JSON for each stage that ended, as soon as it has. The process is killed by
`strangers` when its time is over; the stages that it has printed count.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strangers.page import LARGE_STATES, NOTHING

from krafla.manifest import Model
from krafla.mutate.population import Choice, population
from krafla.oracle import EvaluationError, Spec, explore
from krafla.scratch import scratch_folder
from krafla.tlc import outcome as outcomes
from krafla.tlc.config import read_config
from krafla.tlc.run import run
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from krafla.mutate.mutants import Mutant
    from krafla.oracle import Explanation, Exploration

# Of the mutants of a spec, so many are tried until one breaks a property.
MUTANTS_MOST = 12
# Of the time for a spec, so much may be over when a mutant is begun.
MUTANTS_SHARE = 0.5
# A mutant may have more states than the spec; a search of it ends at this many times as many.
MUTANT_STATES = 3
LARGE = "large"
# TLC could not ask what the spec is about.
FAULTS = (outcomes.ConfigError, outcomes.EvaluationError, outcomes.SpecError, outcomes.Unknown)
# With more states the search of a mutant would take too long.
MUTATED_MOST = 60_000


@dataclass(frozen=True)
class Case:
    """A module with a cfg, and what is published of it.

    ``seconds`` is the time for TLC's search, ``mutants_until`` when no further mutant is tried.
    """

    module: Path
    cfg: Path
    seconds: float
    result: str
    distinct: int | None
    mutants_until: float


def main(arguments: list[str]) -> int:
    """Run the stages of the case in a file; return 0."""
    given = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    case = Case(
        Path(given["module"]), Path(given["cfg"]), given["seconds"],
        given["result"], given["distinct"],
        time.monotonic() + MUTANTS_SHARE * given["total"],
    )  # fmt: skip
    spec: Spec | None = None
    found: Exploration | None = None

    def load() -> dict[str, Any]:
        nonlocal spec
        spec = Spec.load(case.module.stem, path=case.module, cfg=case.cfg)
        return {"text": f"{len(spec.variables)} variables, {len(spec.actions)} actions"}

    def explored() -> dict[str, Any]:
        nonlocal found
        assert spec is not None
        found = explore(spec, limit=LARGE_STATES if case.result == LARGE else None)
        violated = None if found.violation is None else found.violation.name
        return {"distinct": found.distinct, "violated": violated, "complete": found.is_complete}

    def explained() -> dict[str, Any]:
        assert spec is not None
        assert found is not None
        return {"text": explanation(case, spec, found)}

    stage("load", load)
    stage("check", lambda: checked(case))
    if spec is not None:
        stage("explore", explored)
    if found is not None:
        stage("explain", explained)
    return 0


def stage(name: str, ask: Callable[[], dict[str, Any]]) -> None:
    """Print what a stage says, or krafla's sentence about why it could not."""
    began = time.monotonic()
    try:
        answer = {"ok": True, **ask()}
    except KraflaError as error:
        answer = {"ok": False, "text": " ".join(str(error).split())}
    seconds = round(time.monotonic() - began, 1)
    print(json.dumps({"stage": name, "seconds": seconds, **answer}), flush=True)


def checked(case: Case) -> dict[str, Any]:
    """Return what TLC's search of the whole model says."""
    model = Model(
        name=case.cfg.stem, module=case.module, config=case.cfg,
        search_path=(case.module.parent,), spec=case.module.stem, distinct=case.distinct or None,
    )  # fmt: skip
    result = run(model, timeout=case.seconds, coverage=False)
    is_assumption = isinstance(result.outcome, outcomes.AssumptionFailed)
    return {
        "ok": not isinstance(result.outcome, FAULTS)
        and (case.result == "assumption" or not is_assumption)
        and (case.result == LARGE or not isinstance(result.outcome, outcomes.Interrupted)),
        "kind": type(result.outcome).__name__,
        "violated": outcomes.violated_names(result.outcome),
        "distinct": result.distinct,
        "text": " ".join(str(result.outcome).split())[:400],
    }


def explanation(case: Case, spec: Spec, found: Exploration) -> str:
    """Return why a broken variant is broken; ``KraflaError`` if none could be made.

    The spec as it is, if it breaks a property; else the first mutant that does; else the spec with
    an invariant that its last state breaks.
    """
    if found.violation is not None:
        return told("as published", case.cfg, spec, found)
    if found.distinct <= MUTATED_MOST and time.monotonic() < case.mutants_until:
        with scratch_folder("mutants") as folder:
            for mutant, broken in mutants(case, found.distinct, folder):
                if time.monotonic() > case.mutants_until:
                    break
                try:
                    result = explore(broken, limit=MUTANT_STATES * found.distinct + 100)
                except EvaluationError:
                    # The mistake leads to an expression without a value, not to a wrong one.
                    continue
                # TLC calls the initial predicate of a refinement by its place: no name to ask.
                found_one = result.violation
                if found_one is not None and (found_one.is_step or found_one.name.isidentifier()):
                    return told(f"mutant {mutant.id}", case.cfg, broken, result)
    if not found.states:
        return NOTHING[0]
    return by_false_property(case, found)


def by_false_property(case: Case, found: Exploration) -> str:
    """Return why the spec breaks the property that no step changes a variable."""
    for source, target in zip(found.sources, found.targets, strict=True):
        before, after = found.states[source], found.states[target]
        changed = [one for one in found.spec.variables if before[one] != after[one]]
        if target >= 0 and changed:
            name = changed[0]
            broken = Spec.load(
                case.module.stem, path=case.module, cfg=case.cfg,
                expressions={"KraflaFalseProp": f"[][{name}' = {name}]_{name}"},
            )  # fmt: skip
            states = (broken.state(dict(one.as_function())) for one in (before, after))
            reasons = broken.explain_action_property("KraflaFalseProp", *states)
            return f"false property: {first_reason(reasons)}"
    return NOTHING[1]


def mutants(case: Case, distinct: int, folder: Path) -> Iterator[tuple[Mutant, Spec]]:
    """Yield mutants of a spec that load, with their specs."""
    room = folder / "room"
    room.mkdir()
    for path in case.module.parent.glob("*.tla"):
        shutil.copyfile(path, room / path.name)
    shutil.copyfile(case.cfg, room / "model.cfg")
    (folder / "manifest.toml").write_text('rooms = ["room"]\n', encoding="utf-8")
    (room / "models.toml").write_text(
        f'[[model]]\nname = "model"\nmodule = "room/{case.module.name}"\ncfg = "room/model.cfg"\n'
        f'tier = "smoke"\nexpect = "holds"\nkind = "safety"\nbounds = "-"\n'
        f'spec = "{case.module.stem}"\ndistinct = {max(1, distinct)}\n',
        encoding="utf-8",
    )
    everything = population(folder, Choice()).mutants
    spread = everything[:: max(1, len(everything) // MUTANTS_MOST)][:MUTANTS_MOST]
    for mutant in spread:
        path = folder / mutant.file
        original = path.read_text(encoding="utf-8")
        path.write_text(mutant.text, encoding="utf-8")
        try:
            yield (
                mutant,
                Spec.load(case.module.stem, path=room / case.module.name, cfg=room / "model.cfg"),
            )
        except KraflaError:
            # The mistake shows before the first step: nothing to explain.
            continue
        finally:
            path.write_text(original, encoding="utf-8")


def told(what: str, cfg: Path, spec: Spec, found: Exploration) -> str:
    """Return the explanation of the violation that a search has found."""
    violation = found.violation
    assert violation is not None
    last = violation.path[-1][1]
    if not violation.is_step:
        return f"{what}: {first_reason(spec.explain_invariant(violation.name, last))}"
    before = violation.path[-2][1]
    # TLC calls a refinement by the place of its formula.
    name = next(
        one
        for one in (violation.name, *read_config(cfg).properties)
        if one.isidentifier() and not spec.check_action_property(one, before, last)
    )
    reasons = spec.explain_action_property(name, before, last)
    return f"{what}: {first_reason(reasons)}"


def first_reason(explanation: Explanation) -> str:
    """Return the finding with its first false conjunct on one line; refuse one without reason."""
    if not explanation.reasons or " is false" not in explanation.finding:
        raise KraflaError(f"no conjunct is false: {explanation.finding}")
    reason = explanation.reasons[0]
    return " ".join(f"{explanation.finding}: {reason}".split())[:300]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
