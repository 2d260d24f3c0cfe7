"""What a table of ours shows as a name of a pod, a workload or a node is a name that options take."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from kubesched.api import KubeObject, Node, Pod, ReplicaSet, Workload, workload_of
from kubesched.naming import choose_pods, full_names, nodes_named
from kubesched.pages.explanations import overview_page
from kubesched.pages.formats import Align, Page
from kubesched.pages.formats.model import as_cell
from kubesched.pages.formats.short_names import ShortNames
from kubesched.pages.plans import drain_page
from kubesched.pages.simulations import report_page
from kubesched.planning import PendingPods, drain
from kubesched.session import Simulator
from kubesched.setup import set_up
from kubesched.testing import make_node, make_object, make_pod
from tests.trials import examples

KINDS = ("", "ReplicaSet", "Deployment", "StatefulSet", "Job", "DaemonSet", "ReplicationController", "Rollout")
PODS_OF = ("pod", "workload")

label = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,6}[a-z0-9])?", fullmatch=True)
ends = st.tuples(
    st.sampled_from(["", "gke-prod-pool-", "ip-10-0-", "worker-of-team-"]),
    st.sampled_from(["", ".example", ".eu-west-1.compute.internal"]),
)


@st.composite
def node_names(draw: st.DrawFn, least: int = 1) -> list[str]:
    hosts = draw(st.lists(label, min_size=least, max_size=5, unique=True))
    start, end = draw(ends)
    own = draw(st.lists(ends, min_size=len(hosts), max_size=len(hosts))) if draw(st.booleans()) else None
    return [f"{own[i][0] if own else start}{host}{own[i][1] if own else end}" for i, host in enumerate(hosts)]


def owned(name: str, space: str, kind: str, workload: str, node: str) -> list[KubeObject]:
    """A pod of a workload, with the ReplicaSet of a Deployment."""
    above = {"apiVersion": "apps/v1", "kind": kind, "name": workload, "uid": workload, "controller": True}
    objects: list[KubeObject] = []
    if kind == "Deployment":
        metadata = {"namespace": space, "ownerReferences": [above]}
        objects.append(make_object("ReplicaSet", f"{workload}-5d", metadata=metadata, spec={}))
        above = {**above, "kind": "ReplicaSet", "name": f"{workload}-5d"}
    metadata = {"ownerReferences": [above]} if kind else {}
    return [*objects, make_pod(name, namespace=space, node=node, requests={"cpu": "1"}, metadata=metadata)]


@st.composite
def clusters(draw: st.DrawFn) -> list[KubeObject]:
    names = draw(node_names())
    objects: list[KubeObject] = [make_node(name, allocatable={"cpu": "2", "pods": "5"}) for name in names]
    for i in range(draw(st.integers(1, 6))):
        kind, workload = draw(st.sampled_from(KINDS)), draw(label)
        space = draw(st.sampled_from(["shop", "prod", "default"]))
        node = draw(st.sampled_from(["", "", *names]))
        objects += owned(f"{workload}-{i}", space, kind, workload, node)
    return list({(type(known), known.key): known for known in objects}.values())


def shown(page: Page, keys: Iterable[str] = (), *, nodes: bool = False) -> set[str]:
    """The names in the columns of these keys, or in those of nodes, as the text of the page has them."""
    short = ShortNames(page)
    names = set()
    for table in page.tables:
        for i, column in enumerate(table.columns):
            if column.key in keys or (nodes and column.align is Align.NODE):
                for row in table.rows[: len(table.rows) - table.n_totals]:
                    text = as_cell(row[i]).text.removeprefix("+ ").removeprefix("- ")
                    names.update(short.shorten(text).partition(" and ")[0].split(", ") if nodes else [text])
    return names - {"", "-"}


def pages(objects: list[KubeObject]) -> Iterable[Page]:
    yield report_page(Simulator(objects, set_up(None)).run())
    sets = {known.key: known for known in objects if isinstance(known, ReplicaSet)}
    with PendingPods(objects, set_up(None), lambda pod: str(workload_of(pod, sets) or Workload.alone(pod))) as pending:
        yield overview_page(pending.answers())
    yield drain_page(drain(objects, [next(known.name for known in objects if isinstance(known, Node))]))


@examples(15)
@given(clusters())
def test_what_a_page_shows_as_a_name_is_accepted(objects: list[KubeObject]):
    known = {pod.key for pod in objects if isinstance(pod, Pod)}
    for page in pages(objects):
        for name in shown(page, PODS_OF):
            assert {pod.key for pod in choose_pods(objects, [name]).pods} <= known
        for name in shown(page, nodes=True):
            assert nodes_named(objects, [name])


@given(names=node_names(least=2))
def test_a_node_is_found_by_its_short_name_of_a_table_of_all_nodes(names: list[str]):
    short = ShortNames(Page("nodes", verdict=as_cell(""), node_names=names))  # type: ignore[arg-type]
    assert [full_names(names, [short.shorten(name)]) for name in names] == [[name] for name in names]


@given(clusters())
def test_a_workload_is_found_by_the_name_that_a_table_shows(objects: list[KubeObject]):
    sets = {known.key: known for known in objects if isinstance(known, ReplicaSet)}
    for pod in objects:
        if isinstance(pod, Pod):
            workload = workload_of(pod, sets) or Workload.alone(pod)
            unplaced = {pod.key for pod in choose_pods(objects, [str(workload)]).pods}
            assert pod.key in unplaced or pod.node_name
