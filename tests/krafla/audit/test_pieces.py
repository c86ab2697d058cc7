"""A history judged in pieces has the outcome of the whole, wherever it is cut."""

from __future__ import annotations

import shutil
from dataclasses import replace
from random import Random

import pytest
from tests.krafla.audit.breaking import (
    NOTHING,
    Broken,
    broker_change,
    change,
    partition,
    topic,
    written,
)
from tests.krafla.audit.cutting import everywhere, in_pieces, report
from tests.krafla.audit.editing import LOG, METADATA
from tests.krafla.audit.tampering import batches, tampered
from tests.kraft.records.samples import every_record

from krafla.audit import pieces
from krafla.audit.clusters import find_logs
from krafla.audit.history import History
from krafla.audit.history_replay import Replay
from krafla.audit.history_save import digest_of, restore, restore_values, save, save_values
from krafla.audit.image import Image
from krafla.audit.inventory import take_inventory
from krafla.audit.partitions import Partitions
from krafla.audit.pieces import PiecesError
from krafla.audit.saved_values import SavedStateError
from krafla.audit.starts import start_of
from kraft.log.directory import open_metadata_log, read_metadata_log

TAMPERED = 40
SEED = 20_261_129


@pytest.mark.by_day(1)
@pytest.mark.parametrize(("name", "least"), [("combined", 80), ("crash", 300), ("failover", 200)])
def test_a_real_log_cut_between_any_two_batches_gives_the_report_of_the_whole(
    loading, real_logs, name, least
):
    sizes = []
    found = report(real_logs / name, loading, in_pieces(everywhere, sizes))
    assert found == report(real_logs / name, loading)
    assert sum(sizes) > least


