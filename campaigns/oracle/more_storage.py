"""Features of `--more` about volumes: inline disks, claims, local volumes, capacity, limits, migration."""

from campaigns.oracle.world import World, add_claim, add_volume, namespace_of

HOST, ZONE, REGION = "kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
STORAGE = "storage.k8s.io/v1"
BOUND = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
NAMESPACES = ("default", "prod")


def inline_disks(w: World) -> None:
    """Disks written into the pod itself, some of them read-only, shared by several pods."""
    for pod in w.some(w.pods, 0.25):
        for _ in range(w.r.choice([1, 1, 2])):
            add_volume(pod, **disk(w))


def disk(w: World) -> dict:
    n, read_only = w.r.randrange(4), {"readOnly": True} if w.chance(0.5) else {}
    return w.r.choice(
        [
            {"gcePersistentDisk": {"pdName": f"pd{n}", **read_only}},
            {"awsElasticBlockStore": {"volumeID": w.r.choice([f"vol-{n}", f"aws://z1/vol-{n}"]), **read_only}},
            {"iscsi": {"targetPortal": f"10.0.0.{n}", "iqn": f"iqn.2026-01.x:{n}", "lun": n, **read_only}},
            {
                "rbd": {
                    "monitors": w.r.sample(["m1", "m2", "m3"], 2),
                    "image": f"i{n % 2}",
                    **({"pool": "p"} if w.chance(0.5) else {}),
                    **read_only,
                }
            },
            {"azureDisk": {"diskName": f"d{n}", "diskURI": f"/subscriptions/x/{n}"}},
            {"cinder": {"volumeID": f"c{n}"}},
            {"portworxVolume": {"volumeID": f"px{n}"}},
            {"vsphereVolume": {"volumePath": f"[ds] v{n}"}},
            {"azureFile": {"secretName": "s", "shareName": f"share{n}"}},
            {"emptyDir": {}},
            {"configMap": {"name": "c"}},
            {"hostPath": {"path": "/tmp"}},
            {"csi": {"driver": "csi.example.com"}},
        ]
    )


def claim(
    w: World,
    name: str,
    namespace: str,
    *,
    size: str | None = "5Gi",
    storage_class: str | None = None,
    volume: str = "",
    bound: bool = False,
    phase: str = "Pending",
    modes: tuple[str, ...] = ("ReadWriteOnce",),
    metadata: dict | None = None,
    **spec: object,
) -> dict:
    """Add a PersistentVolumeClaim."""
    spec = {"accessModes": list(modes), "resources": {"requests": {"storage": size}} if size else {}, **spec}
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    if volume:
        spec["volumeName"] = volume
    metadata = {"uid": f"u-{namespace}-{name}", **({"annotations": dict(BOUND)} if bound else {}), **(metadata or {})}
    status = {"phase": "Bound" if bound else phase}
    return w.add("v1", "PersistentVolumeClaim", name, namespace, metadata=metadata, spec=spec, status=status)


def volume(
    w: World,
    name: str,
    *,
    size: str = "5Gi",
    storage_class: str = "",
    phase: str = "Bound",
    terms: list | None = None,
    modes: tuple[str, ...] = ("ReadWriteOnce",),
    metadata: dict | None = None,
    **spec: object,
) -> dict:
    """Add a PersistentVolume."""
    spec = {"capacity": {"storage": size}, "accessModes": list(modes), "storageClassName": storage_class, **spec}
    if terms is not None:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    return w.add("v1", "PersistentVolume", name, metadata=metadata or {}, spec=spec, status={"phase": phase})


def storage_class(w: World, name: str, provisioner: str, mode: str = "WaitForFirstConsumer", **fields: object) -> dict:
    return w.add(STORAGE, "StorageClass", name, provisioner=provisioner, volumeBindingMode=mode, **fields)


def claim_ref(name: str, namespace: str, uid: str | None = None) -> dict:
    return {
        "kind": "PersistentVolumeClaim",
        "namespace": namespace,
        "name": name,
        "uid": uid or f"u-{namespace}-{name}",
    }


def csi(driver: str, handle: str) -> dict:
    return {"driver": driver, "volumeHandle": handle}


