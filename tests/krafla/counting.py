"""A spec of one number, with properties as a test wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.oracle import Spec

if TYPE_CHECKING:
    from pathlib import Path


def counting(folder: Path, rest: str) -> Spec:
    """Return the spec of a number ``n`` from 0 on; ``rest`` defines Next and the properties."""
    path = folder / "Counting.tla"
    head = "---- MODULE Counting ----\nEXTENDS Integers\nVARIABLE n\nInit == n = 0\n"
    path.write_text(f"{head}{rest}====\n")
    return Spec.load("Counting", {}, path=path)
