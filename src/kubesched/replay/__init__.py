"""Replays a trace on a cluster in memory: what became of its pods, and how full the cluster was over time."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.replay.compared_replays import (
        ReplayComparison as ReplayComparison,
        ReplayDifference as ReplayDifference,
        compare_replays as compare_replays,
    )
    from kubesched.replay.pod_runs import PodRun as PodRun, WaitingTimes as WaitingTimes
    from kubesched.replay.replay_result import OverTime as OverTime, Replay as Replay
    from kubesched.replay.replaying import replay as replay
