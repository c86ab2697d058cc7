"""Specs loaded with a module that is made for one run: it has the constants of that run."""

from __future__ import annotations

import tempfile
from pathlib import Path

from krafla.oracle import Spec
from krafla.oracle.constants import pin_constants
from krafla.oracle.loader import find_module, folders_for

__all__ = ["load_generated"]


def load_generated(
    root: str, text: str, settings: str, module: str, path: Path | None = None
) -> Spec:
    """Return the spec of a module ``root`` with this text and these settings, constants pinned.

    It extends ``module``, beside whose file the others are looked for; ``path`` is the folder of
    another copy of the specs. Raises KraflaError if TLC cannot load it.
    """
    folders = folders_for(find_module(module, path))
    if path is not None:
        folders = [path, *folders]
    with tempfile.TemporaryDirectory(prefix="krafla-lockstep-") as temporary:
        made = Path(temporary, f"{root}.tla")
        made.write_text(text, encoding="utf-8")
        configuration = Path(temporary, f"{root}.cfg")
        configuration.write_text(settings, encoding="utf-8")
        spec = Spec.load(root, cfg=configuration, path=made, search_path=folders)
        # Read while it is there.
        spec.sources.find(root)
    pin_constants(spec)
    return spec
