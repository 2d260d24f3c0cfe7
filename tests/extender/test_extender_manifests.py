"""Manifests: every document says what an API server expects, and the documents fit each other."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from kubesched import InputError, load_configuration
from kubesched.extender import KUBE_SCHEDULER_IMAGE, ManifestOptions, Offer, extender_manifests
from tests.manifests.made import check_version_and_place

KINDS = ("Node", "Pod")
FILTERS = Offer(filter=True, prioritize=False, preempt=False, bind=False, weight=0)
SCORES = Offer(filter=False, prioritize=True, preempt=False, bind=False, weight=3)
BINDS = Offer(filter=True, prioritize=True, preempt=True, bind=True, weight=2)
OF_THE_CLUSTER = {  # roles that every cluster has
    ("ClusterRole", "", "system:kube-scheduler"),
    ("ClusterRole", "", "system:volume-scheduler"),
    ("Role", "kube-system", "extension-apiserver-authentication-reader"),
}
SERVICE = {"is_service": True, "tls_secret": "server", "client_secret": "client", "client_names": ("system:kube",)}


class Made:
    """The documents of some options, by kind and name."""

    def __init__(self, offer: Offer = FILTERS, kinds: tuple[str, ...] = KINDS, **options: Any) -> None:
        self.documents = extender_manifests(ManifestOptions(**{"image": "kubesched:1", **options}), offer, kinds)

    def all(self, kind: str) -> list[dict[str, Any]]:
        return [document for document in self.documents if document["kind"] == kind]

    def one(self, kind: str, name: str) -> dict[str, Any]:
        (found,) = [document for document in self.all(kind) if document["metadata"]["name"] == name]
        return found

    def pod(self, name: str = "kubesched") -> dict[str, Any]:
        return self.one("Deployment", name)["spec"]["template"]["spec"]

    def containers(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Every container with its pod."""
        for deployment in self.all("Deployment"):
            pod = deployment["spec"]["template"]["spec"]
            yield from ((pod, found) for found in [*pod["containers"], *pod.get("initContainers", [])])

    def extender(self) -> dict[str, Any]:
        (found,) = [container for _, container in self.containers() if container["name"] == "extender"]
        return found

    def configuration(self) -> str:
        return self.one("ConfigMap", "kubesched")["data"]["kube-scheduler.yaml"]


EVERY_FORM = pytest.mark.parametrize(
    "made",
    [
        Made(),
        Made(BINDS, n_replicas=3, files={"a.py": "x = 1\n"}, namespace="team", creates_namespace=True),
        Made(SCORES, is_service=True, tls_secret="server", n_replicas=2),
        Made(BINDS, n_replicas=2, files={"a.py": "x = 1\n"}, **SERVICE),
    ],
    ids=["sidecar", "sidecar-bind", "service", "service-bind"],
)


@EVERY_FORM
def test_every_document_has_its_version_and_place_and_no_other_is_there_twice(made: Made):
    seen = set()
    for document in made.documents:
        check_version_and_place(document)
        seen.add((document["kind"], document["metadata"].get("namespace"), document["metadata"]["name"]))
    assert len(seen) == len(made.documents)


@EVERY_FORM
def test_selectors_find_the_pods_that_they_mean(made: Made):
    labels = {
        found["metadata"]["name"]: found["spec"]["template"]["metadata"]["labels"] for found in made.all("Deployment")
    }
    assert len({tuple(sorted(one.items())) for one in labels.values()}) == len(labels)
    for deployment in made.all("Deployment"):
        assert deployment["spec"]["selector"]["matchLabels"] == labels[deployment["metadata"]["name"]]
    for budget in made.all("PodDisruptionBudget"):
        assert budget["spec"]["selector"]["matchLabels"] == labels[budget["metadata"]["name"]]
    for service in made.all("Service"):
        assert service["spec"]["selector"] == labels[service["metadata"]["name"]]


