"""The clock of a node."""

from kraft.node.clock import Clock


def test_a_jump_of_the_wall_does_not_move_the_clock():
    wall, passed = [10**18], [5]
    clock = Clock(lambda: wall[0], lambda: passed[0])
    wall[0] -= 3600 * 10**9
    passed[0] += 7

    assert clock.now() == 10**18 + 7
