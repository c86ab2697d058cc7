"""``krafla doctor``: the parts of this installation, and how to get the missing ones."""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass, replace
from importlib import metadata
from typing import TYPE_CHECKING, Annotated

import typer

from krafla.cli import screen
from krafla.cli.options import Json  # noqa: TC001 - typer reads the annotations
from krafla.manifest import load
from krafla.pipeline import needs
from krafla.tlc.community import ENVIRONMENT_VARIABLE, find_community
from krafla.tlc.jar import find_jar
from krafla.tlc.jre import find_jre
from krafla.tlc.trust import trust
from krafla.verdict import ExitCode, KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Finding", "command", "examine"]

_MARKS = {
    (True, True): ("ok", "green"),
    (True, False): ("ok", "green"),
    (False, True): ("MISSING", "bold red"),
    (False, False): ("absent", "yellow"),
}

_Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="From now on let Java in this jar of CommunityModules run; it can do anything.",
    ),
]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is needed: where it is, or how to get it.

    A thing that not every command needs may be missing.
    """

    name: str
    found: bool
    detail: str
    needed: bool = True


def examine() -> tuple[Finding, ...]:
    """Return everything that was looked for. Fetches the TLC jar if this machine has none."""
    return (
        Finding("krafla", True, metadata.version("krafla")),
        Finding("python", True, f"{platform.python_version()} ({platform.platform()})"),
        _sought("java", _java),
        _sought("tlc", _tlc),
        _package("jpype", "jpype1", "pip install jpype1"),
        _sought("specs", _specs),
        _community(),
        replace(_sought("spark", _spark), needed=False),
    )


def _sought(name: str, search: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, search())
    except KraflaError as error:
        return Finding(name, False, str(error))


def _java() -> str:
    jre = find_jre()
    return f"{jre.version} from {jre.source}: {jre.home}"


def _tlc() -> str:
    jar = find_jar()
    capabilities = jar.capabilities
    return (
        f"{capabilities.version} from {jar.source}: {jar.path} (sha256 {jar.sha256[:16]}...); "
        f"can {' '.join(capabilities.names())}"
    )


def _community() -> Finding:
    """Return what was found of the CommunityModules, which only some specs need."""
    try:
        found = find_community()
    except KraflaError as error:
        return Finding("modules", False, str(error), needed=False)
    if found is None:
        advice = f"no CommunityModules; a spec that uses them needs {ENVIRONMENT_VARIABLE}"
        return Finding("modules", False, advice, needed=False)
    return Finding("modules", True, f"CommunityModules from {found.source}: {found.folder}")


def _specs() -> str:
    manifest = load()
    unlisted = f", {len(manifest.unlisted)} cfg not listed" if manifest.unlisted else ""
    return f"{manifest.path.parent}: {len(manifest.models)} models{unlisted}"


def _spark() -> str:
    java = needs.find_java()
    return f"{needs.versions()}; on Java {java.version} from {java.source}: {java.home}"


def _package(name: str, distribution: str, advice: str) -> Finding:
    try:
        return Finding(name, True, metadata.version(distribution))
    except metadata.PackageNotFoundError:
        return Finding(name, False, advice)


def command(
    trusted: _Trust = False,
    as_json: Json = False,
) -> ExitCode:
    r"""Show what this installation found, and what is missing.

    \b
    Examples:
      krafla doctor
      krafla doctor --json
      krafla doctor --trust     once, for specs that use IOUtils or Json of CommunityModules
    \b
    Exit status 2 if something is missing that every installation needs. Only krafla campaign and
    krafla pipeline need Spark.
    """
    if trusted:
        trust()
    findings = examine()
    console = screen.stdout()
    if as_json:
        console.print(
            json.dumps([asdict(finding) for finding in findings], indent=2),
            markup=False,
            soft_wrap=True,
        )
    else:
        for finding in findings:
            mark, style = _MARKS[finding.found, finding.needed]
            screen.line(console, (f"{mark:8}", style), f"{finding.name:8} {finding.detail}")
    found_all = all(finding.found or not finding.needed for finding in findings)
    return ExitCode.HELD if found_all else ExitCode.COULD_NOT_RUN