@EVERY_FORM
def test_accounts_and_roles_that_are_named_exist(made: Made):
    accounts = {(found["metadata"]["namespace"], found["metadata"]["name"]) for found in made.all("ServiceAccount")}
    roles = {
        (found["kind"], found["metadata"].get("namespace", ""), found["metadata"]["name"])
        for kind in ("ClusterRole", "Role")
        for found in made.all(kind)
    }
    used = set()
    for binding in [*made.all("ClusterRoleBinding"), *made.all("RoleBinding")]:
        place = "" if binding["roleRef"]["kind"] == "ClusterRole" else binding["metadata"]["namespace"]
        used.add((binding["roleRef"]["kind"], place, binding["roleRef"]["name"]))
        assert {(one["namespace"], one["name"]) for one in binding["subjects"]} <= accounts
    assert used == roles | OF_THE_CLUSTER
    for deployment in made.all("Deployment"):
        account = deployment["spec"]["template"]["spec"]["serviceAccountName"]
        assert (deployment["metadata"]["namespace"], account) in accounts


@EVERY_FORM
def test_what_is_mounted_exists_and_nothing_else_is(made: Made):
    config_maps = {found["metadata"]["name"] for found in made.all("ConfigMap")}
    for deployment in made.all("Deployment"):
        pod = deployment["spec"]["template"]["spec"]
        mounted = {
            one["name"] for c in [*pod["containers"], *pod.get("initContainers", [])] for one in c["volumeMounts"]
        }
        assert mounted == {volume["name"] for volume in pod["volumes"]}
        assert {volume["configMap"]["name"] for volume in pod["volumes"] if "configMap" in volume} <= config_maps


@EVERY_FORM
def test_nothing_that_is_mounted_can_be_written(made: Made):
    mounts = [mount for _, container in made.containers() for mount in container["volumeMounts"]]
    assert {mount.get("readOnly") for mount in mounts} == {True}


@EVERY_FORM
def test_pods_may_run_in_a_restricted_namespace(made: Made):
    for pod, container in made.containers():
        assert pod["priorityClassName"] == "system-cluster-critical"
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]
        assert {"livenessProbe", "readinessProbe"} <= container.keys()


# --- rights ---


EVENTS = {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]}


def test_an_extender_may_read_what_its_plugins_read_and_record_their_events_and_no_more():
    made = Made(kinds=("Node", "Pod", "CSINode", "StorageClass", "Service"))
    assert made.one("ClusterRole", "kubesched-extender")["rules"] == [
        {"apiGroups": [""], "resources": ["nodes", "pods", "services"], "verbs": ["list", "watch"]},
        {"apiGroups": ["storage.k8s.io"], "resources": ["csinodes", "storageclasses"], "verbs": ["list", "watch"]},
        EVENTS,
    ]


def test_only_an_extender_that_binds_may_bind():
    rules = Made(BINDS).one("ClusterRole", "kubesched-extender")["rules"]
    assert rules == [
        {"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["list", "watch"]},
        EVENTS,
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["pods/binding"], "verbs": ["create"]},
    ]


def test_a_scheduler_may_write_its_own_lease_only():
    made = Made(name="gpu", namespace="team", scheduler_names=("gpu",))
    role = made.one("Role", "gpu")
    assert role["metadata"]["namespace"] == "team"
    assert role["rules"] == [
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
        {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "verbs": ["get", "update"],
            "resourceNames": ["gpu"],
        },
    ]


def test_an_extender_behind_a_service_has_no_rights_of_a_scheduler():
    made = Made(is_service=True, tls_secret="server")
    assert made.pod("kubesched-extender")["serviceAccountName"] == "kubesched-extender"
    of_extender = [
        binding["roleRef"]["name"]
        for kind in ("ClusterRoleBinding", "RoleBinding")
        for binding in made.all(kind)
        if binding["subjects"][0]["name"] == "kubesched-extender"
    ]
    assert of_extender == ["kubesched-extender"]


def test_a_kind_that_cannot_be_watched_is_refused():
    with pytest.raises(InputError, match='"Frob" is not a kind that kubesched reads'):
        Made(kinds=("Node", "Frob"))


