"""A recording from its scenario to its folder: boot, drive, stop, collect."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import krafla
from krafla.files import check_writable
from krafla.record.check import check
from krafla.record.cluster import Cluster
from krafla.record.collect import Scrub, collect
from krafla.record.commands import Java
from krafla.record.drive import Driver
from krafla.record.jars import VERSION, class_path
from krafla.record.journal import Journal
from krafla.record.layout import free_ports, lay_out
from krafla.record.processes import Processes
from krafla.scratch import scratch_folder
from krafla.tlc.jar import cache_directory
from krafla.tlc.jre import find_jre
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.record.scenario import Scenario

__all__ = ["JAVA_MINIMUM", "Recording", "check_new", "record"]

# Kafka 4 needs it for its servers.
JAVA_MINIMUM = 17
_TOOLS_LOGGING = (
    '<Configuration status="ERROR"><Appenders><Console name="E" target="SYSTEM_ERR">'
    '<PatternLayout pattern="[%d] %p %m (%c)%n"/></Console></Appenders><Loggers>'
    '<Root level="ERROR"><AppenderRef ref="E"/></Root></Loggers></Configuration>\n'
)


@dataclass(frozen=True, slots=True)
class Recording:
    """A request to record: a scenario, the seed that drew it, and the folder of the result."""

    scenario: Scenario
    seed: int | None
    out: Path


def check_new(out: Path) -> None:
    """Raise ``KraflaError`` if something is there already, or nothing can be put there."""
    if out.exists() or out.is_symlink():
        raise KraflaError("this exists already, and nothing is overwritten", str(out))
    if not out.parent.is_dir():
        raise KraflaError("there is no such folder", str(out.parent))
    check_writable(out)


def record(recording: Recording, progress: Callable[[str], None]) -> None:
    """Record a real cluster. No process or scratch file of it stays behind, however this ends.

    ``KraflaError`` before anything is booted if the scenario is invalid, if `out` exists, or if
    there is no Java or no jar. ``KraflaError`` later if Kafka refuses a step; `out` then has what
    was recorded until then.
    """
    check(recording.scenario)
    check_new(recording.out)
    runtime = find_jre(JAVA_MINIMUM, "Kafka")
    jars = class_path(progress=progress)
    with scratch_folder("record") as scratch:
        folder = scratch.resolve()
        logging = folder / "tools-log4j2.xml"
        logging.write_text(_TOOLS_LOGGING, encoding="utf-8")
        java = Java(runtime.java, jars, logging)
        scrub = Scrub(
            {
                folder: "/var/lib/kafka",
                cache_directory(): "/opt/kafka",
                runtime.home: "/opt/java",
                Path(sys.prefix): "/opt/python",
                Path(krafla.__file__).parents[2]: "/opt/krafla",
                Path.home(): "/home/kafka",
            }
        )
        _Recorder(recording, java, runtime.version, folder, progress).run(scrub)


class _Recorder:
    """One recording in its scratch folder."""

    def __init__(
        self,
        recording: Recording,
        java: Java,
        java_version: str,
        folder: Path,
        progress: Callable[[str], None],
    ) -> None:
        self._recording = recording
        self._java = java
        self._java_version = java_version
        self._folder = folder
        self._journal = Journal(folder / "harness.log", progress)
        shape = recording.scenario.shape
        ports = free_ports(len(shape.controller_ids) + len(shape.broker_ids))
        self._layout = lay_out(shape, folder, ports)

    def run(self, scrub: Scrub) -> None:
        """Boot, drive, stop and collect."""
        failure: KraflaError | None = None
        ended: list[str] = []
        with Processes() as processes:
            cluster = Cluster(self._layout, self._java, processes, self._journal)
            try:
                self._drive(cluster, processes)
            except KraflaError as error:
                failure, ended = error, cluster.ended()
                self._journal.note("; ".join([f"given up: {error}", *ended]))
            self._journal.begin("stopping the cluster")
            cluster.shut_down()
        self._publish(scrub, cluster.cluster_id, failure)
        if failure is not None:
            reasons = "; ".join([failure.message, *ended])
            raise KraflaError(
                f"{scrub(reasons)}; what was recorded until then is in {self._recording.out}",
                failure.place,
            ) from failure

    def _drive(self, cluster: Cluster, processes: Processes) -> None:
        scenario, journal = self._recording.scenario, self._journal
        journal.note(f"scenario {scenario.name}: {scenario.sentence}")
        cluster.boot()
        driver = Driver(cluster, self._java, processes, journal, self._folder)
        for number, step in enumerate(scenario.steps, 1):
            journal.begin(f"step {number} of {len(scenario.steps)}: {step.text}")
            driver.take(step)
        driver.finish()

    def _publish(self, scrub: Scrub, cluster_id: str, failure: KraflaError | None) -> None:
        """Let the recording appear under its name only when it is whole."""
        out, scenario = self._recording.out, self._recording.scenario
        about = {
            "schema": 1,
            "kafka": VERSION,
            "java": self._java_version,
            "cluster_id": cluster_id,
            "scenario": scenario.name,
            "kraft_controllers": scenario.shape.kraft_ids,
            "seed": self._recording.seed,
            "given_up": None if failure is None else str(failure),
        }
        draft = out.with_name(f".{out.name}.draft")
        try:
            shutil.rmtree(draft, ignore_errors=True)
            collect(self._layout, self._folder / "harness.log", draft, scrub, about)
            plan = draft / f"{scenario.name}.scenario"
            plan.write_text(scenario.text, encoding="utf-8")
            check_new(out)
            draft.rename(out)
        except OSError as error:
            raise KraflaError(error.strerror or str(error), str(out)) from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)
