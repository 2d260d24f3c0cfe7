"""Twenty seconds of the campaign: once all objects are gone, no table has anything of them."""

from campaigns.uniques.campaign import run
from campaigns.uniques.workload import PODS_PER_SECOND


def test_words_that_come_once_leave_nothing_behind() -> None:
    account = run(1, minute_seconds=20)
    assert account.n_pods == 20 * PODS_PER_SECOND
    assert account.warm["placed pods, slots"] > 50, "too few bound pods to see harm"
    assert account.left() == {}
