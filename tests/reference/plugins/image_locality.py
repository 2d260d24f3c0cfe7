"""kube-scheduler v1.36 ImageLocality."""

from tests.reference.framework import Plugin, divide

MIB = 1024 * 1024


class ImageLocality(Plugin):
    """Nodes that hold the pod's images score higher; an image that few nodes hold counts less."""

    name = "ImageLocality"

    def score(self, pod: dict, node) -> int:
        spec = pod["spec"]
        containers = [*(spec.get("initContainers") or ()), *spec["containers"]]
        images = [c.get("image") or "" for c in containers]
        images += [v["image"].get("reference") or "" for v in spec.get("volumes") or () if v.get("image") is not None]
        total = sum(scaled_size(tagged(image), node) for image in images)
        low, high = 23 * MIB, 1000 * MIB * len(containers)
        return divide(100 * (min(max(total, low), high) - low), high - low)


def tagged(image: str) -> str:
    """With `:latest` appended where the last part of the name has neither tag nor digest."""
    return image if image.rfind(":") > image.rfind("/") else image + ":latest"


def names_of(node) -> set[str]:
    return {name for image in node.images for name in image.get("names") or ()}


def scaled_size(image: str, node) -> int:
    """The image's size times the share of nodes that hold it; 0 where the node itself does not."""
    if image not in names_of(node):
        return 0
    nodes = node.cluster.nodes
    holders = [n for n in nodes if image in names_of(n)]
    size = next(i.get("sizeBytes", 0) for i in holders[0].images if image in (i.get("names") or ()))
    return int(float(size) * (len(holders) / len(nodes)))
