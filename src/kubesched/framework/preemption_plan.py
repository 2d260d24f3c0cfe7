"""Calls the plugins that may remove nodes from a preemption plan."""

from collections.abc import Iterable, Mapping

from kubesched.api import Pod
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.hook_answers import fault, nonsense
from kubesched.framework.plugin import Plugin
from kubesched.framework.status import HOOK_FAULTS, PluginFault
from kubesched.state import PodInfo

Plan = Mapping[str, tuple[PodInfo, ...]]


def strike_nodes(plugins: Iterable[Plugin], state: CycleState, pod: Pod, plan: Plan) -> Plan:
    """Ask one plugin after another which nodes of the plan may stay.

    Args:
        plan: node name -> the pods to evict there.
    Returns: the entries that all of them left, unchanged.
    Raises:
        PluginFault: a plugin raised, or returned something that is not a mapping.
    """
    for plugin in plugins:
        if not plan:
            break
        if state.checkpoint is not None:
            state.checkpoint(plugin.name)
        what = f'running preempt of plugin "{plugin.name}"'
        try:
            kept = plugin.preempt(state, pod, plan)
            if isinstance(kept, Mapping):
                plan = {name: victims for name, victims in plan.items() if kept.get(name)}
        except HOOK_FAULTS as error:
            raise PluginFault(fault(what, error).by(plugin.name)) from error
        if not isinstance(kept, Mapping):
            raise PluginFault(nonsense(what, kept, "a mapping by node name").by(plugin.name))
    return plan
