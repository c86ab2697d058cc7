"""The features of a new cluster, by its release and by the options of the command.

Kafka: MetadataVersion, Feature, Formatter.calculateEffectiveFeatureLevels. KIP-584, KIP-1022.
"""

from __future__ import annotations

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


def feature_levels(metadata_version: int, asked: Sequence[str]) -> dict[str, int]:
    """Return the level of every feature; kraft.version only if `asked` has it.

    `asked` are `feature=level`. Raises ToolError for a malformed or unsupported one.
    """
    levels = {
        name: default_level(name, metadata_version)
        for name in sorted(FEATURES)
        if name != "kraft.version"
    }
    for text in asked:
        name, separator, level = text.partition("=")
        if not separator or not level.isascii() or not level.isdigit():
            raise _refused(f"Can't parse feature=level string {text}")
        if name == "metadata.version":
            reason = "Use --release-version instead of --feature metadata.version=X"
            raise _refused(f"{reason} to avoid ambiguity.")
        if name not in FEATURES:
            known = ", ".join(sorted(FEATURES))
            raise _refused(f"Unsupported feature: {name}. Supported features are: {known}")
        number = int(level[:6])
        if number > highest_level(name) or (name, number) in _NOT_STABLE:
            raise _refused(f"No feature:{name} with feature level {level}")
        levels[name] = number
    return levels


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