def one_of(key: str, *values: str) -> dict:
    return {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}


def claims(w: World) -> None:
    """Claims in every state: lost, going, pre-bound, without class, of a missing class, without their volume."""
    storage_class(w, "claims-late", "csi.example.com")
    storage_class(w, "claims-now", "csi.example.com", "Immediate")
    nodes = w.node_names()
    for ns in NAMESPACES:
        claim(w, "lost", ns, volume="gone", phase="Lost")
        claim(
            w,
            "going",
            ns,
            storage_class="claims-late",
            metadata={"deletionTimestamp": "2026-01-01T02:00:00Z", "finalizers": ["kubernetes.io/pvc-protection"]},
        )
        claim(w, "classless", ns)
        claim(w, "class-missing", ns, storage_class="nowhere")
        claim(w, "annotated", ns, metadata={"annotations": {"volume.beta.kubernetes.io/storage-class": "claims-late"}})
        claim(w, "immediate", ns, storage_class="claims-now")
        claim(w, "prebound", ns, storage_class="claims-late", volume=f"claims-pv-{ns}")
        claim(w, "dangling", ns, storage_class="claims-now", volume="pv-nowhere", bound=True)
        claim(w, "free", ns, volume=f"claims-pv-{ns}", bound=True, modes=("ReadWriteMany", "ReadOnlyMany"))
        claim(w, "single", ns, volume=f"claims-rwop-{ns}", bound=True, modes=("ReadWriteOncePod",))
        volume(
            w,
            f"claims-pv-{ns}",
            csi=csi("csi.example.com", f"h-{ns}"),
            claimRef=claim_ref("free", ns),
            terms=any_terms(w, nodes),
        )
        volume(
            w,
            f"claims-rwop-{ns}",
            csi=csi("csi.other.example", f"r-{ns}"),
            claimRef=claim_ref("single", ns),
            metadata={"labels": any_zone_labels(w)},
        )
        for i, node in enumerate(w.r.sample(nodes, min(2, len(nodes)))):
            claim(
                w,
                f"selected-{i}",
                ns,
                storage_class="claims-late",
                metadata={"annotations": {"volume.kubernetes.io/selected-node": node}},
            )
    good, bad = (
        ["annotated", "free", "free", "single", "selected-0", "selected-1"],
        ["lost", "going", "classless", "class-missing", "immediate", "prebound", "dangling", "absent"],
    )
    for pod in w.some(w.pods, 0.25):
        for name in w.r.sample(good if w.chance(0.75) else good + bad, w.r.choice([1, 1, 2])):
            add_claim(pod, name)


def any_terms(w: World, nodes: list[str]) -> list | None:
    return w.r.choice(
        [
            None,
            [],
            [{}],
            [one_of(ZONE, "z1", "z2")],
            [one_of(HOST, *nodes[:5])],
            [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["x"]}]}],
            [{"matchExpressions": [{"key": "disk", "operator": "DoesNotExist"}]}, one_of(ZONE, "z3")],
            [{"matchExpressions": [{"key": "rank", "operator": "Gt", "values": ["3"]}]}],
        ]
    )


def any_zone_labels(w: World) -> dict:
    return w.r.choice(
        [
            {},
            {ZONE: "z1"},
            {ZONE: "z1__z2"},
            {ZONE: "z1__ z2"},
            {ZONE: "z3__"},
            {BETA_ZONE: "z2"},
            {REGION: "north"},
            {BETA_ZONE: "z1", ZONE: "z2"},
            {ZONE: ""},
        ]
    )


def ephemeral(w: World) -> None:
    """Generic ephemeral volumes whose claim is the pod's own, another's, or not there yet."""
    storage_class(w, "scratch", "csi.example.com")
    for pod in w.some(w.pods, 0.2):
        spec = {
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "scratch",
                "resources": {"requests": {"storage": "1Gi"}},
            }
        }
        name = add_volume(pod, ephemeral={"volumeClaimTemplate": spec})
        owner = {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": pod["metadata"]["name"],
            "uid": pod["metadata"]["uid"],
            "controller": True,
        }
        fate = w.r.choice(
            ["own", "own", "own", "own", "other", "absent", "unowned"]
            if not pod["spec"].get("nodeName")
            else ["own"] * 30 + ["other", "absent"]
        )
        if fate != "absent":
            owners = {"own": [owner], "other": [{**owner, "uid": "u-other"}], "unowned": []}[fate]
            claim(
                w,
                f"{pod['metadata']['name']}-{name}",
                namespace_of(pod),
                size="1Gi",
                storage_class="scratch",
                metadata={"ownerReferences": owners},
            )


