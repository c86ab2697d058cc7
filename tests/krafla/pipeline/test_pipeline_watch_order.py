"""What a watch says of files does not depend on the order and the triggers in which they come."""

from __future__ import annotations

import json
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.krafla.pipeline.watches import (
    CRASH,
    NO_OP,
    REAL,
    Cells,
    Watch,
    at_offset,
    log_of,
    node,
    raw,
)

from krafla.audit.specs import LoadingSpec
from krafla.pipeline.watch.cells import STOPPED, DirectoryState
from krafla.pipeline.watch.marks import Clash, Marks
from krafla.pipeline.watch.waiting import Waiting
from krafla.verdict import KraflaError
from kraft.records.batch import CRC_START, parse_batch
from kraft.records.builder import metadata_batch
from kraft.records.limits import DEFAULT_LIMITS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kraft.records.batch import RecordBatch

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

COMBINED = REAL / "combined" / "n1"
COUNTS = ("judged_to", "batches", "records", "waiting", "repeated", "unjudged")


@pytest.fixture(scope="module")
def loading() -> LoadingSpec:
    return LoadingSpec()


def come(watch: Watch, folder: Path, triggers: Sequence[dict[int, bytes]]) -> dict[str, Any]:
    """Let files come, by the offsets of their names; return where the directory stands."""
    for files in triggers:
        for offset, content in files.items():
            (folder / f"{offset:020d}.log").write_bytes(content)
        watch.all()
    return watch.of(folder)


