from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraft.chance import Stream
from kraft.sim.raft.disk import PowerCutError, SimulatedDisk

SEEDS = range(60)


def safe_disk(**files: bytes) -> SimulatedDisk:
    disk = SimulatedDisk("machine-0")
    for name, content in files.items():
        disk.append(name, content)
        disk.flush(name)
    disk.flush_directory("")
    return disk


def outcomes(prepare) -> set[bytes | None]:
    found = set()
    for seed in SEEDS:
        disk = prepare()
        disk.lose_power(Stream(seed))
        found.add(disk.read("a") if "a" in disk.names("") else None)
    return found


def test_flushed_data_survives_and_other_data_is_lost_kept_or_torn():
    def prepare():
        disk = safe_disk(a=b"12345678")
        disk.append("a", b"abcd")
        return disk

    found = outcomes(prepare)

    assert all(content.startswith(b"12345678") for content in found)
    assert {b"12345678", b"12345678abcd"} < found
    assert len(found) > 2


def test_a_large_write_can_be_kept_at_its_end_and_lost_before():
    def prepare():
        disk = safe_disk(a=b"")
        disk.append("a", b"x" * 1536)
        return disk

    assert bytes(512) + b"x" * 1024 in outcomes(prepare)
    assert b"x" * 512 in outcomes(prepare)


@given(
    st.integers(0, 600),
    st.lists(st.integers(1, 1200), min_size=1, max_size=8),
    st.integers(0, 9999),
)
def test_a_sector_that_lacks_a_part_of_a_write_has_nothing_of_a_later_one(safe, sizes, seed):
    disk = safe_disk(a=b"s" * safe)
    for number, size in enumerate(sizes):
        disk.append("a", bytes([65 + number]) * size)
    whole = disk.read("a")
    disk.lose_power(Stream(seed))
    found = disk.read("a")

    ends = {safe, *itertools.accumulate(sizes, initial=safe)}
    for start in range(0, len(found), 512):
        sector = found[start : start + 512]
        written = sector.rstrip(b"\0")
        assert whole[start : start + len(written)] == written
        if start + 512 < len(found):
            # Whole writes, or a piece of one that is a whole sector's.
            assert len(written) in {0, 512} or start + len(written) in ends


def test_a_flushed_file_whose_name_is_not_flushed_can_be_gone():
    def prepare():
        disk = SimulatedDisk("machine-0")
        disk.append("a", b"1")
        disk.flush("a")
        return disk

    assert outcomes(prepare) == {None, b"1"}


def test_a_rename_is_one_file_or_the_other():
    def prepare():
        disk = safe_disk(a=b"old", b=b"new")
        disk.rename("b", "a")
        return disk

    assert outcomes(prepare) == {b"old", b"new"}


def test_a_flushed_rename_stays():
    def prepare():
        disk = safe_disk(a=b"old", b=b"new")
        disk.rename("b", "a")
        disk.flush_directory("")
        return disk

    assert outcomes(prepare) == {b"new"}


def test_an_unflushed_truncation_can_be_undone():
    def prepare():
        disk = safe_disk(a=b"123456")
        disk.truncate("a", 2)
        disk.append("a", b"x")
        return disk

    found = outcomes(prepare)

    assert {b"123456", b"12", b"12x"} <= found


def test_without_a_loss_of_power_everything_stays():
    disk = safe_disk(a=b"1")
    disk.append("a", b"2")
    disk.truncate("a", 1)
    disk.append("a", b"3")

    assert disk.read("a") == b"13"


OPERATIONS = st.lists(
    st.tuples(st.sampled_from(("append", "truncate")), st.binary(max_size=1200)),
    max_size=8,
)


@given(OPERATIONS, st.integers(0, 2**64 - 1))
def test_a_flushed_file_is_untouched_by_a_loss_of_power(operations, seed):
    disk = safe_disk(a=b"begin")
    for name, data in operations:
        if name == "append":
            disk.append("a", data)
        else:
            disk.truncate("a", len(disk.read("a")) // 2)
    before = disk.read("a")
    disk.flush("a")
    disk.lose_power(Stream(seed))

    assert disk.read("a") == before


@pytest.mark.nightly
@given(OPERATIONS)
def test_undoing_everything_gives_what_was_safe(operations):
    disk = safe_disk(a=b"begin")
    for name, data in operations:
        if name == "append":
            disk.append("a", data)
        else:
            disk.truncate("a", len(disk.read("a")) // 2)
    disk.lose_power(NothingKept(0))

    assert disk.read("a") == b"begin"


class NothingKept(Stream):
    def below(self, bound):  # noqa: ARG002 - all luck is bad luck
        return 0


def test_the_power_can_be_cut_between_any_two_operations():
    disk = safe_disk(a=b"1")
    disk.cut_after = 2
    disk.append("a", b"2")
    disk.append("a", b"3")
    with pytest.raises(PowerCutError):
        disk.append("a", b"4")

    assert disk.read("a") == b"123"


def test_a_full_disk_refuses_writes_with_its_place():
    disk = safe_disk(a=b"1")
    disk.is_full = True
    with pytest.raises(OSError, match=r"no space left.*machine-0"):
        disk.append("a", b"2")

    assert disk.read("a") == b"1"


def test_a_misdirected_write_lands_elsewhere_once():
    disk = safe_disk(a=b"0" * 100)
    landed = []
    disk.misdirect(Stream(1), landed.append)
    disk.append("b", b"x")
    assert not landed
    disk.append("a", b"x")
    disk.append("a", b"y")

    assert len(disk.read("a")) == 101
    assert disk.read("a").endswith(b"0y")
    assert landed == [f"a, byte {disk.read('a').index(b'x')}"]


def test_rot_flips_one_bit():
    disk = safe_disk(a=b"\0" * 50)
    place = disk.rot(Stream(5))
    content = disk.read("a")

    assert place is not None
    assert sum(byte.bit_count() for byte in content) == 1


def test_a_restored_image_is_complete_and_safe():
    disk = safe_disk(a=b"1")
    image = disk.image()
    disk.append("a", b"2")
    disk.append("b", b"3")
    disk.restore(image)
    disk.lose_power(NothingKept(0))

    assert disk.image() == {"a": b"1"}


def test_files_of_a_directory_are_named_with_it():
    disk = SimulatedDisk("machine-0")
    disk.append("d/x", b"1")
    disk.append("y", b"2")

    assert disk.names("d") == ("d/x",)
    assert disk.names("") == ("y",)
    assert disk.names("e") == ()
    with pytest.raises(FileNotFoundError, match="machine-0/z"):
        disk.read("z")


def test_flushes_add_up_their_latency():
    disk = SimulatedDisk("machine-0", 500)
    disk.append("a", b"1")
    disk.flush("a")
    disk.flush_directory("")

    assert disk.spent == 1000
