"""The invariants of finalized features: their names and levels, dependencies and downgrades.

Kafka: FeatureControlManager.updateFeatures, Feature.validateVersion. KIP-584, KIP-778, KIP-1022.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.audit.image import ELR_FEATURE, METADATA_VERSION
from krafla.audit.invariants import RecordInvariant
from krafla.audit.result import Invariant
from kraft.records.metadata_schemas import FEATURE_LEVEL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krafla.audit.image import Image
    from krafla.audit.invariants import Subject

KRAFT_VERSION: Final = "kraft.version"
_LEAST_FOR_FEATURES: Final = 7
"""The metadata version that every other feature needs, 3.3-IV3: the least of Kafka 4.0 and 4.1, the
releases that have other features. Kafka: MetadataVersion.MINIMUM_VERSION, Feature.validateVersion.
"""
_DEPENDENCIES: Final[Mapping[tuple[str, int], tuple[tuple[str, int], ...]]] = {
    (ELR_FEATURE, 1): ((METADATA_VERSION, 23),),
}
"""What a level of a feature needs besides. Kafka: EligibleLeaderReplicasVersion, and the lists of
GroupVersion, TransactionVersion and ShareVersion, which are empty."""
_CHANGED: Final = (3, 5, 6, 7, 8, 11, 13, 14, 15, 17, 23)
"""The metadata versions that have records or fields which the one before lacks.

Kafka: MetadataVersion.didMetadataChange.
"""
_LEAST_NAMED: Final = 4
"""The metadata version 3.3-IV0, the first that has records of features.

Kafka: MetadataVersion.MINIMUM_BOOTSTRAP_VERSION, FeaturesImage.write."""
_SEPARATE_FROM: Final = 26
"""The metadata version 4.1-IV0, from which on kraft.version is surely never such a record."""

DEPENDENCIES_MET: Final = Invariant(
    "F1",
    "KIP-1022; Kafka: Feature.validateVersion",
)


def dependency_objection(image: Image, name: str) -> str | None:
    """Return what a feature's level lacks, None if nothing."""
    level = image.features.get(name, 0)
    version = image.metadata_version
    if name == METADATA_VERSION or level < 1 or version is None:
        return None
    if version < _LEAST_FOR_FEATURES:
        return f"{name} has level {level}, which needs {METADATA_VERSION} {_LEAST_FOR_FEATURES}"
    for other, least in _DEPENDENCIES.get((name, level), ()):
        has = image.features.get(other, 0)
        if has < least:
            return f"{name} has level {level}, which needs {other} {least}, but that is {has}"
    return None


def _downgrade_loses_nothing(subject: Subject) -> str | None:
    fields, known = subject.record.fields, subject.image.metadata_version
    level = fields["featureLevel"]
    if fields["name"] != METADATA_VERSION or known is None or level >= known:
        return None
    if level < 1:
        return f"metadata.version is set to {level}, which is no level"
    lost = [version for version in _CHANGED if level < version <= known]
    if not lost:
        return None
    return f"metadata.version falls from {known} to {level}: level {lost[-1]} changed the records"


def _names_a_feature(subject: Subject) -> str | None:
    name, level = subject.record.fields["name"], subject.record.fields["featureLevel"]
    if level < 0:
        return f"{name} is set to {level}, which is no level"
    if name == METADATA_VERSION and 0 < level < _LEAST_NAMED:
        return f"{name} is set to {level}: before {_LEAST_NAMED}, 3.3-IV0, no record names it"
    version = subject.image.metadata_version or 0
    if name == KRAFT_VERSION and version >= _SEPARATE_FROM:
        return "kraft.version is a control record of Raft, not a feature record"
    return None


FEATURE_INVARIANTS: Final = (
    RecordInvariant(
        "F2",
        "KIP-778; Kafka: FeatureControlManager.updateMetadataVersion",
        _downgrade_loses_nothing,
        frozenset({FEATURE_LEVEL.api_key}),
    ),
    RecordInvariant(
        "F3",
        "KIP-853; Kafka: FeatureControlManager.updateFeature",
        _names_a_feature,
        frozenset({FEATURE_LEVEL.api_key}),
    ),
)
