"""The queue of events, beside a list that is searched."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from kubesched.cluster.event_queue import EventQueue, EventRank

RANKS = st.lists(st.one_of(st.sampled_from(EventRank), st.none()))


@given(RANKS, st.integers(1, 5))
def test_the_highest_rank_leaves_first_and_the_lowest_makes_room_the_oldest_of_each(ranks, limit):
    queue, naive = EventQueue[SimpleNamespace](limit), list[SimpleNamespace]()
    for rank in ranks:
        if rank is None:
            if naive:
                expected = max(naive, key=lambda one: one.rank)  # the first of equal ones
                assert queue.pop() is expected
                naive.remove(expected)
            continue
        entry = SimpleNamespace(rank=rank, token=object())
        naive.append(entry)
        expected = min(naive, key=lambda one: one.rank) if len(naive) > limit else None
        assert queue.push(entry) is expected
        if expected is not None:
            naive.remove(expected)
        assert (len(queue), queue.is_full) == (len(naive), len(naive) == limit)
