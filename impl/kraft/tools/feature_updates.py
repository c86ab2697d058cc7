r"""Describe the features of a cluster, or change their levels, as kafka-features does.

\b
Examples:
  kraft features --bootstrap-controller localhost:9093 describe
  kraft features --bootstrap-controller localhost:9093 upgrade --release-version 4.1 --dry-run
  kraft features --bootstrap-server localhost:9092 downgrade --feature transaction.version=1
  kraft features --bootstrap-server localhost:9092 disable --feature share.version
  kraft features version-mapping --release-version 4.0
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from kraft.tools.client_options import connected
from kraft.tools.feature_list import feature_dependencies, version_mapping
from kraft.tools.features import (
    FEATURES,
    VERSION_NAMES,
    asked_levels,
    default_level,
    release_level,
)
from kraft.tools.guard import ExitCode, ToolError
from kraft.wire.value_maps import error_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kraft.client.admin import AdminClient
    from kraft.records.schema import Fields

_UPDATE_FEATURES: Final = 57
_METADATA_VERSION: Final = "metadata.version"
_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE = 1, 2, 3
"""Kafka: FeatureUpdate.UpgradeType."""

_Metadata = Annotated[
    str | None, typer.Option("--metadata", help="Deprecated: a metadata version, as 3.3-IV3.")
]
_Release = Annotated[
    str | None,
    typer.Option(
        "--release-version", help="Set every feature to its level in this release, such as 4.0."
    ),
]
_Levels = Annotated[
    list[str] | None, typer.Option("--feature", help="feature=level; may be given often.")
]
_Names = Annotated[
    list[str] | None, typer.Option("--feature", help="A feature; may be given often.")
]
_Unsafe = Annotated[
    bool, typer.Option("--unsafe", help="Allow a downgrade that may lose metadata.")
]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Validate, but do not do it.")]


def describe(context: typer.Context) -> None:
    """Print the levels of each feature: supported and finalized."""
    with connected(context.obj) as client:
        sys.stdout.write(features_text(client.versions()))


def features_text(response: Fields) -> str:
    """Return the features in a response to ApiVersions. Kafka: FeatureCommand.handleDescribe."""
    finalized = {one["name"]: one["maxVersionLevel"] for one in response["finalizedFeatures"]}
    epoch = response["finalizedFeaturesEpoch"]
    lines = []
    for feature in sorted(response["supportedFeatures"], key=lambda one: one["name"]):
        name = feature["name"]
        parts = {
            "Feature": name,
            "SupportedMinVersion": _level_text(name, feature["minVersion"]),
            "SupportedMaxVersion": _level_text(name, feature["maxVersion"]),
            "FinalizedVersionLevel": _level_text(name, finalized.get(name, 0)),
            "Epoch": "-" if epoch < 0 else str(epoch),
        }
        lines.append("\t".join(f"{key}: {value}" for key, value in parts.items()) + "\n")
    return "".join(lines)


def upgrade(
    context: typer.Context,
    metadata: _Metadata = None,
    release_version: _Release = None,
    feature: _Levels = None,
    dry_run: _DryRun = False,
) -> None:
    """Raise the levels of features."""
    asked = _asked(metadata, release_version, feature or (), is_upgrade=True)
    if 0 in asked.values():
        raise _refused(
            "The upgradeType flag should be set to SAFE_DOWNGRADE or UNSAFE_DOWNGRADE when the"
            " provided maxVersionLevel:0 is < 1."
        )
    _update(context, "upgrade", asked, _UPGRADE, is_dry=dry_run)


def downgrade(
    context: typer.Context,
    metadata: _Metadata = None,
    release_version: _Release = None,
    feature: _Levels = None,
    unsafe: _Unsafe = False,
    dry_run: _DryRun = False,
) -> None:
    """Lower the levels of features."""
    asked = _asked(metadata, release_version, feature or (), is_upgrade=False)
    kind = _UNSAFE_DOWNGRADE if unsafe else _SAFE_DOWNGRADE
    _update(context, "downgrade", asked, kind, is_dry=dry_run)


def disable(
    context: typer.Context,
    feature: _Names = None,
    unsafe: _Unsafe = False,
    dry_run: _DryRun = False,
) -> None:
    """Lower features to level 0."""
    asked = _once((name, 0) for name in feature or ())
    kind = _UNSAFE_DOWNGRADE if unsafe else _SAFE_DOWNGRADE
    _update(context, "disable", asked, kind, is_dry=dry_run)


def _asked(
    metadata: str | None, release: str | None, features: Sequence[str], *, is_upgrade: bool
) -> dict[str, int]:
    """Return the levels that the options ask for.

    Kafka: FeatureCommand.handleUpgradeOrDowngrade.
    """
    if release is not None:
        if metadata is not None or features:
            raise _refused("Can not specify `release-version` with other feature flags.")
        level = _metadata_level(release)
        levels = {name: default_level(name, level) for name in FEATURES}
        raised = {name: one for name, one in levels.items() if one or not is_upgrade}
        return {_METADATA_VERSION: level, **raised}
    pairs = []
    if metadata is not None:
        sys.stdout.write(" `metadata` flag is deprecated and may be removed in a future release.\n")
        pairs.append((_METADATA_VERSION, _metadata_level(metadata)))
    for text in features:
        pairs += asked_levels((text,)).items()
    return _once(pairs)


def _once(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    asked: dict[str, int] = {}
    for name, level in pairs:
        if name in asked:
            raise _refused(f"Feature {name} was specified more than once.")
        if level < 0:
            raise _refused("Cannot specify a negative version level.")
        asked[name] = level
    return asked


def _metadata_level(text: str) -> int:
    try:
        return release_level(text)
    except ToolError:
        known = ", ".join(VERSION_NAMES.values())
        reason = f"Unknown metadata.version {text}. Supported metadata.version are {known}"
        raise _refused(reason) from None


def _update(
    context: typer.Context, verb: str, asked: Mapping[str, int], kind: int, *, is_dry: bool
) -> None:
    """Send the update, and print what became of each feature. Kafka: FeatureCommand.update."""
    if not asked:
        raise _refused(f"You must specify at least one feature to {verb}")
    with connected(context.obj) as client:
        failures = _failures(client, asked, kind, is_dry=is_dry)
    for name in sorted(asked):
        level = "" if verb == "disable" else f" to {asked[name]}"
        if name in failures:
            start = "Can not" if is_dry else "Could not"
            sys.stdout.write(f"{start} {verb} {name}{level}. {failures[name]}\n")
        else:
            done = "can be" if is_dry else "was"
            past = f"{verb}d" if verb.endswith("e") else f"{verb}ed"
            sys.stdout.write(f"{name} {done} {past}{level}.\n")
    if failures:
        raise _refused(f"{len(failures)} out of {len(asked)} operation(s) failed.")


def _failures(
    client: AdminClient, asked: Mapping[str, int], kind: int, *, is_dry: bool
) -> dict[str, str]:
    """Return why features were not updated: what fails one fails all since version 2.

    Kafka: KafkaAdminClient.updateFeatures.
    """
    from kraft.client.errors import RefusedError

    updates = tuple(
        {"feature": name, "maxVersionLevel": level, "upgradeType": kind}
        for name, level in asked.items()
    )
    fields = {"featureUpdates": updates, "validateOnly": is_dry, "timeoutMs": client.timeout_ms}
    try:
        response = client.ask(_UPDATE_FEATURES, fields)
    except RefusedError as error:
        return dict.fromkeys(asked, str(error))
    return {
        one["feature"]: str(RefusedError(error_code(one["errorCode"]), one["errorMessage"]))
        for one in response.get("results", ())
        if one["errorCode"]
    }


def _level_text(name: str, level: int) -> str:
    if name != _METADATA_VERSION:
        return str(level)
    return VERSION_NAMES.get(level, f"UNKNOWN {level}")


def _refused(reason: str) -> ToolError:
    return ToolError(reason, ExitCode.REFUSED)


VERBS: Final = {
    "describe": describe,
    "upgrade": upgrade,
    "downgrade": downgrade,
    "disable": disable,
    "version-mapping": version_mapping,
    "feature-dependencies": feature_dependencies,
}
"""The verbs of `kraft features`, in the order of its help."""
