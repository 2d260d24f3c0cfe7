"""A live scheduler's manifests: the documents are what an API server expects, and they fit each other."""

from typing import Any

import pytest

from kubesched import InputError, load_configuration
from kubesched.manifests import Grant, cluster_grants, lease_grants
from tests.manifests.made import ALONE, EVERY_FORM, REPLACING, Made, check_version_and_place

EVERY = pytest.mark.parametrize("made", [Made(**options) for options in EVERY_FORM.values()], ids=list(EVERY_FORM))


@EVERY
def test_every_document_has_its_version_and_place(made: Made):
    for document in made.documents:
        check_version_and_place(document)


@EVERY
def test_documents_refer_to_each_other(made: Made):
    account = made["ServiceAccount"]["metadata"]
    assert made.pod["serviceAccountName"] == account["name"]
    assert made["Deployment"]["metadata"]["namespace"] == account["namespace"]
    for role, binding in (("ClusterRole", "ClusterRoleBinding"), ("Role", "RoleBinding")):
        assert (role in made) is (binding in made)
        if role in made:
            assert made[binding]["roleRef"]["name"] == made[role]["metadata"]["name"]
            assert made[binding]["metadata"].get("namespace") == made[role]["metadata"].get("namespace")
            (subject,) = made[binding]["subjects"]
            assert (subject["name"], subject["namespace"]) == (account["name"], account["namespace"])
    labels = made["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert made["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert made["Service"]["spec"]["selector"] == labels
    (volume,), (mount,) = made.pod["volumes"], made.container["volumeMounts"]
    assert volume["configMap"]["name"] == made["ConfigMap"]["metadata"]["name"]
    assert (mount["name"], mount["readOnly"]) == (volume["name"], True)
    assert f"--config={mount['mountPath']}/scheduler.yaml" in made.container["command"]


@EVERY
def test_the_role_is_for_exactly_the_lease_that_the_configuration_names(made: Made):
    assert ("Role" in made) is made.election["leaderElect"]
    if "Role" in made:
        assert made["Role"]["metadata"]["namespace"] == made.election["resourceNamespace"]
        (names,) = [rule["resourceNames"] for rule in made["Role"]["rules"] if "resourceNames" in rule]
        assert names == [made.election["resourceName"]]


@EVERY
def test_the_configuration_is_valid(made: Made):
    configuration = load_configuration(made["ConfigMap"]["data"]["scheduler.yaml"].encode())
    election = configuration.leader_election
    assert (election.resource_name, election.resource_namespace) == (
        made.election["resourceName"],
        made.election["resourceNamespace"],
    )


@EVERY
def test_pods_may_run_in_a_restricted_namespace(made: Made):
    assert made.pod["priorityClassName"] == "system-cluster-critical"
    assert made.pod["securityContext"]["runAsNonRoot"] is True
    assert made.pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert made.container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


# --- beside kube-scheduler, or in its place ---


@pytest.mark.parametrize(
    ("options", "lease"),
    [
        ({}, ("kubesched", "kube-system")),
        ({"name": "gpu", "namespace": "team"}, ("gpu", "team")),
        (REPLACING, ("kube-scheduler", "kube-system")),
        ({**REPLACING, "namespace": "team"}, ("kube-scheduler", "kube-system")),
        ({"given": {"leaderElection": {"resourceName": "mine", "resourceNamespace": ""}}}, ("mine", "kube-system")),
    ],
)
def test_only_a_replacement_takes_the_lease_of_kube_scheduler(options: dict[str, Any], lease: tuple[str, str]):
    election = Made(**options).election
    assert (election["resourceName"], election["resourceNamespace"]) == lease


def test_a_second_scheduler_serves_its_name_and_a_replacement_all_pods():
    assert Made(name="gpu", scheduler_names=("gpu",)).installation.configuration()["profiles"] == [
        {"schedulerName": "gpu"}
    ]
    assert Made(**REPLACING).installation.configuration()["profiles"] == [{"schedulerName": "default-scheduler"}]


def test_only_a_replacement_prefers_the_nodes_of_the_control_plane_and_needs_none():
    assert {"affinity", "tolerations"}.isdisjoint(Made().pod)
    pod = Made(**REPLACING).pod
    assert list(pod["affinity"]["nodeAffinity"]) == ["preferredDuringSchedulingIgnoredDuringExecution"]
    assert pod["tolerations"][0]["key"] == "node-role.kubernetes.io/control-plane"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scheduler_names": ("gpu", "default-scheduler")}, "give --replace to replace kube-scheduler"),
        ({"replaces": True}, 'needs a profile "default-scheduler".*found only kubesched'),
        ({"given": {"leaderElection": {"resourceName": "kube-scheduler"}}}, "would wait for its Lease"),
        ({"given": {"leaderElection": {"leaderElect": False}}}, "2 replicas would all schedule"),
        ({"files": {"big.json": "x" * 900_001}}, "larger than a ConfigMap"),
    ],
)
def test_what_cannot_work_is_refused(options: dict[str, Any], words: str):
    with pytest.raises(InputError, match=words):
        Made(**options)