def test_each_cluster_of_a_corpus_gives_the_same_report_in_pieces(loading, corpus):
    sizes = []
    folders = [one for one in sorted(corpus.iterdir()) if one.is_dir()]
    for folder in folders:
        judging = in_pieces(lambda offsets: offsets[1 : -1 : max(1, len(offsets) // 6)], sizes)
        assert report(folder, loading, judging) == report(folder, loading), folder
    assert sum(sizes) > 4 * len(folders)


@pytest.mark.nightly
def test_each_tampered_log_gives_the_same_report_in_pieces(loading, tmp_path, real_logs):
    logs = [batches(path) for path in sorted(real_logs.glob(f"*/*/{METADATA}/{LOG}"))]
    records = [record for seed in range(8) for record in every_record(seed)]
    target = tmp_path / METADATA / LOG
    target.parent.mkdir()
    judged, sizes = 0, []
    for number in range(TAMPERED):
        chance = Random(f"{SEED}-{number}")
        try:
            target.write_bytes(tampered(chance.choice(logs), tuple(records), chance))
        except (TypeError, ValueError):
            continue  # the drawn value is none of the field's type

        def where(offsets, chance=chance):
            return sorted({chance.choice(offsets[:-1]) for _ in range(chance.choice((1, 3, 20)))})

        found = report(tmp_path, loading, in_pieces(where, sizes))
        assert found == report(tmp_path, loading), number
        judged += 1
    assert judged > TAMPERED // 2
    assert sum(sizes) > 2 * judged


def cut_up(folder, loading, cuts):
    """Return a log's pieces, cut at the first batches behind some offsets, and their judge."""
    (log,) = find_logs([folder])[0]
    inventory = take_inventory(log)
    first = pieces.first_state(start_of(inventory, []), loading)
    at = [next(offset for offset in inventory.offsets if offset >= cut) for cut in cuts]
    found = [*pieces.cut(read_metadata_log(log), first, at, loading, {})]
    return found, lambda one: pieces.judge(one, read_metadata_log(log), loading, {})


@pytest.fixture
def violated(tmp_path):
    """A log whose fourth batch of its own breaks a rule, between legal ones."""
    legal = [[topic(), partition()], *([change(isr=isr)] for isr in ((0, 1), (0, 1, 2)))]
    wrong = [change(isr=(0, 7))]
    after = [[change(isr=isr)] for isr in ((0, 1), (0, 1, 2))]
    return written(tmp_path, Broken([*legal, wrong, *after], (3, 0)))


def test_what_is_judged_behind_a_violation_is_left_out(loading, violated):
    folder, blamed = violated
    found, judge = cut_up(folder, loading, [blamed])
    assert [one.start for one in found] == [0, blamed]
    whole = report(folder, loading)
    assert f'"offset": {blamed}' in whole
    judged = [judge(one) for one in found]
    outcome, error = pieces.join(judged)
    assert (outcome.stopped_at, error) == (blamed, None)
    # A later piece was judged from a state that no history is in.
    stray = replace(judged[0], number=2, begins="", ends="x")
    assert pieces.join([stray, *judged]) == (outcome, None)


def test_pieces_that_do_not_fit_are_not_joined(loading, real_logs):
    found, judge = cut_up(real_logs / "crash", loading, [200, 400])
    assert [one.number for one in found] == [0, 1, 2]
    judged = [judge(one) for one in found]
    assert pieces.join(reversed(judged)) == pieces.join(judged)
    with pytest.raises(PiecesError, match="piece 1 of a history is missing"):
        pieces.join([judged[0], judged[2]])
    with pytest.raises(PiecesError, match="the last piece of a history is missing"):
        pieces.join(judged[:2])
    with pytest.raises(PiecesError, match="the last piece of a history is missing"):
        pieces.join([])
    assert pieces.join([*judged, judged[1]]) == pieces.join(judged)


def test_a_piece_judged_from_another_state_is_not_joined(loading, real_logs):
    found, judge = cut_up(real_logs / "crash", loading, [200, 400])
    wrong = replace(found[1], state=found[2].state)
    with pytest.raises(SavedStateError, match="has the state of"):
        judge(wrong)
    judged = [judge(one) for one in found]
    judged[1] = replace(judged[1], begins=judged[2].begins)
    with pytest.raises(PiecesError, match="piece 1 of a history was judged from another state"):
        pieces.join(judged)


def test_where_replay_fails_the_rest_is_one_piece(loading, real_logs, monkeypatch):
    whole = report(real_logs / "crash", loading)
    replay = Replay.replay

    def failing(self, batch):
        if batch.base_offset > 300:
            raise KeyError(batch.base_offset)
        replay(self, batch)

    monkeypatch.setattr(Replay, "replay", failing)
    sizes = []
    judging = in_pieces(lambda offsets: offsets[20:-1:20], sizes)
    assert report(real_logs / "crash", loading, judging) == whole
    found, _ = cut_up(real_logs / "crash", loading, [100, 200, 400, 500])
    assert [(one.number, one.end is None) for one in found] == [
        (0, False), (1, False), (2, False), (2, True),
    ]  # fmt: skip


COUNT = 70
ISRS = ((0, 1), (0, 1, 2), (0, 2), (0, 1, 2))


def rounds():
    """Return batches in which the replicas of many partitions leave and return, as do brokers."""
    made = [[topic(), *(partition(number) for number in range(COUNT))]]
    for turn, isr in enumerate((*ISRS, *ISRS)):
        changes = [change(number, isr=isr) for number in range(turn, COUNT)]
        made.append([*changes, *([NOTHING] if turn % 3 == 1 else [])])
        made.append([change(number, isr=isr) for number in range(turn)] or [NOTHING])
    for gone, leader in ((0, 1), (1, 0)):
        isr = tuple(broker for broker in (0, 1, 2) if broker != gone)
        left = [change(number, isr=isr, leader=leader) for number in range(COUNT)]
        made.append([*left, broker_change(gone, fenced=1)])
        made.append([broker_change(gone, fenced=-1)])
        made.append([change(number, isr=(0, 1, 2)) for number in range(COUNT)])
        made.append([change(COUNT - 1, isr=(0, 1)), change(COUNT - 1, isr=(0, 1, 2))])
    return made


def test_a_replayed_history_has_the_states_of_a_judged_one(loading, tmp_path, monkeypatch):
    folder, _ = written(tmp_path, Broken(rounds(), (0, 0)))
    judged, replayed = History(loading, 0, Image(), {}), Replay(loading, 0, Image(), {})
    at_once, asked = [], Partitions.replay

    def counting(self, keys, tails, kinds):
        found = asked(self, keys, tails, kinds)
        at_once.extend(keys if found == [] else ())
        return found

    monkeypatch.setattr(Partitions, "replay", counting)
    every = [*read_metadata_log(open_metadata_log(folder))]
    for batch in every:
        judged.add(batch)
        assert not judged.stopped, judged.outcome().findings
        replayed.replay(batch)
        if batch.base_offset % 3 == 0:
            assert digest_of(save(replayed)) == digest_of(save(judged)), batch.base_offset
    assert save(replayed) == save(judged)
    assert len(at_once) > 8 * COUNT
    again, before = restore(save(judged), loading, {}).image, judged.image
    assert again.entities == before.entities
    keys = before.partitions.states
    epochs = [[one.partitions.epochs(key) for key in keys] for one in (again, before)]
    assert epochs[0] == epochs[1]
    assert len(set(epochs[0])) > 1
    assert report(folder, loading, in_pieces(everywhere, [])) == report(folder, loading)


def test_a_step_that_an_earlier_piece_judged_is_not_judged_again(loading, tmp_path, monkeypatch):
    monkeypatch.setattr("krafla.audit.spec_steps._CHANGES", 1)
    folder, _ = written(tmp_path, Broken(rounds(), (0, 0)))
    sizes = []
    assert report(folder, loading, in_pieces(everywhere, sizes)) == report(folder, loading)
    assert sizes[0] > 20


def test_a_piece_needs_all_of_its_batches(loading, real_logs):
    found, _ = cut_up(real_logs / "crash", loading, [200])
    (log,) = find_logs([real_logs / "crash"])[0]
    few = [batch for batch in read_metadata_log(log) if batch.next_offset < found[0].end - 5]
    with pytest.raises(PiecesError, match="the batches of a piece end at"):
        pieces.judge(found[0], few, loading, {})


def test_an_unreadable_batch_ends_the_history_of_its_piece(loading, real_logs, tmp_path):
    source = real_logs / "crash" / "n3000" / METADATA / LOG
    target = tmp_path / METADATA / LOG
    target.parent.mkdir()
    target.write_bytes(source.read_bytes()[:-1000] + bytes(range(200, 250)) * 20)
    sizes = []
    whole = report(tmp_path, loading)
    assert '"exit_code": 0' not in whole
    judging = in_pieces(lambda offsets: [*offsets[1:-9:50], *offsets[-9:-1]], sizes)
    assert report(tmp_path, loading, judging) == whole
    assert sizes[0] > 9


def test_a_piece_is_judged_where_its_log_lies_somewhere_else(loading, real_logs, tmp_path):
    folders = [tmp_path / name for name in ("one", "other", "third")]
    logs = []
    for folder in folders:
        shutil.copytree(real_logs / "crash", folder / "crash")
        logs.append(find_logs([folder])[0][0])
    inventory = take_inventory(logs[0])
    start = start_of(inventory, [])
    first = pieces.first_state(start, loading, folders[0])
    cuts = inventory.offsets[30:-1:60]
    found = [*pieces.cut(read_metadata_log(logs[0]), first, cuts, loading, {}, folders[0])]
    assert len(found) > 4
    judged = []
    for piece in found:
        here = None
        if piece.place is not None:
            assert piece.place.position > 0
            here = replace(piece.place, path=folders[1] / piece.place.path.relative_to(folders[0]))
        read = read_metadata_log(logs[1], start=here)
        judged.append(pieces.judge(piece, read, loading, {}, folders[1]))
    moved = pieces.join(judged, folders[2])
    (whole,) = pieces.cut((), first, (), loading, {})
    alone = pieces.judge(whole, read_metadata_log(logs[2]), loading, {}, folders[2])
    assert moved == pieces.join([alone], folders[2])
    with pytest.raises(SavedStateError, match="paths below a folder"):
        restore_values(save_values([folders[0] / "x"], folders[0]))


@pytest.mark.parametrize(
    ("processes", "share", "expected"),
    [(1, 0.5, []), (2, 0.5, [167]), (2, 0.0, [150]), (3, 0.5, [158, 186]), (300, 0.1, None)],
)
def test_pieces_are_cut_so_that_all_are_done_at_once(processes, share, expected):
    found = pieces.cuts_for(range(201), 100, processes, share)
    assert found == (expected or found)
    assert all(100 < one < 200 for one in found)
    assert len(found) < 99
