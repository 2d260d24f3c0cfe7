"""Simulates a cluster once, and says why each pod that stays pending does: what `kubesched simulate` answers."""

from collections.abc import Iterable, Mapping
from typing import Final

from kubesched.api import KubeObject
from kubesched.planning.changed_cluster import WhatIf
from kubesched.planning.difference import new_pods, simulated
from kubesched.scheduler import TieBreak
from kubesched.session import Progress, Report, Session
from kubesched.setup import ArgsLike, ConfigurationLike, ExtenderCalls, PluginLike
from kubesched.snapshot import as_read

_NO_ARGS: Mapping[str, ArgsLike] = {}
_NO_CHANGE: Final = WhatIf()


def simulate(
    snapshot: Iterable[KubeObject],
    configuration: ConfigurationLike = None,
    plugins: Iterable[PluginLike] = (),
    plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
    *,
    what_if: WhatIf = _NO_CHANGE,
    tie_break: TieBreak = TieBreak.FIRST,
    seed: int = 0,
    extender_calls: ExtenderCalls | None = None,
    progress: Progress | None = None,
) -> Report:
    """Place the pending pods of a cluster, and find the cause and the best fix of each that stays pending.

    `Simulator.run` is quicker: it takes the `diagnosis` from kube-scheduler's message, and looks for no `fix`.

    Args:
        snapshot: the cluster, as load_snapshot gives it.
        configuration, plugins, plugin_args, tie_break, seed, extender_calls: as for Session.
        what_if: changes to the cluster, before anything is placed.
        progress: called with how many pods have been tried and how many there are.
    Raises:
        InputError: the configuration, the snapshot or a change is not valid.
        PluginError: a plugin cannot be loaded or started.

    Example:
        for placement in simulate(load_snapshot("cluster.json")).placements:
            print(placement.pod, placement.node or f"{placement.diagnosis}; {placement.fix}", placement.patches)
    """
    read = as_read(snapshot)
    changed = what_if.applied(read)
    with Session(
        changed.cluster,
        configuration,
        plugins,
        plugin_args,
        tie_break=tie_break,
        seed=seed,
        extender_calls=extender_calls,
        new=new_pods(changed.objects, read),
    ) as session:
        return simulated(session, changed, lambda running: running.schedule(progress)).report
