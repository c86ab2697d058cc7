from __future__ import annotations

from kraft.sim.raft.faults import Fault
from kraft.sim.raft.links import network_rules
from kraft.sim.raft.network import Fate, Latency, Network, Rule

MILLISECOND = 1_000_000
SECOND = 1000 * MILLISECOND


def arrivals(network: Network, count: int = 200, link: tuple[int, int] = (0, 1)) -> list[Fate]:
    fates = (network.fate(0, *link) for _ in range(count))
    return [Fate(fate) if isinstance(fate, int) else fate for fate in fates]


def test_a_message_takes_the_mean_on_average_and_never_less_than_the_least():
    for shape in ("steady", "exponential"):
        delays = [fate.arrival for fate in arrivals(Network(1, Latency(shape=shape)), 3000)]
        assert min(delays) >= 100_000
        assert 850_000 < sum(delays) // len(delays) < 1_150_000


def test_a_heavy_tail_is_one_message_in_64():
    delays = [fate.arrival for fate in arrivals(Network(1, Latency(shape="heavy")), 6400)]

    assert 50 < sum(delay > 6 * MILLISECOND for delay in delays) < 160


def test_the_fate_of_a_message_depends_only_on_its_link_and_position():
    alone, busy = Network(5, Latency()), Network(5, Latency())
    expected = arrivals(alone, 20, (2, 3))
    found = []
    for _ in range(20):
        busy.fate(0, 0, 1)
        found += arrivals(busy, 1, (2, 3))
        busy.fate(0, 3, 2)

    assert found == expected


def test_removing_a_fault_shifts_no_other_message():
    calm, lossy = Network(5, Latency()), Network(5, Latency())
    lossy.add((0, 0), Rule("loss", loss=300_000, salt=1))
    pairs = list(zip(arrivals(calm), arrivals(lossy), strict=True))

    assert all(b.arrival in (None, a.arrival) for a, b in pairs)
    assert 30 < sum(b.arrival is None for _, b in pairs) < 90
    assert lossy.counts["loss"] == sum(b.arrival is None for _, b in pairs)


def test_copies_come_after_the_message():
    network = Network(5, Latency())
    network.add((0, 0), Rule("duplication", duplication=1_000_000, extra=MILLISECOND, salt=1))

    assert all(fate.copy >= fate.arrival for fate in arrivals(network))


def test_held_messages_arrive_when_the_clog_ends():
    network = Network(5, Latency())
    network.add((0, 0), Rule("clog", held=frozenset((1,)), until=SECOND))

    assert all(SECOND <= fate.arrival < SECOND + 2 * MILLISECOND for fate in arrivals(network))
    assert all(fate.arrival < SECOND for fate in arrivals(network, link=(2, 3)))


def test_a_rule_that_has_ended_does_nothing():
    network, calm = Network(5, Latency()), Network(5, Latency())
    network.add((3, 0), Rule("partition", cut=frozenset(((0, 1),))))
    network.end((3, 0))

    assert arrivals(network) == arrivals(calm)


def test_a_healed_core_hears_others_only_if_allowed():
    for hears in (False, True):
        network = Network(5, Latency())
        network.add((0, 0), Rule("partition", cut=frozenset(((0, 1),))))
        network.heal_core(frozenset((0, 1)), hears=hears)
        passes = {
            link: arrivals(network, 1, link)[0].arrival is not None
            for link in ((0, 1), (0, 2), (2, 0), (2, 3))
        }
        assert passes == {(0, 1): True, (0, 2): False, (2, 0): hears, (2, 3): True}


def links_of(kind: str, target: int, chance: int = 0, leader: int | None = 1) -> set:
    rules = network_rules(Fault(0, kind, target, chance, SECOND), 4, leader)
    return {link for rule in rules for link in rule.cut}


def test_a_partition_cuts_all_links_between_two_groups():
    assert links_of("partition", 0b0011) == {
        (a, b) for a in range(4) for b in range(4) if (a < 2) != (b < 2)
    }
    assert links_of("partition", 0b1111) == set()


def test_a_one_way_partition_cuts_one_direction():
    both = links_of("partition", 0b0001)
    found = {frozenset(links_of("one-way-partition", 0b0001, chance)) for chance in range(20)}

    assert found == {
        frozenset(link for link in both if link[0] == 0),
        frozenset(link for link in both if link[1] == 0),
    }


def test_a_bridge_reaches_both_groups():
    for chance in range(30):
        cut = links_of("bridge", 0b0011, chance)
        bridges = {m for m in range(4) if all(m not in link for link in cut)}
        assert bridges
        assert all((a < 2) != (b < 2) for a, b in cut)


def test_isolating_the_leader_needs_a_leader():
    assert all(1 in link for link in links_of("isolation", -1))
    assert links_of("isolation", -1)
    assert links_of("isolation", -1, leader=None) == set()


def test_a_partial_mesh_breaks_single_pairs_both_ways():
    cut = links_of("partial-mesh", 0, 3)

    assert cut
    assert cut == {(b, a) for a, b in cut}
    assert len(cut) < 12


def test_a_swizzle_clogs_machines_one_by_one_and_frees_them_in_another_order():
    orders = set()
    for chance in range(40):
        rules = network_rules(Fault(0, "swizzle-clog", 0, chance, SECOND), 4, None)
        assert all(rule.since <= SECOND // 2 <= rule.until <= SECOND for rule in rules)
        held = [min(rule.held) for rule in rules]
        by_since = sorted(range(len(rules)), key=lambda i: rules[i].since)
        by_until = sorted(range(len(rules)), key=lambda i: rules[i].until)
        orders.add(by_since == by_until)
        assert len(set(held)) == len(held)

    assert orders == {True, False}
