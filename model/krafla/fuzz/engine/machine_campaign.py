"""A campaign: examples of one seed until a finding or the end of the budget, on several processes.

An example depends on the seed, its number and the kinds of faults only. Results are taken in the
order of their numbers, whoever played them; so the number of processes changes nothing.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
import time
from collections import Counter, deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any, Final

from krafla.fuzz.engine.machine_run import play
from krafla.fuzz.engine.machine_shrink import shrink
from krafla.fuzz.engine.machine_systems import SYSTEMS
from krafla.verdict import ExitCode, KraflaError, Verdict
from kraft.sim.raft.kinds import DEFAULT_KINDS, kinds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from concurrent.futures import Future

    from krafla.fuzz.engine.machine_run import Case, Played

__all__ = [
    "DEFAULT_SECONDS",
    "Campaign",
    "Finding",
    "Report",
    "case_of",
    "kinds_chosen",
    "play_example",
    "player_of",
    "run_campaign",
]

DEFAULT_SECONDS: Final = 20.0
_SECOND: Final = 1_000_000_000
# So many examples a process may be ahead of the one that is waited for.
_AHEAD: Final = 2


@dataclass(frozen=True, slots=True)
class Campaign:
    """What to run. Without ``examples`` and ``seconds`` the budget is ``DEFAULT_SECONDS``.

    ``system`` names what is simulated, one of `krafla.fuzz.engine.machine_systems`; ``chaos`` are the seconds for
    which things go wrong in a run, as many as it says if None.
    """

    seed: int = 0
    examples: int | None = None
    seconds: float | None = None
    workers: int = 1
    kinds: tuple[str, ...] = DEFAULT_KINDS
    lockstep: bool = False
    shrinks: bool = True
    system: str = "raft"
    chaos: float | None = None

    @property
    def seconds_max(self) -> float | None:
        """Return after how many seconds no further example starts."""
        unbounded = self.seconds is None and self.examples is None
        return DEFAULT_SECONDS if unbounded else self.seconds


@dataclass(frozen=True, slots=True)
class Finding:
    """The first example that broke a property, and the same with as few faults as were found."""

    example: int
    played: Played
    shrunk: Played


@dataclass(slots=True)
class Report:
    """What a campaign came to, so far."""

    campaign: Campaign
    examples: int = 0
    events: int = 0
    judged: int = 0
    unpromised: int = 0
    simulated: int = 0
    acknowledged: int = 0
    seconds: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    hazards: Counter[str] = field(default_factory=Counter)
    liveness: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    all_actions: tuple[str, ...] = ()
    finding: Finding | None = None
    is_interrupted: bool = False
    _digest: Any = field(default_factory=lambda: blake2b(digest_size=16))

    @property
    def digest(self) -> str:
        """Return a digest of the digests of all examples, in their order."""
        return str(self._digest.hexdigest())

    def add(self, played: Played) -> None:
        """Take in the next example."""
        self.examples += 1
        self.events += played.events
        self.judged += played.judged
        self.unpromised += played.unpromised
        self.simulated += played.simulated
        self.acknowledged += played.acknowledged
        self.faults.update(dict(played.faults))
        self.hazards.update(dict(played.hazards))
        self.actions.update(dict(played.actions))
        self.liveness[played.liveness] += 1
        self._digest.update(played.digest.encode())

    @property
    def missed_actions(self) -> tuple[str, ...]:
        """Return the actions of the spec that were never taken, with lockstep only."""
        return tuple(name for name in self.all_actions if not self.actions[name])

    @property
    def doubts(self) -> tuple[str, ...]:
        """Return why the campaign shows less than it should."""
        doubts = ["it was interrupted"] if self.is_interrupted else []
        if not self.acknowledged:
            doubts.append("no value was ever acknowledged")
        elif not self.liveness["progress"]:
            doubts.append("no run came to its end and made progress there")
        if self.missed_actions:
            doubts.append(f"actions never taken: {', '.join(self.missed_actions)}")
        return tuple(doubts)

    @property
    def verdict(self) -> Verdict:
        """Return held only if nothing broke and something was shown."""
        if self.finding is not None:
            return Verdict.VIOLATED
        return Verdict.INCONCLUSIVE if self.doubts else Verdict.HELD

    @property
    def exit_code(self) -> ExitCode:
        """Return the exit status that says the same, or that somebody ended it before a finding."""
        ended = self.is_interrupted and self.finding is None
        return ExitCode.INTERRUPTED if ended else self.verdict.exit_code

    @property
    def progress(self) -> str:
        """Return one line on how far it is."""
        seconds = max(self.seconds, 1e-9)
        faults = sum(self.faults.values())
        line = (
            f"{self.examples:,} runs  {self.events:,} events  {self.events / seconds:,.0f}/s  "
            f"{self.simulated / _SECOND / 3600:,.2f} simulated hours  {faults:,} faults of "
            f"{len(self.faults)} kinds"
        )
        if self.all_actions:
            taken = len(self.all_actions) - len(self.missed_actions)
            line += f"  actions {taken}/{len(self.all_actions)}"
        return line


def kinds_chosen(text: str | None, system: str = "raft") -> tuple[str, ...]:
    """Return the kinds of faults that ``--faults`` names; ``KraflaError`` for a word it may not."""
    if text is None:
        return SYSTEMS[system].kinds
    if text == "none":
        return ()
    try:
        return kinds_of(text)
    except ValueError as error:
        words = "or network, process, disk, all, none; see `krafla fuzz raft --faults list`"
        raise KraflaError(f"{error}; {words}", "--faults") from None


def case_of(campaign: Campaign, example: int) -> Case:
    """Return an example of a campaign; it depends on the seed, the kinds and the chaos only."""
    case = SYSTEMS[campaign.system].case_of(campaign.seed, example, campaign.kinds)
    if campaign.chaos is None:
        return case
    return replace(
        case, configuration=replace(case.configuration, chaos=round(campaign.chaos * _SECOND))
    )


def run_campaign(campaign: Campaign, progress: Callable[[str], object] = lambda _: None) -> Report:
    """Return what a campaign comes to; it ends with its first finding, shrunk.

    Ctrl-C ends it, too, with what was found so far.
    """
    report = Report(campaign)
    if campaign.lockstep:
        from krafla.fuzz.raft.lockstep_judge import action_names

        report.all_actions = action_names(SYSTEMS[campaign.system])
    began = time.monotonic()
    played = _alone(campaign, began) if campaign.workers == 1 else _together(campaign, began)
    try:
        for one in played:
            report.seconds = time.monotonic() - began
            report.add(one)
            if one.violation is not None:
                # It is kept as it is if shrinking is interrupted.
                report.finding = Finding(report.examples - 1, one, one)
                if campaign.shrinks:
                    player = player_of(campaign)
                    shrunk = shrink(one, player, lambda n: progress(f"found; {n} faults are left"))
                    report.finding = Finding(report.examples - 1, one, shrunk)
                break
            progress(report.progress)
    except KeyboardInterrupt:
        report.is_interrupted = True
    finally:
        played.close()
    report.seconds = time.monotonic() - began
    return report


def _is_spent(campaign: Campaign, example: int, began: float) -> bool:
    if campaign.examples is not None and example >= campaign.examples:
        return True
    maximum = campaign.seconds_max
    return maximum is not None and time.monotonic() - began >= maximum


def player_of(campaign: Campaign) -> Callable[[Case], Played]:
    """Return what plays a case: in lockstep, if the campaign says so."""
    system = SYSTEMS[campaign.system]

    def player(case: Case) -> Played:
        if campaign.lockstep:
            from krafla.fuzz.raft.lockstep_judge import play_judged

            return play_judged(case, system)
        return play(case, system=system)

    return player


def _alone(campaign: Campaign, began: float) -> Generator[Played, None, None]:
    player, example = player_of(campaign), 0
    while not _is_spent(campaign, example, began):
        yield player(case_of(campaign, example))
        example += 1


def _together(campaign: Campaign, began: float) -> Generator[Played, None, None]:
    """Yield the results of several processes in the order of the examples."""
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(campaign.workers, context, _ignore_interrupts)
    waiting: deque[Future[Played]] = deque()
    example = 0
    is_over = False
    try:
        while True:
            while len(waiting) < _AHEAD * campaign.workers and not _is_spent(
                campaign, example, began
            ):
                with _starting():
                    waiting.append(pool.submit(play_example, campaign, example))
                example += 1
            if not waiting:
                is_over = True
                return
            yield waiting[0].result()
            waiting.popleft()
    except BrokenProcessPool:
        awaited = example - len(waiting)
        raise KraflaError(
            "a worker process ended in the middle of an example: it was killed, or the machine ran "
            f"out of memory; look at it with --seed {campaign.seed} --examples {awaited + 1} and "
            "one worker",
            f"example {awaited} of seed {campaign.seed}",
        ) from None
    finally:
        # A second Ctrl-C in here would leave processes behind, for which the end would wait.
        with _uninterrupted():
            # Nobody waits for an example that nobody will look at.
            for process in () if is_over else set(multiprocessing.active_children()) - others:
                process.kill()
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _starting() -> Iterator[None]:
    """Keep Ctrl-C from a process that is started, until it leaves it to this one."""
    # The first time it is asked for, it lets through what is kept back.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait, where this thread is the one that it interrupts."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def play_example(campaign: Campaign, example: int) -> Played:
    """Return what an example of a campaign comes to."""
    return player_of(campaign)(case_of(campaign, example))


def _ignore_interrupts() -> None:
    """Leave it to the first process what Ctrl-C means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
