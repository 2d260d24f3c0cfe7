"""The plugins that the configurations in this folder name."""

from kubesched import Plugin, PreFilterResult


class skipMaintenance(Plugin):  # noqa: N801 - named as in the articles
    """In preFilter, keeps the nodes without the label `maintenance`."""

    def pre_filter(self, state, pod, nodes):
        return PreFilterResult({node.name for node in self.handle.snapshot().nodes if "maintenance" not in node.labels})


class youngestFirst(Plugin):  # noqa: N801 - named as in the articles
    """Sorts the queue by age, the youngest pod first."""

    def less(self, a, b):
        return (a.pod.metadata.creation_timestamp or "") > (b.pod.metadata.creation_timestamp or "")
