"""``kraft storage version-mapping`` and ``feature-dependencies``: what goes with what.

Kafka: StorageTool.runVersionMappingCommand, StorageTool.runFeatureDependenciesCommand. KIP-1022.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kraft.tools.features import (
    FEATURES,
    NEWEST,
    OLDEST,
    REQUIRED_VERSION,
    VERSION_NAMES,
    default_level,
    highest_level,
    release_level,
)
from kraft.tools.guard import ExitCode, ToolError


def version_mapping(
    release_version: Annotated[
        str | None,
        typer.Option("--release-version", "-r", help="A release or metadata version, as 4.0."),
    ] = None,
) -> None:
    """Print the level of each feature in a new cluster of a release, by default the newest."""
    name = VERSION_NAMES[NEWEST] if release_version is None else release_version
    try:
        level = release_level(name)
    except ToolError:
        known = f"{VERSION_NAMES[OLDEST]} to {VERSION_NAMES[NEWEST]}"
        raise _refused(
            f"Unknown release version '{name}'. Supported versions are: {known}"
        ) from None
    sys.stdout.write(f"metadata.version={level} ({name})\n")
    for feature in FEATURES:
        sys.stdout.write(f"{feature}={default_level(feature, level)}\n")


def feature_dependencies(
    feature: Annotated[
        list[str], typer.Option("--feature", "-f", help="feature=level; may be given often.")
    ],
) -> None:
    """Print which metadata version a level of a feature needs."""
    for text in feature:
        name, separator, number = text.partition("=")
        if not separator:
            raise _refused(f"Can't parse feature=level string {text}")
        sign, digits = ("-", number[1:]) if number.startswith("-") else ("", number)
        if not (digits.isascii() and digits.isdigit()):
            raise _refused(f"Invalid version format: {number} for feature {name}")
        level = int(sign + digits[:6])
        sys.stdout.writelines(f"{line}\n" for line in _needs(name, level))


def _needs(name: str, level: int) -> list[str]:
    if name == "metadata.version":
        if level not in VERSION_NAMES:
            raise _refused(f"Unknown metadata.version {level}")
        return [f"{name}={level} ({VERSION_NAMES[level]}) has no dependencies."]
    if name not in FEATURES:
        raise _refused(f"Unknown feature: {name}")
    if not 0 <= level <= highest_level(name):
        raise _refused(f"Feature level {level} is not supported for feature {name}")
    least = REQUIRED_VERSION.get((name, level))
    if least is None:
        return [f"{name}={level} has no dependencies."]
    required = f"    metadata.version={least} ({VERSION_NAMES[least]})"
    return [f"{name}={level} requires:", required]


def _refused(reason: str) -> ToolError:
    return ToolError(reason, ExitCode.REFUSED)