def kinds(row: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the findings of a row without the file: two that clash are told of the later one."""
    names = ("weight", "kind", "offset")
    return sorted(tuple(one[name] for name in names) for one in row["findings"])


def one_record_at(log: Sequence[RecordBatch]) -> int:
    """Return the number of a batch with one record, behind another such batch."""
    return next(
        n for n, one in enumerate(log)
        if n > 60 and not one.is_control and one.count == log[n - 1].count == 1
    )  # fmt: skip


def strangers(log: Sequence[RecordBatch], at: int) -> dict[str, dict[int, bytes]]:
    """Return files that may lie beside those of `parts`, or in the place of one."""
    offset, (two, three) = log[at].base_offset, log[at + 2 : at + 4]
    epoch, second = log[at].leader_epoch, two.base_offset
    middle, spoiled = bytearray(raw(parts(log, at)[1])), bytearray(three.raw)
    middle[three.position - log[at - 1].position + CRC_START] ^= 1
    spoiled[CRC_START] ^= 1
    return {
        "older copy": {offset: metadata_batch(offset, epoch - 1, 7, [NO_OP])},
        "equal": {second: two.raw},
        "other bytes": {second: metadata_batch(second, epoch, 7, [NO_OP])},
        "other bounds": {second: metadata_batch(second, epoch, 7, [NO_OP] * 2)},
        "spoiled": {three.base_offset: bytes(spoiled)},
        "whole": {
            log[at - 1].base_offset: bytes(middle), second: raw(log[at + 2 : at + 5]),
        },
    }  # fmt: skip


def parts(log: Sequence[RecordBatch], at: int) -> list[Sequence[RecordBatch]]:
    """Return a log in three files: the epoch that begins with batch `at` begins in the second."""
    return [log[: at - 1], log[at - 1 : at + 5], log[at + 5 :]]


EXPECTED = {
    "older copy": [("note", "older copy")],
    "equal": [],
    "other bytes": [("violation", "divergence")],
    "other bounds": [("violation", "divergence")],
    "spoiled": [("unreadable", "corrupt")],
    "whole": [("unreadable", "corrupt")],
}


@pytest.mark.parametrize("stranger", EXPECTED)
def test_files_in_any_order_and_any_triggers_lead_to_one_standing(
    tmp_path_factory: pytest.TempPathFactory, loading: LoadingSpec, stranger: str
) -> None:
    log = log_of(COMBINED)
    at = next(n for n, one in enumerate(log) if n and one.leader_epoch > log[n - 1].leader_epoch)
    whole = {part[0].base_offset: raw(part) for part in parts(log, at)}
    files = [*(whole | strangers(log, at)[stranger]).items()]

    def standing(order: Sequence[int], cuts: Sequence[bool]) -> tuple[Any, ...]:
        triggers = [dict([files[order[0]]])]
        for is_cut, number in zip(cuts, order[1:], strict=True):
            if is_cut:
                triggers.append({})
            triggers[-1] |= [files[number]]
        root = tmp_path_factory.mktemp("logs")
        watch = Watch(root, loading)
        row = come(watch, node(root, COMBINED), triggers)
        assert watch.whole()["findings"] == []
        return row["verdict"], kinds(row), {name: row[name] for name in COUNTS}

    expected = standing(range(4), (False,) * 3)
    assert [one[:2] for one in expected[1]] == EXPECTED[stranger]
    assert expected[2]["judged_to"] == log[-1].next_offset

    @given(st.permutations(range(4)), st.tuples(*3 * [st.booleans()]))
    @settings(max_examples=8, phases=[Phase.explicit, Phase.generate])
    def in_any_order(order: list[int], cuts: tuple[bool, ...]) -> None:
        assert standing(order, cuts) == expected

    in_any_order()


@pytest.mark.parametrize("is_first_late", [False, True])
def test_of_two_batches_that_wait_at_one_offset_and_epoch_neither_is_lost(
    tmp_path: Path, loading: LoadingSpec, is_first_late: bool
) -> None:
    folder, log = node(tmp_path, CRASH), log_of(CRASH)
    at = one_record_at(log)
    offset, epoch = log[at].base_offset, log[at].leader_epoch
    one, other = (metadata_batch(offset, epoch, time, [NO_OP]) for time in (7, 9))
    head = {0: raw(log[: at - 1])}
    waiting = {offset - 1: log[at - 1].raw + one, offset: other}
    triggers = [waiting, head] if is_first_late else [head, waiting]
    row = come(Watch(tmp_path, loading), folder, triggers)
    assert kinds(row) == [("violation", "divergence", offset)]
    (found,) = row["findings"]
    assert found["path"] == str(folder / f"{offset:020d}.log")
    assert (row["verdict"], row["judged_to"], row["repeated"]) == ("violated", offset + 1, 0)


@pytest.mark.parametrize("old_comes", [0, 1, 2])
def test_an_older_copy_that_waits_is_not_judged_instead_of_the_log(
    tmp_path: Path, loading: LoadingSpec, old_comes: int
) -> None:
    folder, log = node(tmp_path, COMBINED), log_of(COMBINED)
    at = next(n for n, one in enumerate(log) if n and one.leader_epoch > log[n - 1].leader_epoch)
    offset, epoch = log[at].base_offset, log[at].leader_epoch
    triggers = [{}, {log[at - 1].base_offset: raw(log[at - 1 :])}, {0: raw(log[: at - 1])}]
    triggers[old_comes] |= {offset: metadata_batch(offset, epoch - 1, 7, [NO_OP])}
    row = come(Watch(tmp_path, loading), folder, triggers)
    assert (row["verdict"], row["judged_to"]) == ("held", log[-1].next_offset)
    assert kinds(row) == [("note", "older copy", offset)]


@pytest.mark.parametrize("is_part_first", [False, True])
def test_a_batch_that_begins_inside_another_of_its_epoch_is_a_violation(
    tmp_path: Path, loading: LoadingSpec, is_part_first: bool
) -> None:
    folder, log = node(tmp_path, CRASH), log_of(CRASH)
    at = one_record_at(log)
    offset, epoch = log[at].base_offset, log[at].leader_epoch
    whole = {0: raw(log[:at]) + metadata_batch(offset, epoch, 7, [NO_OP] * 3)}
    part = {offset + 1: metadata_batch(offset + 1, epoch, 1, [NO_OP])}
    triggers = [part, whole] if is_part_first else [whole, part]
    row = come(Watch(tmp_path, loading), folder, triggers)
    assert kinds(row) == [("violation", "divergence", offset + 1)]
    first, last = (offset + 1,) * 2 if is_part_first else (offset, offset + 2)
    assert f"in another batch, of offsets {first} to {last}" in row["findings"][0]["detail"]
    assert (row["repeated"], row["judged_to"]) == (0, offset + 3)


def test_other_bytes_are_those_that_the_same_directory_had(
    tmp_path: Path, loading: LoadingSpec
) -> None:
    log = log_of(CRASH)
    at = one_record_at(log)
    offset, epoch = log[at].base_offset, log[at].leader_epoch
    folders = [node(tmp_path, CRASH, name) for name in ("a", "b")]
    contents = [raw(log[:at]) + metadata_batch(offset, epoch, n, [NO_OP]) for n in (7, 9)]
    watch = Watch(tmp_path, loading)
    for folder, content in zip(folders, contents, strict=True):
        come(watch, folder, [{0: content}])
    divergence = ("violation", "divergence", offset)
    assert kinds(watch.whole()) == [divergence]
    # The file of b is read anew, from its beginning.
    row = come(watch, folders[1], [{0: contents[1][:-100]}, {0: contents[1]}])
    assert (row["verdict"], row["findings"], row["repeated"]) == ("held", [], at + 1)
    row = come(watch, folders[1], [{0: contents[1][:-100]}, {0: contents[0]}])
    assert kinds(row) == [divergence]
    assert watch.of(folders[0])["verdict"] == "held"


def test_marks_tell_each_clash_in_whatever_order_batches_come() -> None:
    one, other = (parse_batch(metadata_batch(4094, 1, n, [NO_OP] * 4)) for n in (0, 1))
    inner, later = at_offset(4096), parse_batch(metadata_batch(4096, 2, 0, [NO_OP]))
    # Of a directory, of two, and none: batches of two blocks, and a directory of a second byte.
    every = [(one, 0), (other, 1), (one, 2), (inner, 9), (other, 9), (later, 9)]
    for order in permutations(every):
        cells, newest = Cells(), 0
        own, others = set(), set()
        for batch, directory in order:
            marks = Marks(cells, newest)
            seen = marks.note(batch, directory)
            marks.put()
            newest = marks.newest
            own |= {directory} if seen.own else set()
            others |= {seen.other.directory, directory} if seen.other else set()
            assert seen.other is None or seen.other.directory != directory
            assert Marks(cells, newest).note(batch, directory).is_again
        assert own == {9}
        assert {1, 9} & others
        assert {0, 2} & others


def test_what_other_code_has_kept_is_not_gone_on_with(tmp_path: Path, loading: LoadingSpec) -> None:
    folder, log = node(tmp_path, CRASH), log_of(CRASH)
    watch = Watch(tmp_path, loading)
    come(watch, folder, [{0: raw(log[:20])}])
    (own,) = watch.cells.values()
    facts = json.loads(own["cluster"])
    del facts["form"]
    own["cluster"] = json.dumps(facts).encode()
    with pytest.raises(KraflaError, match="has another form: another krafla has begun this watch"):
        come(watch, folder, [{0: raw(log[:30])}])


def test_what_comes_behind_a_violation_is_counted_and_a_fault_there_changes_nothing(
    tmp_path: Path, loading: LoadingSpec
) -> None:
    folder, log = node(tmp_path, CRASH), log_of(CRASH)
    unfence = (17, 0, {"brokerId": 0, "brokerEpoch": 999, "fenced": -1})
    at, epoch = log[10].next_offset, log[10].leader_epoch
    bad = metadata_batch(at, epoch, 8, [unfence])
    spoiled = bytearray(metadata_batch(at + 1, epoch, 9, [NO_OP]))
    spoiled[CRC_START] ^= 1
    watch = Watch(tmp_path, loading)
    row = come(watch, folder, [{0: raw(log[:11]) + bad + spoiled}])
    assert (row["verdict"], row["phase"], row["stopped_at"]) == ("violated", STOPPED, at)
    said = row["findings"]
    row = come(watch, folder, [{at + 5: metadata_batch(at + 5, epoch, 9, [NO_OP])}])
    assert (row["phase"], row["stopped_at"], row["findings"]) == (STOPPED, at, said)
    assert (row["waiting"], row["unjudged"]) == (0, 1)


def test_clashes_are_told_once_and_of_each_directory_unlike_the_first() -> None:
    one, other = (parse_batch(metadata_batch(5, 1, n, [NO_OP] * 2)) for n in (0, 1))
    marks = Marks(Cells(), 0)
    told = [marks.note(*each).other for each in [(one, 0), (other, 1), (one, 2), (other, 3)]]
    assert told == [None, Clash(5, 7, 0), None, Clash(5, 7, 0)]
    # A directory that clashes with itself clashes with the next one that has either.
    marks = Marks(Cells(), 0)
    told = [marks.note(*each).other for each in [(one, 0), (other, 0), (one, 1), (one, 2)]]
    assert told == [None, None, Clash(5, 7, 0), None]
    # So does one with a batch of other bounds.
    told = [marks.note(at_offset(6), directory).other for directory in (1, 3)]
    assert told == [Clash(5, 7, 0), None]


def test_what_waits_is_taken_by_offset_and_the_latest_epoch_first() -> None:
    batches = [parse_batch(metadata_batch(*one, 0, [NO_OP])) for one in ((5, 1), (5, 2), (4, 1))]
    for order in permutations(batches):
        waiting = Waiting(DirectoryState(0), Cells(), DEFAULT_LIMITS)
        for batch in order:
            waiting.add("one", batch, is_again=False)
        assert waiting.ending_at(6) == batches[1]
        taken = [waiting.take(9) for _ in batches]
        assert [one and one.batch for one in taken] == [batches[2], batches[1], batches[0]]


def test_a_batch_waits_in_the_place_of_another_that_waits_no_longer(
    tmp_path: Path, loading: LoadingSpec
) -> None:
    folder, log = node(tmp_path, CRASH), log_of(CRASH)
    alone = {log[number].base_offset: log[number].raw for number in (20, 30)}
    early, late = alone.items()
    watch = Watch(tmp_path, loading)
    row = come(watch, folder, [dict([early]), {0: raw(log[:20])} | dict([late])])
    assert (row["judged_to"], row["waiting"]) == (log[20].next_offset, 1)
    between = {log[21].base_offset: raw(log[21:30])}
    row = come(watch, folder, [between])
    assert row["judged_to"] == log[30].next_offset
