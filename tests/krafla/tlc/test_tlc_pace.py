"""Speed, and an end that is only foretold while the queue falls."""

from __future__ import annotations

from krafla.tlc.output import Progress
from krafla.tlc.pace import Pace, Speed


def test_one_report_tells_no_speed():
    assert Pace().add(0.0, Progress(100, 50, 3)) == Speed(None, None)


def test_a_growing_queue_foretells_no_end():
    pace = Pace()
    pace.add(0.0, Progress(100, 50, 3))

    assert pace.add(2.0, Progress(300, 90, 4)) == Speed(100.0, None)


def test_a_falling_queue_foretells_when_it_is_empty():
    pace = Pace()
    pace.add(0.0, Progress(100, 90, 3))

    assert pace.add(2.0, Progress(300, 60, 4)) == Speed(100.0, 4.0)


def test_only_the_last_ten_seconds_count():
    pace = Pace()
    pace.add(0.0, Progress(0, 10, 1))
    pace.add(20.0, Progress(1000, 50, 2))

    assert pace.add(30.0, Progress(1500, 40, 2)) == Speed(50.0, 40.0)


def test_a_known_total_tells_the_share_and_when_it_is_reached():
    pace = Pace(1000)
    assert pace.add(0.0, Progress(100, 50, 3)) == Speed(None, None, 0.1)

    assert pace.add(2.0, Progress(300, 90, 4)) == Speed(100.0, 7.0, 0.3)


def test_a_search_beyond_the_known_total_is_no_share_of_it():
    pace = Pace(100)
    pace.add(0.0, Progress(80, 50, 3))

    assert pace.add(2.0, Progress(120, 40, 4)) == Speed(20.0, 8.0)