def local(w: World) -> None:
    """Static local volumes: no provisioner, so a claim needs a free volume that its node can reach.

    No two volumes have the same size: among equal ones kube-scheduler takes any.
    """
    storage_class(w, "local", "kubernetes.io/no-provisioner")
    nodes, size = w.node_names(), 10
    for node in w.some(w.nodes, 0.6):
        name = node["metadata"]["name"]
        for _ in range(w.r.choice([1, 1, 2, 3])):
            size += 1
            spec = {"local": {"path": "/mnt"}, "terms": [one_of(HOST, name)], "phase": "Available"}
            spec |= w.r.choice(
                [
                    {},
                    {},
                    {},
                    {"metadata": {"labels": {"tier": "gold"}}},
                    {"volumeMode": "Block"},
                    {"modes": ("ReadWriteMany",)},
                    {"phase": "Released"},
                    {"claimRef": claim_ref("elsewhere", "default")},
                    {"volumeAttributesClassName": "gold"},
                    {"metadata": {"deletionTimestamp": "2026-01-01T02:00:00Z"}},
                    {"terms": [one_of(HOST, *w.r.sample(nodes, min(3, len(nodes))))]},
                ]
            )
            volume(w, f"local-{size}", size=f"{size * w.r.choice([1, 1, 100])}Gi", storage_class="local", **spec)
    for ns in NAMESPACES:
        for i in range(6):
            extra = w.r.choice(
                [
                    {},
                    {},
                    {"selector": {"matchLabels": {"tier": "gold"}}},
                    {"volumeMode": "Block"},
                    {"modes": ("ReadWriteMany",)},
                    {"selector": {"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["gold"]}]}},
                    {"volumeMode": "Filesystem"},
                ]
            )
            claim(
                w,
                f"local-{i}",
                ns,
                size=w.r.choice(["1Gi", "12Gi", "20Gi", "900Gi", None]),
                storage_class="local",
                **extra,
            )
        size += 1
        volume(
            w,
            f"local-kept-{ns}",
            size=f"{size}Gi",
            storage_class="local",
            claimRef={**claim_ref("local-0", ns), "uid": ""},
            terms=[one_of(HOST, *w.r.sample(nodes, min(4, len(nodes))))],
            local={"path": "/mnt"},
            phase="Available",
        )
    for pod in w.some(w.pending, 0.3):
        chosen = w.r.sample(range(6), w.r.choice([1, 1, 2]))
        for i in chosen + chosen[:1] if w.chance(0.1) else chosen:
            add_claim(pod, f"local-{i}")


def capacity(w: World) -> None:
    """Drivers that publish their capacity by topology, and classes that allow only some topologies."""
    w.add(STORAGE, "CSIDriver", "cap.example.com", spec={"storageCapacity": True})
    w.add(STORAGE, "CSIDriver", "nocap.example.com", spec={"storageCapacity": False})
    storage_class(w, "cap", "cap.example.com")
    storage_class(w, "nocap", "nocap.example.com")
    zone1 = {"matchLabelExpressions": [{"key": ZONE, "values": ["z1"]}]}
    storage_class(
        w,
        "topo",
        "cap.example.com",
        allowedTopologies=w.r.choice(
            [[zone1], [zone1, {"matchLabelExpressions": [{"key": "disk", "values": ["ssd", "x"]}]}], [], [{}]]
        ),
    )
    for i in range(7):
        amount = w.r.choice(
            [
                {"capacity": "10Gi"},
                {"capacity": "100Gi", "maximumVolumeSize": "20Gi"},
                {"capacity": "1Gi"},
                {},
                {"maximumVolumeSize": "7Gi"},
            ]
        )
        topology = w.r.choice(
            [
                {},
                {"nodeTopology": {}},
                {"nodeTopology": {"matchLabels": {ZONE: w.r.choice(["z1", "z2", "z3"])}}},
                {"nodeTopology": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}},
            ]
        )
        w.add(
            STORAGE,
            "CSIStorageCapacity",
            f"capacity-{i}",
            w.r.choice(["default", "kube-system"]),
            storageClassName=w.r.choice(["cap", "topo", "nocap"]),
            **amount,
            **topology,
        )
    for ns in NAMESPACES:
        for i, name in enumerate(["cap", "cap", "nocap", "topo", "topo"]):
            claim(w, f"cap-{i}", ns, size=w.r.choice(["1Gi", "8Gi", "15Gi", "200Gi", None]), storage_class=name)
    for pod in w.some(w.pending, 0.3):
        for i in w.r.sample(range(5), w.r.choice([1, 1, 2])):
            add_claim(pod, f"cap-{i}")


def attachments(w: World) -> None:
    """Limits of several drivers, nodes without CSINode, and volumes that are attached without a pod."""
    drivers = ("csi.example.com", "csi.other.example")
    for name in w.node_names():
        if w.chance(0.15):
            w.items[:] = [obj for obj in w.items if obj["kind"] != "CSINode" or obj["metadata"]["name"] != name]
            continue
        listed = [
            {
                "name": d,
                "nodeID": name,
                **w.r.choice([{}, {"allocatable": {}}, {"allocatable": {"count": 1}}, {"allocatable": {"count": 3}}]),
            }
            for d in drivers
        ]
        w.csi_node(name)["spec"] = {"drivers": listed}
    for i in range(10):
        volume(w, f"att-{i}", csi=csi(w.r.choice(drivers), f"att-h{i % 8}"))
        claim(w, f"att-{i}", w.r.choice(NAMESPACES), volume=f"att-{i}", bound=True, modes=("ReadWriteMany",))
    for i in range(2 * len(w.nodes)):
        source = {"persistentVolumeName": w.r.choice([f"att-{w.r.randrange(10)}", "att-nowhere"])}
        w.add(
            STORAGE,
            "VolumeAttachment",
            f"va-{i}",
            spec={"attacher": w.r.choice(drivers), "nodeName": w.r.choice(w.node_names()), "source": source},
            status={"attached": w.chance(0.7)},
        )
    known = {(namespace_of(obj), obj["metadata"]["name"]) for obj in w.kind("PersistentVolumeClaim")}
    for pod in w.some(w.pods, 0.4):
        for i in w.r.sample(range(10), w.r.choice([1, 2, 3])):
            if (namespace_of(pod), f"att-{i}") in known:
                add_claim(pod, f"att-{i}")


def migrated(w: World) -> None:
    """In-tree volumes that CSI drivers took over: limits, handles, zones under the driver's key."""
    drivers = (
        "pd.csi.storage.gke.io",
        "ebs.csi.aws.com",
        "cinder.csi.openstack.org",
        "disk.csi.azure.com",
        "pxd.portworx.com",
    )
    plugins = ("kubernetes.io/gce-pd", "kubernetes.io/aws-ebs", "kubernetes.io/cinder", "kubernetes.io/azure-disk")
    for node in w.nodes:
        name, labels = node["metadata"]["name"], node["metadata"]["labels"]
        if w.chance(0.2):
            continue
        csi_node = w.csi_node(name)
        csi_node["spec"] = {
            "drivers": [
                *(csi_node["spec"].get("drivers") or ()),
                *({"name": d, "nodeID": name, "allocatable": {"count": w.r.choice([1, 2, 5])}} for d in drivers),
            ]
        }
        if w.chance(0.7):
            csi_node["metadata"]["annotations"] = {
                "storage.alpha.kubernetes.io/migrated-plugins": ",".join(w.r.sample(plugins, w.r.choice([1, 3, 4])))
            }
        for key in ("topology.gke.io/zone", "topology.ebs.csi.aws.com/zone", "topology.cinder.csi.openstack.org/zone"):
            if ZONE in labels and w.chance(0.7):
                labels[key] = labels[ZONE]
    sources = [
        {"gcePersistentDisk": {"pdName": "m0"}},
        {"gcePersistentDisk": {"pdName": "m1"}},
        {"awsElasticBlockStore": {"volumeID": "aws://z1/vol-1"}},
        {"awsElasticBlockStore": {"volumeID": "vol-2"}},
        {"cinder": {"volumeID": "c1"}},
        {"azureDisk": {"diskName": "a", "diskURI": "/a"}},
        {"portworxVolume": {"volumeID": "p"}},
        {"vsphereVolume": {"volumePath": "[ds] v"}},
        {"csi": csi("ebs.csi.aws.com", "vol-2")},
    ]
    for ns in NAMESPACES:
        for i, source in enumerate(sources):
            terms = w.r.choice(
                [
                    None,
                    None,
                    [],
                    [one_of(ZONE, "z1", "z2")],
                    [one_of(BETA_ZONE, "z1")],
                    [one_of("topology.gke.io/zone", "z1")],
                    [one_of(ZONE, "z1"), one_of(REGION, "north")],
                ]
            )
            labels = w.r.choice(
                [{}, {}, {ZONE: "z1"}, {BETA_ZONE: "z2"}, {ZONE: "z1__z2"} if i > 1 else {ZONE: "us-a-1__us-a-2"}]
            )
            volume(
                w,
                f"mig-{ns}-{i}",
                terms=terms,
                metadata={"labels": labels},
                claimRef=claim_ref(f"mig-{i}", ns),
                **source,
            )
            claim(w, f"mig-{i}", ns, volume=f"mig-{ns}-{i}", bound=True, modes=("ReadWriteMany",))
    for pod in w.some(w.pods, 0.35):
        for i in w.r.sample(range(len(sources)), w.r.choice([1, 1, 2])):
            add_claim(pod, f"mig-{i}")
        if w.chance(0.2):
            add_volume(pod, **w.r.choice(sources[:7]))


def attributes(w: World) -> None:
    """Claims and volumes with the class of attributes that they ask for and have."""
    for obj in w.some(w.kind("PersistentVolume"), 0.5):
        obj["spec"]["volumeAttributesClassName"] = w.r.choice(["gold", "silver"])
    for obj in w.some(w.kind("PersistentVolumeClaim"), 0.3):
        obj["spec"]["volumeAttributesClassName"] = w.r.choice(["gold", "gold", "silver", ""])


def drivers(w: World) -> None:
    """Drivers that some nodes do not have; one of them forbids its pods these nodes.

    Of several that forbid a node, kube-scheduler names any.
    """
    names = ["csi.example.com", "csi.other.example", "ebs.csi.aws.com", "lone.example.com", "lax.example.com"]
    chosen = w.r.choice(names)
    for driver in names:
        spec = {"attachRequired": w.chance(0.7), "preventPodSchedulingIfMissing": driver == chosen}
        w.add(STORAGE, "CSIDriver", driver, spec=spec)
    for name in w.node_names():
        listed = w.csi_node(name)["spec"].setdefault("drivers", [])
        listed += [
            {"name": driver, "nodeID": name, **w.r.choice([{}, {"allocatable": {"count": 3}}])}
            for driver in ("lone.example.com", "lax.example.com")
            if w.chance(0.6)
        ]
        listed[:] = [one for one in listed if w.chance(0.9)]
    for driver in ("lone.example.com", "lax.example.com"):
        storage_class(w, driver, driver)
        for ns in NAMESPACES:
            short = driver.partition(".")[0]
            claim(w, f"{short}-late", ns, storage_class=driver)
            claim(w, f"{short}-bound", ns, volume=f"{short}-{ns}", bound=True, modes=("ReadWriteMany",))
            volume(w, f"{short}-{ns}", csi=csi(driver, f"{short}-{ns}"), claimRef=claim_ref(f"{short}-bound", ns))
    for pod in w.some(w.pods, 0.25):
        for name in w.r.sample(["lone-late", "lone-bound", "lax-late", "lax-bound"], w.r.choice([1, 1, 2])):
            add_claim(pod, name)