# --- the configuration ---


@pytest.mark.parametrize("offer", [FILTERS, SCORES, BINDS])
@pytest.mark.parametrize("options", [{}, SERVICE], ids=["sidecar", "service"])
def test_kube_scheduler_accepts_the_configuration_and_calls_what_is_offered(offer: Offer, options: dict[str, Any]):
    made = Made(offer, name="gpu", namespace="team", scheduler_names=("gpu", "gpu-2"), http_timeout=0.5, **options)
    text = made.one("ConfigMap", "gpu")["data"]["kube-scheduler.yaml"]
    configuration = load_configuration(text.encode())
    (extender,) = configuration.extenders
    verbs = {verb: getattr(extender, f"{verb}_verb") for verb in ("filter", "prioritize", "preempt", "bind")}
    assert verbs == {verb: verb if verb in offer.verbs else "" for verb in verbs}
    assert extender.weight == (offer.weight if offer.prioritize else 0)
    assert (extender.node_cache_capable, extender.http_timeout, extender.ignorable) == (True, 0.5, False)
    assert [profile.scheduler_name for profile in configuration.profiles] == ["gpu", "gpu-2"]
    assert configuration.percentage_of_nodes_to_score == (100 if offer.filter else 0)
    election = configuration.leader_election
    assert (election.leader_elect, election.resource_name, election.resource_namespace) == (True, "gpu", "team")


def test_ignorable_is_said():
    assert yaml.safe_load(Made(ignorable=True).configuration())["extenders"][0]["ignorable"] is True


