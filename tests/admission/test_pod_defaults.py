from kubesched.admission.cluster_outline import ClusterOutline
from kubesched.admission.limit_ranges import LimitRanges
from kubesched.admission.pod_defaults import default_pod

LABELS = {"app": "web", "pod-template-hash": "abc"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def defaulted(**spec):
    pod = {"metadata": {"name": "p", "namespace": "shop", "labels": LABELS}, "spec": spec}
    default_pod(pod, ClusterOutline([]), LimitRanges([]))
    return pod["spec"]


def container(**resources):
    return {"name": "c", "resources": resources}


def test_a_limit_without_a_request_is_a_request():
    written = container(limits={"cpu": "2", "memory": "1Gi"}, requests={"cpu": "1"})
    spec = defaulted(containers=[written], initContainers=[container(limits={"cpu": "3"}, requests=None)])
    assert spec["containers"][0]["resources"]["requests"] == {"cpu": "1", "memory": "1Gi"}
    assert spec["initContainers"][0]["resources"]["requests"] == {"cpu": "3"}


def test_a_container_without_limits_gets_no_requests():
    assert defaulted(containers=[{"name": "c"}, container(requests={})])["containers"] == [
        {"name": "c"},
        container(requests={}),
    ]


def test_pod_level_requests_are_what_the_containers_ask_for():
    containers = [
        container(requests={"cpu": "100m", "memory": "1Gi", "example.com/gpu": 1}),
        container(requests={"cpu": 1}),
    ]
    spec = defaulted(containers=containers, resources={"limits": {"cpu": "4", "memory": "4Gi"}}, overhead={"cpu": "1"})
    assert spec["resources"]["requests"] == {"cpu": "1100m", "memory": "1Gi"}


def test_pod_level_requests_are_the_limits_where_no_container_asks():
    spec = defaulted(containers=[container(requests={"cpu": "1"})], resources={"limits": {"memory": "4Gi", "cpu": "2"}})
    assert spec["resources"]["requests"] == {"cpu": "1", "memory": "4Gi"}


def test_huge_pages_of_containers_are_limits_of_a_pod_that_has_some():
    pages = {"hugepages-2Mi": "4Mi"}
    containers = [container(requests=pages | {"cpu": "1"}, limits=pages)]
    spec = defaulted(containers=containers, resources={"requests": {"cpu": "2"}})
    assert spec["resources"] == {"limits": pages, "requests": {"cpu": "2", **pages}}
    assert "resources" not in defaulted(containers=containers)
    assert defaulted(containers=containers, resources={})["resources"] == {}


def test_written_pod_level_requests_are_kept():
    resources = {"limits": {"cpu": "2"}, "requests": {"cpu": "500m"}}
    assert defaulted(containers=[container()], resources=resources)["resources"]["requests"] == {"cpu": "500m"}


def test_on_the_hosts_network_ports_are_host_ports():
    ports = [{"containerPort": 80}, {"containerPort": 81, "hostPort": 81, "protocol": "UDP"}]
    spec = defaulted(hostNetwork=True, containers=[{"name": "c", "ports": ports}])
    assert [(port["hostPort"], port["protocol"]) for port in spec["containers"][0]["ports"]] == [
        (80, "TCP"),
        (81, "UDP"),
    ]


def test_elsewhere_ports_are_not():
    (port,) = defaulted(containers=[{"name": "c", "ports": [{"containerPort": 80}]}])["containers"][0]["ports"]
    assert port == {"containerPort": 80, "protocol": "TCP"}


def test_the_scheduler_has_a_name():
    assert defaulted()["schedulerName"] == "default-scheduler"
    assert defaulted(schedulerName="mine")["schedulerName"] == "mine"


def test_two_tolerations_are_added():
    written = {"key": "gpu", "operator": "Exists"}
    assert defaulted(tolerations=[written])["tolerations"] == [
        written,
        {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
        {
            "key": "node.kubernetes.io/unreachable",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": 300,
        },
    ]


def test_a_toleration_that_covers_one_stands_for_it():
    written = [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}]
    assert [t["key"] for t in defaulted(tolerations=written)["tolerations"]] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]
    assert defaulted(tolerations=[{"operator": "Exists"}])["tolerations"] == [{"operator": "Exists"}]


def test_a_toleration_of_another_effect_stands_for_none():
    assert len(defaulted(tolerations=[{"operator": "Exists", "effect": "NoSchedule"}])["tolerations"]) == 3


def test_label_keys_are_merged_into_the_selectors_of_affinity_terms():
    def term():
        return {
            "topologyKey": "zone",
            "labelSelector": {"matchLabels": {"app": "web"}},
            "matchLabelKeys": ["pod-template-hash", "absent"],
            "mismatchLabelKeys": ["app"],
        }

    rules = {REQUIRED: [term()], PREFERRED: [{"weight": 1, "podAffinityTerm": term()}]}
    spec = defaulted(affinity={"podAffinity": rules, "podAntiAffinity": {REQUIRED: [term()]}})
    merged = [
        {"key": "pod-template-hash", "operator": "In", "values": ["abc"]},
        {"key": "app", "operator": "NotIn", "values": ["web"]},
    ]
    for written in (
        spec["affinity"]["podAffinity"][REQUIRED][0],
        spec["affinity"]["podAffinity"][PREFERRED][0]["podAffinityTerm"],
        spec["affinity"]["podAntiAffinity"][REQUIRED][0],
    ):
        assert written["labelSelector"] == {"matchLabels": {"app": "web"}, "matchExpressions": merged}
        assert written["matchLabelKeys"] == ["pod-template-hash", "absent"]


def test_label_keys_of_spread_constraints_are_merged_behind_what_is_written():
    written = {"key": "tier", "operator": "Exists"}
    constraint = {"labelSelector": {"matchExpressions": [written]}, "matchLabelKeys": ["app"]}
    (merged,) = defaulted(topologySpreadConstraints=[constraint])["topologySpreadConstraints"]
    assert merged["labelSelector"]["matchExpressions"] == [written, {"key": "app", "operator": "In", "values": ["web"]}]


def test_a_term_without_a_selector_is_left_alone():
    term = {"topologyKey": "zone", "matchLabelKeys": ["app"]}
    spec = defaulted(affinity={"podAffinity": {REQUIRED: [dict(term)]}})
    assert spec["affinity"]["podAffinity"][REQUIRED] == [term]
