"""Lay out the folder one run works in, and the command that runs TLC there."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.manifest import on_these_specs
from krafla.project.models import argument_of
from krafla.tlc.class_archive import archive_options
from krafla.tlc.java_compiler import COMPILE_BRIEFLY, OPTIMISE_LATE
from krafla.tlc.joined_modules import laid_out
from krafla.tlc.library import searched, without_classes
from krafla.tlc.probe import PROBE_INVARIANT, PROBE_MODULE, probe_module
from krafla.tlc.trust import trusted_jar

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.manifest import Model
    from krafla.tlc.config import ModelConfig
    from krafla.tlc.jar import TlcJar
    from krafla.tlc.jre import JavaRuntime

__all__ = [
    "Command",
    "Options",
    "Simulation",
    "default_heap_mb",
    "java_options",
    "prepare",
    "reproduce",
]

_CONFIG_NAME = "model.cfg"
_MAIN = "tlc2.TLC"
# Deep recursion in a spec costs stack in every worker; unused stack costs nothing.
_STACK = "24m"
# Below this many states a search is over before the optimising compiler has paid for itself.
_SMALL = 10_000
# With fewer states it still pays, if it skips code that runs only a few thousand times.
_MEDIUM = 50_000


@dataclass(frozen=True, slots=True)
class Simulation:
    """A number of random behaviours instead of all: their number, length and seed."""

    behaviours: int
    depth: int = 100
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Options:
    """How a model is run; the defaults check it whole with one worker."""

    workers: int = 1
    coverage: bool = True
    progress: bool = False
    simulation: Simulation | None = None
    heap_mb: int | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A run of TLC: Java with its options, the library of modules, and TLC's own arguments.

    ``fits_any_java``: it may follow another in one JVM (`krafla.tlc.warm_java`).
    """

    java: tuple[str, ...]
    library: str
    arguments: tuple[str, ...]
    fits_any_java: bool

    @property
    def words(self) -> tuple[str, ...]:
        """Return the command that runs it in a JVM of its own."""
        return (*self.java, f"-DTLA-Library={self.library}", _MAIN, *self.arguments)


def prepare(
    model: Model,
    config: ModelConfig,
    options: Options,
    *,
    jar: TlcJar,
    jre: JavaRuntime,
    folder: Path,
) -> Command:
    """Return the command, having written the files it needs into ``folder``.

    The command must be started in ``folder``: TLC searches its library path only for a
    root module named without a folder.
    """
    for name in ("states", "tmp"):
        (folder / name).mkdir()
    live = options.progress and options.simulation is None and config.has_behaviour
    probed = bool(model.witnesses) or live
    if probed:
        text = probe_module(model.module.stem, model.witnesses, progress=live)
        (folder / f"{PROBE_MODULE}.tla").write_text(text, encoding="utf-8")
        config = config.with_line(f"INVARIANT {PROBE_INVARIANT}")
    config = config.known_to(jar.capabilities)
    arguments = []
    if not jar.capabilities.has("CHECK_DEADLOCK"):
        # An older TLC knows the option only.
        arguments = [] if config.checks_deadlock else ["-deadlock"]
        config = config.without(["CHECK_DEADLOCK"])
    (folder / _CONFIG_NAME).write_text(config.text, encoding="utf-8")
    folders = searched(model.search_path, jar.capabilities)
    library = (*without_classes(folders, folder), *laid_out(model.module, folder))
    root = PROBE_MODULE if probed else model.module.stem
    return Command(
        _java(model, options, jar, jre, folder),
        os.pathsep.join(map(str, library)),
        (
            *("-tool", "-fp", "0", "-checkpoint", "0"),
            *("-workers", str(options.workers), "-metadir", str(folder / "states")),
            *_mode(options),
            *arguments,
            *("-config", _CONFIG_NAME, f"{root}.tla"),
        ),
        # TLC's classes decide when they are initialised whether they count for the coverage.
        # A JVM that stays warm has no other classes than TLC's.
        fits_any_java=(
            options == Options(coverage=False, progress=options.progress) and not _overrides(jar)
        ),
    )


def _java(
    model: Model, options: Options, jar: TlcJar, jre: JavaRuntime, folder: Path
) -> tuple[str, ...]:
    class_path = [jar.path, *_overrides(jar)]
    small = model.distinct is not None and model.distinct < _SMALL
    collector = "-XX:+UseSerialGC" if small or options.workers == 1 else "-XX:+UseParallelGC"
    return (
        str(jre.java),
        collector,
        *_compiler(model),
        *java_options(folder / "tmp", options.heap_mb or default_heap_mb()),
        *archive_options(jar, jre),
        *("-cp", os.pathsep.join(map(str, class_path))),
    )


def _overrides(jar: TlcJar) -> list[Path]:
    trusted = trusted_jar(jar.capabilities)
    return [] if trusted is None else [trusted]


def java_options(temporary: Path, heap_mb: int) -> tuple[str, ...]:
    """Return the options that TLC needs from Java, whatever it is asked."""
    return (
        f"-Xmx{heap_mb}m",
        f"-Xss{_STACK}",
        # TLC may go on for ever with one of its threads missing.
        "-XX:+ExitOnOutOfMemoryError",
        # TLC writes numbers as the locale does; this wrapper reads 1,234.
        *("-Duser.language=en", "-Duser.country=US"),
        f"-Djava.io.tmpdir={temporary}",
    )


def _compiler(model: Model) -> tuple[str, ...]:
    """Return the options that tell Java how to compile TLC for a search of this model's length.

    The number of states of an expected failure is not pinned; in the smoke tier it is small.
    """
    if model.tier == "smoke" and model.expect != "holds":
        return COMPILE_BRIEFLY
    if model.distinct is None or model.distinct >= _MEDIUM:
        return ()
    return COMPILE_BRIEFLY if model.distinct < _SMALL else OPTIMISE_LATE


def _mode(options: Options) -> list[str]:
    simulation = options.simulation
    if simulation is None:
        # Coverage is written once in this many minutes, and always at the end.
        return ["-coverage", "60"] if options.coverage else []
    return [
        *("-simulate", f"num={simulation.behaviours}"),
        *("-depth", str(simulation.depth), "-seed", str(simulation.seed)),
    ]


def default_heap_mb() -> int:
    """Return a quarter of the machine's memory, at least 512 MB and at most 4 GB."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2048
    return max(512, min(4_096, total // 4 // 2**20))


def reproduce(model: Model, options: Options) -> str:
    """Return the command of this project that asks the same question again."""
    words = ["krafla", "check", argument_of(model), "--workers", str(options.workers)]
    if options.heap_mb is not None:
        words += ["--heap", str(options.heap_mb)]
    if options.simulation is not None:
        simulation = options.simulation
        words += ["--simulate", str(simulation.behaviours), "--depth", str(simulation.depth)]
        words += ["--seed", str(simulation.seed)]
    return on_these_specs(shlex.join(words))