def test_pods_start_anew_when_configuration_or_plugins_change():
    checksums = {
        made.one("Deployment", "kubesched")["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
        for made in (Made(), Made(), Made(ignorable=True), Made(files={"a.py": "1"}), Made(files={"a.py": "2"}))
    }
    assert len(checksums) == 4


# --- the two forms ---


def test_a_sidecar_is_reached_on_loopback_and_is_there_before_the_scheduler():
    made = Made(arguments=("--plugin=a.b:C",))
    (container,), (sidecar,) = made.pod()["containers"], made.pod()["initContainers"]
    assert (container["name"], container["image"]) == ("kube-scheduler", KUBE_SCHEDULER_IMAGE)
    assert (sidecar["name"], sidecar["restartPolicy"]) == ("extender", "Always")
    assert sidecar["command"] == [
        "kubesched",
        "extender",
        "--in-cluster",
        "--host=127.0.0.1",
        "--port=8888",
        "--plugin=a.b:C",
        "--http-timeout=5s",
        "--log-json",
    ]
    assert yaml.safe_load(made.configuration())["extenders"][0]["urlPrefix"] == "http://127.0.0.1:8888"
    assert "hostNetwork" not in made.pod()


def test_a_sidecar_is_probed_from_inside():
    sidecar = Made().extender()
    for probe, path in (("startupProbe", "/readyz"), ("readinessProbe", "/readyz"), ("livenessProbe", "/livez")):
        command = sidecar[probe]["exec"]["command"]
        assert command[:2] == ["python3", "-c"]
        assert f"'{path}'" in command[2]
        compile(command[2], "probe", "exec")


def test_a_service_has_tls_under_the_name_in_the_configuration():
    made = Made(is_service=True, tls_secret="server", namespace="team")
    service = made.one("Service", "kubesched-extender")
    extender = made.extender()
    (entry,) = yaml.safe_load(made.configuration())["extenders"]
    assert entry["urlPrefix"] == "https://kubesched-extender.team.svc"
    assert entry["enableHTTPS"] is True
    assert service["spec"]["ports"][0]["port"] == 443
    assert service["spec"]["ports"][0]["targetPort"] == extender["ports"][0]["containerPort"] == 8443
    assert {"--port=8443", "--tls-cert-file=/etc/kubesched-tls/tls.crt"} <= set(extender["command"])
    assert "certFile" not in entry["tlsConfig"]


@pytest.mark.parametrize("options", [{"is_service": True, "tls_secret": "server"}, SERVICE], ids=["tls", "mtls"])
def test_a_service_is_probed_at_its_health_port_which_needs_no_certificate(options: dict[str, Any]):
    made = Made(**options)
    extender = made.extender()
    for probe, path in (("startupProbe", "/readyz"), ("readinessProbe", "/readyz"), ("livenessProbe", "/livez")):
        assert extender[probe]["httpGet"] == {"path": path, "port": 8888}
    assert "--health-port=8888" in extender["command"]
    assert {"name": "health", "containerPort": 8888, "protocol": "TCP"} in extender["ports"]
    assert [port["port"] for port in made.one("Service", "kubesched-extender")["spec"]["ports"]] == [443]


def files_of(pod: dict[str, Any], container: dict[str, Any]) -> dict[str, str]:
    """Path in the container -> secret and key behind it."""
    secrets = {volume["name"]: volume["secret"] for volume in pod["volumes"] if "secret" in volume}
    return {
        f"{mount['mountPath']}/{item['path']}": f"{secrets[mount['name']]['secretName']}/{item['key']}"
        for mount in container["volumeMounts"]
        if mount["name"] in secrets
        for item in secrets[mount["name"]]["items"]
    }


def test_with_client_certificates_each_side_has_its_own_key_and_the_authority_of_the_other():
    made = Made(BINDS, **SERVICE)
    files = {container["name"]: files_of(pod, container) for pod, container in made.containers()}
    (entry,) = yaml.safe_load(made.configuration())["extenders"]
    tls = entry["tlsConfig"]
    assert files["kube-scheduler"] == {
        tls["caFile"]: "server/ca.crt",
        tls["certFile"]: "client/tls.crt",
        tls["keyFile"]: "client/tls.key",
    }
    options = dict(word.partition("=")[::2] for word in made.extender()["command"])
    assert files["extender"] == {
        options["--tls-cert-file"]: "server/tls.crt",
        options["--tls-private-key-file"]: "server/tls.key",
        options["--client-ca-file"]: "client/ca.crt",
    }
    assert options["--client-cn"] == "system:kube"


def test_behind_a_service_one_extender_binds_and_any_number_filters():
    binding, filtering = Made(BINDS, n_replicas=3, **SERVICE), Made(n_replicas=3, is_service=True, tls_secret="server")
    spec = binding.one("Deployment", "kubesched-extender")["spec"]
    assert (spec["replicas"], spec["strategy"]["type"]) == (1, "Recreate")
    assert filtering.one("Deployment", "kubesched-extender")["spec"]["replicas"] == 3
    assert binding.one("Deployment", "kubesched")["spec"]["replicas"] == 3
    assert [one["metadata"]["name"] for one in binding.all("PodDisruptionBudget")] == ["kubesched"]
    assert len(filtering.all("PodDisruptionBudget")) == 2
    assert Made(BINDS).all("PodDisruptionBudget") == []


def test_the_path_for_imports_changes_only_where_files_are_imported():
    names = [one["name"] for one in Made(files={"types.py": ""}).extender()["env"]]
    assert "PYTHONPATH" not in names
    assert {"name": "PYTHONPATH", "value": "/etc/kubesched"} in Made(files={"a.py": ""}, imports_files=True).extender()[
        "env"
    ]


@pytest.mark.parametrize(
    ("offer", "options", "words"),
    [
        (FILTERS, {"scheduler_names": ("default-scheduler",)}, "own kube-scheduler.*--scheduler-name"),
        (BINDS, {"is_service": True}, "--client-secret, or omit --service"),
        (FILTERS, {"client_secret": "client"}, "client certificates need --service"),
        (FILTERS, {"client_names": ("system:kube-scheduler",)}, "--client-cn needs --client-secret"),
        (FILTERS, {"files": {"model.txt": "é" * 500_000}}, "larger than a ConfigMap may be"),
    ],
)
def test_what_does_not_go_together_is_refused(offer: Offer, options: dict[str, Any], words: str):
    with pytest.raises(InputError, match=words):
        Made(offer, **options)
