from kubesched.api import ActionType
from kubesched.framework import QueueingHint
from kubesched.plugins.shared_hints import by_own, is_placed
from tests.plugins.one_plugin import pod, read_pod


def test_a_bound_and_a_nominated_pod_are_placed():
    nominated = {**pod(), "status": {"nominatedNodeName": "n"}}
    assert is_placed(read_pod(pod(nodeName="n")))
    assert is_placed(read_pod(nominated))
    assert not is_placed(read_pod(pod()))


def test_an_own_update_is_told_by_uid():
    waiting, twin = read_pod(pod("a")), read_pod({**pod("a"), "metadata": {**pod("a")["metadata"], "uid": "another"}})
    own = by_own(ActionType.UPDATE)
    assert own.hint(waiting, waiting, waiting) is QueueingHint.QUEUE
    assert own.hint(waiting, twin, twin) is QueueingHint.SKIP
    assert list(own.objects(waiting)) == [waiting.key]
