"""Specs loaded for a lockstep, with their constants pinned."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from krafla.oracle.constants import pin_constants
from krafla.oracle.digest import digest_of_used
from krafla.oracle.jvm import TlcClasses
from krafla.oracle.loader import find_module, folders_for
from krafla.scratch import scratch_folder
from krafla.testing import Spec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["classes_for", "load_generated", "load_pinned"]

# Raft's and the stack's, and those of copies of the specs.
_CLASSES: Final = 4


def load_pinned(module: str, constants: Mapping[str, Any], **options: Any) -> Spec:
    """Return a module with these constants, pinned; ``options`` are those of `Spec.load`."""
    spec = Spec.load(module, constants, **options)
    pin_constants(spec)
    return spec


def load_generated(
    root: str,
    text: str,
    settings: str,
    module: str,
    path: Path | None = None,
    *,
    shares_classes: bool = False,
) -> Spec:
    """Return a module ``root`` that is made for one run, with its constants pinned.

    ``text`` is its text and ``settings`` its configuration file. It extends ``module``, and the
    modules it needs are looked for beside that one; ``path`` is the folder of another copy of the
    specs. If it ``shares_classes``, all texts for this root define the same names, and its
    fingerprints stay in this process (`krafla.oracle.shared_names`). Raises
    KraflaError if TLC cannot load it.
    """
    folders = folders_for(find_module(module, path))
    if path is not None:
        folders = [path, *folders]
    with scratch_folder("lockstep") as scratch:
        made = scratch / f"{root}.tla"
        made.write_text(text, encoding="utf-8")
        configuration = scratch / f"{root}.cfg"
        configuration.write_text(settings, encoding="utf-8")
        classes = classes_for(root, digest_of_used(text, folders)) if shares_classes else None
        spec = Spec.load(root, cfg=configuration, path=made, search_path=folders, classes=classes)
        # The source has to be read before the folder is gone.
        spec.sources.find(root)
    pin_constants(spec)
    return spec


def classes_for(root: str, digest: str) -> TlcClasses:
    """Return the classes of TLC for the specs of a root, whose modules have this digest."""
    if _classes(root, digest).are_worn:
        _classes.cache_clear()
    return _classes(root, digest)


@lru_cache(maxsize=_CLASSES)
def _classes(_root: str, _digest: str) -> TlcClasses:
    return TlcClasses()
