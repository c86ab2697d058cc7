"""House rules about the generic rooms of krafla: they know no word of one protocol."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tests.tidy.inspection import Finding, Inspection, files, parse, place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROOMS = (
    "tlc",
    "oracle",
    "traces",
    "match",
    "shrink",
    "graph",
    "mutate",
    "proofs",
    "report",
    "project",
)
# Also as plurals. Other protocols have logs too: "offset", "leader" and "record" are not here.
WORDS = frozenset(
    {
        *("kafka", "kraft", "raft", "isr", "elr"),
        *("broker", "controller", "replica", "partition", "topic", "quorum", "voter", "cluster"),
        *("lease", "heartbeat", "fence", "fenced", "unfence", "unfenced", "fencing", "incarnation"),
        *("epoch", "registration", "reassignment", "metadata", "kip", "zookeeper", "quora"),
    }
)
# A file and a word in it, with the reason why the word may stand there.
EXCEPTIONS = {
    ("mutate/guards.py", "epoch"): "names by which an operator finds ordered values in any spec",
    ("mutate/guards.py", "quorum"): "the operator weaken-quorum is pinned in specs/mutation.toml",
}
WORD = re.compile(r"[A-Z]+s?(?![a-z])|[A-Z]?[a-z]+")


def generic_rooms_know_no_protocol(root: Path) -> Inspection:
    """No identifier and no text in a generic room is a word of Kafka's protocols; docstrings may.

    `str.partition` is Python's.
    """
    looked_at, findings, excused = 0, [], set()
    for room in ROOMS:
        folder = root / "model" / "krafla" / room
        if (root / "model" / "krafla" / "traces").exists() and not folder.exists():
            findings.append(Finding("model/krafla", 1, f"{room!r}: no such generic room"))
        for path in files(folder, ".py"):
            inside = f"{room}/{path.relative_to(folder).as_posix()}"
            for line, text in _names_and_texts(parse(path)):
                looked_at += 1
                for word in sorted(protocol_words(text)):
                    if (inside, word) in EXCEPTIONS:
                        excused.add((inside, word))
                        continue
                    message = f"{text!r}: {word} is a word of one protocol"
                    findings.append(Finding(place(root, path), line, message))
    for inside, word in sorted(EXCEPTIONS.keys() - excused):
        path = root / "model" / "krafla" / inside
        if path.exists():
            findings.append(Finding(place(root, path), 1, f"{word} is an exception without need"))
    return Inspection(looked_at, tuple(findings))


def protocol_words(text: str) -> set[str]:
    """Return the words of a protocol that an identifier or a text consists of."""
    words = {word.lower() for word in WORD.findall(text)}
    return {one for word in words for one in (word, word.removesuffix("s")) if one in WORDS}


def _names_and_texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the identifiers and the texts of a module, without its docstrings, with their lines."""
    docstrings = {id(node.value) for node in ast.walk(tree) if _is_bare_text(node)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in docstrings:
                yield node.lineno, text
            case ast.Constant(value=bytes(data)):
                yield node.lineno, data.decode("latin-1")
            case ast.Name(id=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield node.lineno, name
            case (
                ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name) | ast.ImportFrom(module=str(name))
                | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name)) | ast.ExceptHandler(name=str(name))
            ):  # fmt: skip
                yield node.lineno, name
            case ast.Attribute(attr=name) if name != "partition":
                yield node.lineno, name
            case ast.alias(name=name, asname=other):
                yield node.lineno, f"{name} {other or ''}"
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield node.lineno, " ".join(names)
            case ast.MatchClass(kwd_attrs=[*names]) if names:
                yield node.lineno, " ".join(names)


def _is_bare_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
