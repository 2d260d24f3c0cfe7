"""Which extended resources device classes serve, kept up to date with the objects."""

from collections.abc import Mapping
from typing import Final

from kubesched.api import DeviceClass, KubeObject, is_extended_resource
from kubesched.state.objects import ObjectStore

_IMPLICIT: Final = "deviceclass.resource.kubernetes.io/"
_NONE: Final[Mapping[str, str]] = {}


class DeviceClasses:
    """The device classes by the extended resources that they serve.

    Attributes:
        by_resource: extended resource -> the classes that serve it, with the times of their creation. Read only.

    Rule: kube-scheduler v1.36 DRAExtendedResource: a class serves its extendedResourceName, and the name
        `deviceclass.resource.kubernetes.io/CLASS`. An API server takes only extended resources, so another name in a
        file, such as cpu, serves nothing. Of several classes with one name the newest wins, and among equals
        the first by name.

    Example:
        objects = ObjectStore()
        classes = DeviceClasses(objects)
        objects.put("DeviceClass", make_object("DeviceClass", "gpu", spec={"extendedResourceName": "example.com/gpu"}))
        assert classes.serving({"example.com/gpu": 1, "cpu": 100}) == {"example.com/gpu": "gpu"}
    """

    def __init__(self, objects: ObjectStore) -> None:
        self.by_resource: dict[str, dict[str, str]] = {}
        objects.listen("DeviceClass", self._changed)

    def serving(self, requests: Mapping[str, int]) -> Mapping[str, str]:
        """The resources that are asked for and that a class serves, by name, with their classes.

        Args:
            requests: resource -> amount; one of 0 does not count.
        """
        known = self.by_resource
        if not known or known.keys().isdisjoint(requests):
            return _NONE
        served = sorted(name for name, amount in requests.items() if name in known and amount > 0)
        return {name: self._class_of(name) for name in served}

    def __len__(self) -> int:
        return len(self.by_resource)

    def _class_of(self, resource: str) -> str:
        created = self.by_resource[resource]
        return max(sorted(created), key=lambda name: created[name])

    def _changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        for resource in resources_of_class(old):
            classes = self.by_resource.get(resource, {})
            classes.pop(old.name if old else "", None)
            if not classes:
                self.by_resource.pop(resource, None)
        for resource in resources_of_class(new):
            assert new is not None
            self.by_resource.setdefault(resource, {})[new.name] = new.metadata.creation_timestamp or ""


def resources_of_class(known: KubeObject | None) -> tuple[str, ...]:
    """The extended resources that a device class serves; none for any other object."""
    if not isinstance(known, DeviceClass):
        return ()
    implicit, own = f"{_IMPLICIT}{known.name}", known.spec.extended_resource_name
    return (implicit, own) if is_extended_resource(own) else (implicit,)
