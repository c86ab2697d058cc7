"""Registry, table and broken logs have the same invariants."""

from __future__ import annotations

from pathlib import Path

from tests.krafla.audit import test_broken_logs_checkpoints, test_broken_logs_records
from tests.krafla.audit.known_invariants import known_invariants

from krafla.audit.mapping import SPEC
from krafla.audit.registry import REGISTRY
from krafla.cli.audit import command

TABLE = Path(__file__).parents[3] / "docs" / "audit-invariants.md"


def rows():
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return {row[0]: row[1:] for row in cells if row[0] in REGISTRY}


def broken_in():
    """Return, for each invariant, the test with a broken log for it."""
    found = dict.fromkeys(test_broken_logs_records.BROKEN_LOGS, "test_broken_logs_records.py")
    return found | dict.fromkeys(
        test_broken_logs_checkpoints.NAMES, "test_broken_logs_checkpoints.py"
    )


def test_there_are_83_invariants_and_a_broken_log_for_each():
    assert len(REGISTRY) == 83
    assert broken_in().keys() == REGISTRY.keys()


def test_the_help_says_how_many_invariants_there_are():
    assert f"checks {len(REGISTRY)} invariants" in " ".join(command.__doc__.split())


def test_the_table_says_what_the_registry_says():
    table = rows()
    assert list(table) == list(REGISTRY)
    for name, entry in REGISTRY.items():
        statement, granularity, kinds = table[name]
        assert statement == entry.statement
        assert (granularity or "record") == entry.granularity
        assert (kinds.replace("`", "") or name).split(", ") == list(entry.kinds)


def test_the_page_says_which_test_has_the_broken_log():
    wanted = "test_broken_logs_checkpoints.py"
    names = ", ".join(name for name in REGISTRY if broken_in()[name] == wanted)
    page = " ".join(TABLE.read_text(encoding="utf-8").split())
    assert f"{names} in `{wanted}`, the others in `test_broken_logs_records.py`" in page


def test_every_kind_of_finding_belongs_to_the_audit_or_the_spec():
    own = {invariant.id for invariant in known_invariants()}
    for entry in REGISTRY.values():
        for kind in entry.kinds:
            assert kind in own or kind.startswith(f"{SPEC}!"), entry
    beside = own - {kind for e in REGISTRY.values() for kind in e.kinds}
    assert beside == {"LogMatching", "LeaderOfEpoch", "QuorumEpoch", "EpochStarts"}
