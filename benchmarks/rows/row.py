"""What the table measures, row by row, and what each row has to reach."""

import enum
from dataclasses import dataclass
from pathlib import Path

from benchmarks.rows import device_inputs, inputs

NODES = 5000

WITHOUT_PREEMPTION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      postFilter:
        disabled: [{name: "*"}]
"""

TWO_PROFILES = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
  - schedulerName: packing
    pluginConfig:
      - name: NodeResourcesFit
        args:
          scoringStrategy:
            type: MostAllocated
            resources: [{name: cpu, weight: 3}, {name: memory, weight: 1}]
      - name: NodeResourcesBalancedAllocation
        args:
          resources: [{name: cpu, weight: 1}]
      - name: NodeAffinity
        args:
          addedAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              nodeSelectorTerms:
                - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [z0, z1]}]
"""


class Task(enum.Enum):
    """What is timed: see measure.py."""

    SIMULATE = "simulate"
    LOAD = "load"
    EXPLAIN = "explain"
    CHURN = "churn"
    CLAIM_CHURN = "claim-churn"
    DRAIN_EACH = "drain-each"


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        name: what it is called in --rows.
        write: writes the cluster.
        pending: pods to place at NODES nodes; enough for a third of a second.
        oracle_pending: how many the oracle is given, which is slower; 0 leaves it out.
        target: at least so many pods a second (SIMULATE), at most so many seconds (LOAD, EXPLAIN, DRAIN_EACH); None for
            no target.
        target_share: of its rate without churn it keeps at least this (CHURN, CLAIM_CHURN).
        target_mib: at most so much memory; None for no target.
        n_times: how many times NODES nodes.
        config: the configuration's text, empty for the defaults.
        oracle_config: the same for the oracle.
        plugin: FILE:Class of a plugin to add.
        tie_break: the value of a TieBreak (SIMULATE); empty for the Simulator's default.
    """

    name: str
    write: inputs.Writer
    pending: int
    oracle_pending: int = 0
    target: float | None = None
    target_share: float | None = None
    target_mib: int | None = None
    task: Task = Task.SIMULATE
    n_times: float = 1
    config: str = ""
    oracle_config: str = ""
    plugin: str = ""
    tie_break: str = ""

    @property
    def is_rate(self) -> bool:
        """Whether the figure is pods a second, where more is better; else it is seconds."""
        return self.task not in (Task.LOAD, Task.EXPLAIN, Task.DRAIN_EACH)


def _shape(name: str, target: float, pending: int = 3000) -> Row:
    return Row(name, inputs.shape(name), pending, 300, target)


def _devices(
    name: str, target: float | None, n_nodes: int = NODES, pending: int = 3000, oracle_pending: int = 60
) -> Row:
    row = name if n_nodes == NODES else f"{name}-{n_nodes}"
    return Row(row, device_inputs.devices(name), pending, oracle_pending, target, n_times=n_nodes / NODES)


ROWS = (
    _shape("basic", 10_000, 5000),
    _shape("node-affinity", 8_000, 5000),
    _shape("pod-anti-affinity", 3_000, 2000),  # with the bound ones the most that find a node of their own
    _shape("pod-affinity", 3_000),
    _shape("preferred-pod-affinity", 3_000),
    _shape("preferred-pod-anti-affinity", 3_000),
    _shape("spread-hard", 4_000),
    _shape("spread-soft", 4_000),
    _shape("spread-default", 4_000),
    _shape("extended-resource", 8_000, 5000),
    _shape("ns-selector-anti-affinity", 3_000, 2000),
    _shape("mixed", 2_000),
    Row("basic-upstream", inputs.shape("basic"), 5000, tie_break="upstream"),
    Row("mixed-upstream", inputs.shape("mixed"), 3000, tie_break="upstream"),
    Row("generate", inputs.random_cluster, 300, 300, 600, config=WITHOUT_PREEMPTION),
    Row("generate-preempting", inputs.random_cluster, 300, target=600),
    Row("own-requests", inputs.own_requests, 12_000, target=5_000),
    Row("basic-50000", inputs.shape("basic"), 3000, 60, 3_000, n_times=10),
    Row("preemption", inputs.preemption, 500, target=300),
    Row("stateful", inputs.stateful, 2000, 60),
    Row("two-profiles", inputs.two_profiles, 4000, 300, config=TWO_PROFILES, oracle_config=TWO_PROFILES),
    Row(
        "scalar-plugin",
        inputs.shape("basic"),
        100,
        plugin=f"{Path(__file__).with_name('per_node_plugin.py')}:FirstZones",
    ),
    Row("churn", inputs.churning, 4000, target_share=0.8, task=Task.CHURN),
    _devices("gpu8", 300),
    _devices("gpu8-two", None),
    _devices("gpu8-plain", None),
    _devices("gpu8-extended", None),
    _devices("shared", None),
    _devices("gpu8", 100, 500, 1000),
    _devices("gpu8-two", 540, 500, 1000),
    _devices("gpu8-plain", 700, 500, 2000),
    _devices("gpu8-extended", 740, 500, 2000),
    _devices("shared", 2380, 500, 2000),
    _devices("partitions", 20, 100, 1000, oracle_pending=6),
    Row("gpu8-churn", device_inputs.devices("gpu8"), 3000, target_share=0.8, task=Task.CLAIM_CHURN),
    Row("gpu8-drain-each", device_inputs.claimed, 100, target=60, task=Task.DRAIN_EACH, n_times=0.2),
    Row("load", inputs.real_looking, 0, target=5, target_mib=1536, task=Task.LOAD),
    Row("explain", inputs.random_cluster, 300, target=0.2, task=Task.EXPLAIN),
)
"""Every row, in the order of the table."""


def find_rows(names: str) -> tuple[Row, ...]:
    """The rows of a list like `basic,mixed`, in the order of the table; all for the empty text.

    Raises:
        ValueError: no row has the name.
    """
    wanted = set(names.split(",")) if names else {row.name for row in ROWS}
    unknown = sorted(wanted - {row.name for row in ROWS})
    if unknown:
        raise ValueError(f"--rows: no row named {', '.join(unknown)}; there are {', '.join(row.name for row in ROWS)}")
    return tuple(row for row in ROWS if row.name in wanted)
