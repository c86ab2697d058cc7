"""Where TLC finds the modules that a spec names: beside it, and elsewhere.

TLC takes the class ``Name.class`` beside a module for Java that overrides the module's operators,
and runs it. A spec of a stranger could so run any program, so TLC never sees such a folder: it gets
one with links to the modules, and nothing else.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

from krafla.tlc.community import COMMUNITY_NAMES, ENVIRONMENT_VARIABLE, find_community
from krafla.tlc.jar import ENVIRONMENT_VARIABLE as TLA2TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from krafla.tlc.capabilities import Capabilities

__all__ = ["missing_module", "searched", "without_classes"]

# The Toolbox keeps a model in SPEC.toolbox/MODEL, two folders below the spec.
_TOOLBOX: Final = ".toolbox"
_APALACHE: Final = frozenset({"Apalache", "Option", "Variants"})


def searched(folders: Iterable[Path], capabilities: Capabilities) -> tuple[Path, ...]:
    """Return these folders and, behind them, those in which modules are found without being told.

    They are the folder of the spec of a Toolbox model, the CommunityModules
    (`krafla.tlc.community`), the names that proofs of TLAPS use, and what a jar with these
    capabilities lacks of a newer TLC's own modules.
    """
    found = list(folders)
    found += [one.parent.parent for one in found if one.parent.suffix == _TOOLBOX]
    community = find_community()
    if community is not None:
        found.append(community.folder)
    ours = Path(str(resources.files("krafla.tlc"))) / "modules"
    found.append(ours / "proofs")
    if "TLCExt" not in capabilities.modules:
        found.append(ours / "newer")
    return tuple(dict.fromkeys(found))


def missing_module(name: str) -> str:
    """Return the sentence about a module that is nowhere, with what to do."""
    if name in COMMUNITY_NAMES:
        return (
            f"no module {name}: it is one of the CommunityModules. Set {ENVIRONMENT_VARIABLE} to "
            "their CommunityModules-deps.jar, or to the folder of a checkout of "
            "tlaplus/CommunityModules"
        )
    if name in _APALACHE:
        return f"no module {name}: it comes with Apalache; put its {name}.tla beside the spec"
    return (
        f"no module {name} beside it, in krafla's specs or among TLA+'s own: put {name}.tla beside "
        f"it; if it belongs to a newer TLC, {TLA2TOOLS} can name its tla2tools.jar"
    )


def without_classes(folders: Sequence[Path], scratch: Path) -> tuple[Path, ...]:
    """Return the folders in a form for TLC: one that holds a class is replaced.

    The replacement is a folder in ``scratch`` that has links to the modules.
    """
    safe = []
    for number, folder in enumerate(folders):
        if next(folder.glob("*.class"), None) is None:
            safe.append(folder)
            continue
        library = scratch / f"library-{number}"
        library.mkdir()
        for module in folder.glob("*.tla"):
            (library / module.name).symlink_to(module.resolve())
        safe.append(library)
    return tuple(safe)
