"""A behaviour that repeats for ever: a request is sent, given up, lost, and sent again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from krafla.match.validation import loaded
from krafla.traces import Step, Trace, read_whole_trace

TRACES = Path(__file__).resolve().parents[3] / "traces"
LIFE = read_whole_trace(TRACES / "accepted" / "lease" / "register-and-unfence.ndjson")


def going_round(back: str = "LoseMessage", lasso: int = 1) -> Trace:
    """Return the trace that ends one step before the state of step 1 comes again.

    Only ``LoseMessage`` leads back, and only to step 1.
    """
    spec = loaded(LIFE.spec, LIFE.constants)
    sent = LIFE.steps[2]
    state = spec.state({str(name): value for name, value in sent.state.items()})
    (given_up,) = spec.outcomes(state, "RequestTimeout", *sent.parameters)
    last = Step("RequestTimeout", sent.parameters, given_up.as_function())
    return replace(LIFE.with_steps((*LIFE.steps[:3], last)), lasso=lasso, back=back)
