"""House rules about words: what must not stand in any file of the project."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.tidy.inspection import Finding, Inspection, files, place

if TYPE_CHECKING:
    from pathlib import Path

# Written in pieces, so that this file does not break its own rule.
MACHINE = ["/" + name + "/" for name in ("work", "farm", "root", "home/[a-z]+", "Users")]
MACHINE += ["/tmp" + "/bash_jobs", r"\." + "library/", r"\b" + "shared/(?:corpus|study|kips|kafka)"]
HOSTS = ["pypi" + r"\.org", "python" + r"hosted\.org", r"repo1?\." + r"maven\.(?:apache\.)?org"]
HOSTS += ["registry" + r"\.npmjs", "crates" + r"\.io", r"deb\." + r"debian\.org"]
UNFINISHED = [r"\b" + "TO" + r"DO\b", r"\b" + "FIX" + r"ME\b", "Not" + "ImplementedError"]

FORBIDDEN = {
    "a path of one machine": re.compile("|".join(MACHINE)),
    "the name of a registry host": re.compile("|".join(HOSTS)),
    "unfinished work": re.compile("|".join(UNFINISHED)),
}
ANY = re.compile("|".join(pattern.pattern for pattern in FORBIDDEN.values()))
# The corpus of real logs lives beside the checkout; only the script that runs in CI may know where.
# Real logs hold the paths of the machines that wrote them.
EXCEPTIONS = {".ci/run": {"a path of one machine"}}
EXEMPT_FOLDERS = ("traces/kafka-4.1/",)


def no_forbidden_words(root: Path) -> Inspection:
    """No file names a path of one machine or a registry host, or admits that it is unfinished."""
    looked_at, findings = 0, []
    for path in files(root):
        name = place(root, path)
        if name.startswith(EXEMPT_FOLDERS):
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        looked_at += 1
        lines = text.splitlines() if ANY.search(text) else ()
        allowed = EXCEPTIONS.get(name, set())
        for number, line in enumerate(lines, start=1):
            for what, pattern in FORBIDDEN.items():
                if what not in allowed and (match := pattern.search(line)):
                    findings.append(Finding(name, number, f"{what}: {match[0]}"))
    return Inspection(looked_at, tuple(findings))
