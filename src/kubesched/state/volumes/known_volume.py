"""A PersistentVolume with the data that rules need, parsed once."""

from weakref import WeakValueDictionary

from kubesched.api import NodeSelector, PersistentVolume, parse_quantity
from kubesched.state.csi_migration import in_tree_source, translated_affinity, translation_error
from kubesched.state.volumes.claims import storage_class_of
from kubesched.state.volumes.node_reach import NodeReach


class Reaches:
    """One NodeReach for equal affinities, as long as a volume has it."""

    def __init__(self) -> None:
        self._by_value: WeakValueDictionary[NodeSelector | None, NodeReach] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._by_value)

    def of(self, required: NodeSelector | None) -> NodeReach:
        """The reach of an affinity; None means everywhere."""
        reach = self._by_value.get(required)
        if reach is None:
            reach = self._by_value[required] = NodeReach(required)
        return reach


class KnownVolume:
    """A PersistentVolume.

    Attributes:
        volume: the object.
        number: grows in order of appearance, and is never given out again.
        class_name: its storage class, empty for none.
        capacity: billionths of a byte.
        reach: from which nodes it can be reached.
        zoned_plugin: the in-tree plugin, where its CSI driver has a separate key for zones; else empty.
        translation_error: why it cannot be translated for its driver; empty when it can.
        translated_reach: from which nodes it can be reached where that plugin has been migrated.
    """

    __slots__ = (
        "capacity",
        "class_name",
        "number",
        "reach",
        "translated_reach",
        "translation_error",
        "volume",
        "zoned_plugin",
    )

    def __init__(self, volume: PersistentVolume, number: int, reaches: Reaches) -> None:
        affinity = volume.spec.node_affinity
        self.volume = volume
        self.number = number
        self.class_name = storage_class_of(volume)
        self.capacity = parse_quantity((volume.spec.capacity or {}).get("storage", 0))
        self.reach = self.translated_reach = reaches.of(affinity.required if affinity else None)
        self.zoned_plugin = self.translation_error = ""
        source = in_tree_source(volume)
        if source is not None and source[0].zone_key:
            self.zoned_plugin = source[0].plugin
            self.translation_error = translation_error(volume)
            self.translated_reach = reaches.of(translated_affinity(volume, source[0].zone_key))

    @property
    def is_free(self) -> bool:
        """Whether a claim that it is not reserved for can have the volume."""
        volume = self.volume
        return volume.spec.claim_ref is None and volume.status.phase == "Available" and not volume.is_terminating
