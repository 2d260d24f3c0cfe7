"""The selectors of services by namespace, for default topology spreading."""

from collections.abc import Iterable, Mapping
from itertools import count

from kubesched.api import KubeObject, Service
from kubesched.state.objects import ObjectStore


class ServiceSelectors:
    """Selectors as services state them, kept up to date with the objects; a service without selector selects none."""

    def __init__(self, objects: ObjectStore) -> None:
        self._selectors: dict[str, dict[str, dict[str, str] | None]] = {}  # namespace -> service name -> selector
        self._generations: dict[str, int] = {}  # of each namespace with a selector
        self._next = count(1)  # never the same twice, so that a namespace that comes back is not taken for the old one
        objects.listen("Service", self._changed, keeps_order=True)

    def generation(self, namespace: str) -> int:
        """Changes when a selector of the namespace does; 0 where there are none."""
        return self._generations.get(namespace, 0)

    def selecting(self, namespace: str, labels: Mapping[str, str]) -> Iterable[dict[str, str]]:
        """The selectors that select pods with these labels, in order of appearance of their services."""
        pairs = labels.items()
        for selector in self._selectors.get(namespace, {}).values():
            if selector is not None and selector.items() <= pairs:
                yield selector

    def _changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        before, after = _selector(old), _selector(new)
        service = new or old
        if service is None:
            return
        here = self._selectors.setdefault(service.namespace, {})
        if new is not None:
            here[new.name] = after
        else:
            here.pop(service.name, None)
        if not here:
            del self._selectors[service.namespace]
        if before == after:
            return
        if any(here.values()):
            self._generations[service.namespace] = next(self._next)
        else:
            del self._generations[service.namespace]


def _selector(service: KubeObject | None) -> dict[str, str] | None:
    return (service.spec.selector or None) if isinstance(service, Service) else None
