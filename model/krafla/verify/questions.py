"""The questions of a verification, at two depths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.manifest import load
from krafla.verify.foundations import program
from krafla.verify.fuzz_questions import brief_fuzz_questions, fuzz_questions
from krafla.verify.model_questions import model_question, together_question
from krafla.verify.proof_questions import proof_questions
from krafla.verify.recorded_questions import (
    log_questions,
    server_log_questions,
    trace_question,
)

if TYPE_CHECKING:
    from krafla.tlc.together import Shown
    from krafla.verify.rows import Question

__all__ = ["FIRST", "all_questions", "first_questions"]

FIRST: Final = "first"
"""The tag of the models that the first verdict asks about."""
_FIRST_LOGS: Final = ("crash",)
# These rely on no proof that is not asked; the others rely on them.
_FIRST_PROOFS: Final = ("lease: epochs", "lease: processes")


def first_questions() -> tuple[Question, ...]:
    """Return the questions of the first verdict: one of each kind about each protocol.

    The models with the tag ``first``: of each protocol a main model and a refinement, and findings
    about Kafka. Then the recorded traces, the logs of a real cluster, each system fuzzed for
    seconds, and two proofs.
    """
    models = [one for one in load().select(tier="smoke") if FIRST in one.tags]
    return (
        *(model_question(model, tools=program) for model in models),
        trace_question(),
        *(one for one in (*log_questions(), *server_log_questions()) if one.name in _FIRST_LOGS),
        *brief_fuzz_questions(),
        *(one for one in proof_questions() if one.name in _FIRST_PROOFS),
    )


def all_questions() -> tuple[Question, ...]:
    """Return every question: all that the first verdict asks, in wider bounds, and all the rest.

    Models of the smoke tier, those that must hold before those that must fail; recorded traces;
    the logs of real clusters; fuzzing; proofs; and what the models show together.
    """
    manifest = load()
    models = manifest.select(tier="smoke")
    shown: list[Shown] = []
    ordered = sorted(models, key=lambda model: model.expect != "holds")
    return (
        *(model_question(model, shown.append, program) for model in ordered),
        trace_question(),
        *log_questions(),
        *server_log_questions(),
        *fuzz_questions(),
        *proof_questions(),
        together_question(manifest, models, shown),
    )
