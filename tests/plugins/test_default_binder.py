import asyncio

import msgspec

from kubesched.framework import ActionDone, Bind, Status
from kubesched.plugins.default_binder import DefaultBinder
from tests.plugins.one_plugin import Asked, node, pod


def bound(error: str = "") -> tuple[list[object], Status]:
    """Bind a pod to node a: the actions that were performed, and the plugin's answer."""
    asked = Asked(DefaultBinder(), [node("a")], pod())
    asked.state.binding.annotations["note"] = "kept"
    performed = []

    async def perform(action: Bind) -> ActionDone:
        performed.append(action)
        return ActionDone(action, error)

    asked.plugin.handle = msgspec.structs.replace(asked.plugin.handle, perform=perform)
    return performed, asyncio.run(asked.plugin.bind(asked.state, asked.pod, "a"))


def test_the_pod_is_bound_with_what_earlier_hooks_noted():
    [action], status = bound()
    assert status is Status.SUCCESS
    assert (action.pod.name, action.node_name, action.annotations) == ("p", "a", {"note": "kept"})


def test_the_answer_of_the_api_server_is_the_error():
    _, status = bound('pods "p" not found')
    assert status == Status.error('pods "p" not found')