# --- replicas ---


def test_replicas_are_spread_and_a_drain_leaves_one():
    made = Made()
    assert made["Deployment"]["spec"]["replicas"] == 2
    assert made.pod["topologySpreadConstraints"][0]["topologyKey"] == "kubernetes.io/hostname"
    assert made["PodDisruptionBudget"]["spec"]["maxUnavailable"] == 1


def test_without_election_there_is_never_a_second_replica():
    made = Made(**ALONE)
    assert made["Deployment"]["spec"]["strategy"] == {"type": "Recreate"}
    assert "PodDisruptionBudget" not in made


def test_probes_use_the_paths_that_everybody_may_read():
    probes = {name: Made().container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
    assert {probe["scheme"] for probe in probes.values()} == {"HTTPS"}
    assert {name: probe["path"] for name, probe in probes.items()} == {
        "startup": "/livez",
        "liveness": "/livez",
        "readiness": "/readyz",
    }
    assert {probe["port"] for probe in probes.values()} == {10259}
    assert {"--bind-address=0.0.0.0", "--secure-port=10259"} <= set(Made().container["command"])


def test_a_follower_with_an_empty_cache_is_ready_too():
    made = Made(given={"delayCacheUntilActive": True})
    assert made.container["readinessProbe"]["httpGet"]["path"] == "/livez"


def test_pods_are_replaced_when_configuration_or_plugins_change():
    checksums = {
        made["Deployment"]["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
        for made in (Made(), Made(), Made(given={"parallelism": 4}), Made(files={"a.py": "1"}))
    }
    assert len(checksums) == 3


# --- permissions ---


def triples(grants: list[Grant]) -> list[tuple[str, str, str]]:
    """Group, resource and verb of each permission."""
    return [
        (group, resource, verb)
        for grant in grants
        for group in grant.rule["apiGroups"]
        for resource in grant.rule["resources"]
        for verb in grant.rule["verbs"]
    ]


def test_the_roles_are_the_grants_and_nothing_is_granted_twice():
    made = Made()
    assert made["ClusterRole"]["rules"] == [grant.rule for grant in cluster_grants()]
    assert made["Role"]["rules"] == [grant.rule for grant in lease_grants("kubesched")]
    for grants in (cluster_grants(), lease_grants("kubesched")):
        assert len(set(triples(grants))) == len(triples(grants))


def test_nothing_is_granted_with_a_wildcard_and_no_secret_can_be_read():
    granted = triples(cluster_grants()) + triples(lease_grants("kubesched"))
    assert not [one for one in granted if "*" in one]
    assert not {"secrets", "configmaps"} & {resource for _, resource, _ in granted}
    assert {verb for _, _, verb in granted} == {"list", "watch", "get", "create", "patch", "update", "delete"}


def test_each_kind_that_only_plugins_read_has_a_rule_that_names_the_plugins() -> None:
    kinds = ("Node", "Pod", "example.com/v1/Quota?", "v1/ConfigMap", "CoschedulingPodGroup")
    readers = {
        "example.com/v1/quotas": ("Q", "Fair"),
        "v1/configmaps": ("Q",),
        "CoschedulingPodGroup": ("G",),
    }
    grants = {grant.rule["resources"][0]: grant for grant in cluster_grants(kinds, readers=readers)}
    assert grants["quotas"].rule == {"apiGroups": ["example.com"], "resources": ["quotas"], "verbs": ["list", "watch"]}
    assert grants["quotas"].why == (
        "Read quotas.example.com, for Q and Fair. `kubectl api-resources --api-group=example.com` shows "
        "whether this is the plural."
    )
    assert grants["configmaps"].why == "Read configmaps, for Q."
    assert grants["podgroups"].why == "Read podgroups.scheduling.x-k8s.io, for G."
    assert grants["nodes"].rule["resources"] == ["nodes", "pods"]
