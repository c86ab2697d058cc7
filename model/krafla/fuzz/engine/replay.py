"""Runs that were kept: recordings and traces, played again on the implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.fuzz.engine.profiles import conditions_met
from krafla.fuzz.engine.run import Run, play
from krafla.fuzz.engine.systems import LEASE, Game
from krafla.refinement.lease.scenario import choices_of, vocabulary_of
from krafla.traces.files import refuse_run
from krafla.verdict import KraflaError
from kraft.sim.common.recording import RecordingError
from kraft.sim.lease.configuration import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.traces import Trace

__all__ = ["play_plan", "play_recording", "play_trace"]


def play_recording(path: Path, game: Game = LEASE) -> Run:
    """Return the judged run of a recording; ``KraflaError`` if the file is none."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise KraflaError(error.strerror or str(error), str(path)) from error
    refuse_run(data, path)
    return play_plan(data, str(path), game)


def play_plan(plan: str | bytes, place: str, game: Game = LEASE) -> Run:
    """Return the judged run of a recording as JSON text; ``KraflaError`` if it is none."""
    try:
        recording = game.from_json(plan)
    except (RecordingError, ConfigurationError) as error:
        raise KraflaError(str(error), place) from error
    also = conditions_met(recording.configuration, recording.choices) if game is LEASE else ()
    return play(recording.configuration, recording.choices, also, game)


def play_trace(trace: Trace) -> Run:
    """Return the judged run in which the implementation takes the steps of a trace.

    ``KraflaError`` if the trace is not one of BrokerLease, or the implementation does not get as
    far as a message that the trace delivers.
    """
    vocabulary = vocabulary_of(trace)
    return play(vocabulary.configuration, choices_of(trace, vocabulary))
