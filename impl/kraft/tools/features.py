"""The features of a new cluster, by its release and by the options of the command.

Kafka: MetadataVersion, Feature, Formatter.calculateEffectiveFeatureLevels. KIP-584, KIP-1022.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kraft.tools.guard import ExitCode, ToolError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_VERSIONS_OF: Final = (
    ("3.3", 3, 1), ("3.4", 0, 1), ("3.5", 0, 3), ("3.6", 0, 3), ("3.7", 0, 5), ("3.8", 0, 1),
    ("3.9", 0, 1), ("4.0", 0, 4), ("4.1", 0, 2),
)  # fmt: skip
"""For each release: its name, the number of its first metadata version here, and how many."""
VERSION_NAMES: Final = dict(
    enumerate((f"{r}-IV{first + n}" for r, first, count in _VERSIONS_OF for n in range(count)), 7)
)
"""The name of each metadata version that Kafka 4.1 holds for stable, by its level."""
OLDEST: Final = min(VERSION_NAMES)
NEWEST: Final = max(VERSION_NAMES)
SCRAM_SINCE: Final = 11
FEATURES: Final[Mapping[str, tuple[tuple[int, int], ...]]] = {
    "kraft.version": ((21, 1),),
    "transaction.version": ((24, 2),),
    "group.version": ((22, 1),),
    "eligible.leader.replicas.version": ((26, 1),),
    "share.version": (),
    "streams.version": (),
}
"""Of each feature, in Kafka's order, from which metadata version on it has which default level."""
_HIGHEST: Final = {"transaction.version": 2}
_NOT_STABLE: Final = frozenset({("streams.version", 1)})
"""Levels that exist, but with which no cluster is formatted."""
QUORUM_FLAGS: Final = "--standalone, --initial-controllers, or --no-initial-controllers"
"""The flags of a quorum that can change, as Kafka lists them."""
REQUIRED_VERSION: Final = {("eligible.leader.replicas.version", 1): 23, ("kraft.version", 1): 21}
"""The metadata version that a level of a feature needs at least, where it needs one."""
_SHORT: Final = re.compile(r"[+-]?\d{1,20}", re.ASCII)
_MAX_SHORT: Final = 2**15 - 1


def release_level(text: str | None) -> int:
    """Return the metadata version of a release such as `4.1`, `4.0.1` or `4.0-IV2`.

    Raises ToolError for one that is not known or not stable.
    Kafka: MetadataVersion.fromVersionString.
    """
    if text is None:
        return NEWEST
    by_name = {name: level for level, name in VERSION_NAMES.items()}
    if text in by_name:
        return by_name[text]
    release = ".".join(text.split(".")[:2])
    levels = [level for level, name in VERSION_NAMES.items() if name.startswith(f"{release}-")]
    if not levels or "-" in text:
        raise ToolError(
            f"Version {text} is not a valid version. The minimum version is {VERSION_NAMES[7]} and"
            f" the maximum version is {VERSION_NAMES[NEWEST]}",
            ExitCode.REFUSED,
        )
    return max(levels)


def asked_levels(asked: Sequence[str]) -> dict[str, int]:
    """Return the levels in `feature=level` texts, by feature; the last of a feature counts.

    Raises ToolError for one that is malformed. Kafka: StorageTool.featureNamesAndLevels.
    """
    levels = {}
    for text in asked:
        name, separator, number = text.partition("=")
        if not separator:
            raise _refused(f"Can't parse feature=level string {text}: equals sign not found.")
        number = number.strip()
        if not _SHORT.fullmatch(number) or not -_MAX_SHORT - 1 <= int(number) <= _MAX_SHORT:
            reason = f"unable to parse {number} as a short."
            raise _refused(f"Can't parse feature=level string {text}: {reason}")
        levels[name.strip()] = int(number)
    return levels


def first_metadata_version(release: str | None, asked: Mapping[str, int]) -> int:
    """Return the metadata version of a new cluster, from its release or from its features.

    Raises ToolError if both are given, or if it is not known or not stable.
    Kafka: Formatter.calculateEffectiveReleaseVersion.
    """
    level = asked.get("metadata.version")
    if level is None:
        return release_level(release)
    if release is not None:
        reason = "Use --release-version instead of --feature metadata.version=X"
        raise _refused(f"{reason} to avoid ambiguity.")
    if level not in VERSION_NAMES:
        raise _refused(f"No stable metadata.version with feature level {level}")
    return level


def feature_levels(
    metadata_version: int, asked: Mapping[str, int], *, is_dynamic: bool
) -> dict[str, int]:
    """Return the level of every feature in a new cluster, by name in order.

    `is_dynamic` tells whether its quorum can change, which decides kraft.version. Raises ToolError
    for a level that there is not, or that depends on a later metadata version.
    Kafka: Formatter.calculateEffectiveFeatureLevels, Feature.validateVersion.
    """
    for name in asked:
        if name not in {*FEATURES, "metadata.version"}:
            known = ", ".join(sorted(FEATURES))
            raise _refused(f"Unsupported feature: {name}. Supported features are: {known}")
    defaults = {name: default_level(name, metadata_version) for name in sorted(FEATURES)}
    levels = defaults | {"kraft.version": int(is_dynamic)}
    levels |= {name: level for name, level in asked.items() if name in FEATURES}
    _check_kraft_version(levels["kraft.version"], is_dynamic=is_dynamic)
    for name, level in levels.items():
        if not 0 <= level <= highest_level(name) or (name, level) in _NOT_STABLE:
            raise _refused(f"No feature:{name} with feature level {level}")
        least = REQUIRED_VERSION.get((name, level), OLDEST)
        if metadata_version < least:
            reason = f"because it depends on metadata.version level {least}"
            raise _refused(f"{name} could not be set to {level} {reason}")
    return levels


def _check_kraft_version(level: int, *, is_dynamic: bool) -> None:
    """Check the level against the flags. Kafka: Formatter.effectiveKRaftFeatureLevel."""
    if (level == 0) == is_dynamic:
        when = "if" if is_dynamic else "unless"
        reason = f"Cannot set kraft.version to {level} {when} one of the flags {QUORUM_FLAGS}"
        raise _refused(f"{reason} is used.")


def default_level(name: str, metadata_version: int) -> int:
    """Return the level that a feature has in a new cluster of this metadata version.

    Kafka: Feature.defaultLevel.
    """
    return max((level for since, level in FEATURES[name] if metadata_version >= since), default=0)


def highest_level(name: str) -> int:
    """Return the highest level of a feature."""
    return _HIGHEST.get(name, 1)


def _refused(reason: str) -> ToolError:
    return ToolError(reason, ExitCode.REFUSED)
