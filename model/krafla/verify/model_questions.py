"""The questions of a verification about the models: each alone, and all of them together."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from krafla.tlc.inputs import digest_of, inputs_of
from krafla.tlc.measured_coverage import find_coverage
from krafla.tlc.together import Shown, manifest_doubts, spec_totals
from krafla.verdict import KraflaError, Verdict
from krafla.verify.rows import Kind, Question, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from krafla.manifest import Manifest, Model

__all__ = ["model_question", "together_question"]

# Two cores find about this many states a second, once the JVM has started.
_STATES_PER_SECOND = 3_000


def model_question(
    model: Model,
    shows: Callable[[Shown], object] = lambda _: None,
    tools: Callable[[], bytes] | None = None,
) -> Question:
    """Return the question whether a model gives the result in the manifest.

    ``shows`` is called with what a model that held has shown, for `together_question`. ``tools``
    returns a digest of the program, without which the answer is not kept.
    """
    kind = Kind.MODEL if model.expect == "holds" else Kind.EXPECTED_FAILURE

    def ask(progress: Callable[[str], None]) -> Row:
        from krafla.tlc.model_check import check_model, evidence

        progress("TLC starts")
        check = check_model(
            model,
            workers=1,
            progress=lambda now: progress(_told(model, now.distinct, now.depth)),
        )
        shown = Shown.by(check)
        if shown is not None:
            shows(shown)
        reasons = check.judgement.reasons
        *facts, _seconds = evidence(check)
        if model.expect != "holds":
            facts.insert(0, reasons[0])
        return Row(
            kind, model.name, check.verdict, model.bounds, tuple(facts), reasons,
            f"krafla check {model.name}", check.result.seconds,
        )  # fmt: skip

    def recall() -> None:
        kept = find_coverage(model)
        if model.expect == "holds" and kept is not None:
            shows(Shown.in_search(model, kept.actions, model.witnesses))

    def rests_on() -> str:
        assert tools is not None, "asked only where it is given"
        coverage = find_coverage(model)
        entry = repr(({**asdict(model), "place": ""}, coverage)).encode()
        return digest_of(tools(), inputs_of(model).encode(), entry)

    return Question(
        kind, model.name, f"krafla check {model.name}", ask, beside=True, recall=recall,
        weight=1 + (model.distinct or 0) / _STATES_PER_SECOND,
        # Without a kept coverage nothing says afterwards which actions a model took.
        rests_on=rests_on if tools is not None and _can_be_recalled(model) else None,
    )  # fmt: skip


def _can_be_recalled(model: Model) -> bool:
    try:
        return model.expect != "holds" or find_coverage(model) is not None
    except KraflaError:
        # Asking the model says it.
        return False


def _told(model: Model, distinct: int, depth: int) -> str:
    if model.expect == "holds" and model.distinct and distinct <= model.distinct:
        return f"{100 * distinct // model.distinct} % of {model.distinct:,} states"
    return f"{distinct:,} states, depth {depth}"


def together_question(
    manifest: Manifest, models: Sequence[Model], shown: Sequence[Shown]
) -> Question:
    """Return the question whether the models show together what no single one can.

    Every action of every spec must have been taken in some model that held, and everything that a
    room claims must be asked about. The questions about single models fill ``shown`` before this
    one is asked.
    """
    reproduce = "krafla check --tier smoke"
    name = "all models together"

    def ask(progress: Callable[[str], None]) -> Row:
        started = time.monotonic()
        progress("actions and claims")
        totals = spec_totals(models, shown)
        doubts = [doubt for total in totals for doubt in total.doubts()]
        doubts += manifest_doubts(manifest)
        return Row(
            Kind.MODEL,
            name,
            Verdict.INCONCLUSIVE if doubts else Verdict.HELD,
            f"{len(models)} models of {len(totals)} specs",
            tuple(str(total) for total in totals),
            tuple(doubts),
            reproduce,
            time.monotonic() - started,
        )

    return Question(Kind.MODEL, name, reproduce, ask, at_end=True)
