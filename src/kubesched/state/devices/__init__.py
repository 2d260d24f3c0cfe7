"""Devices for the rules of Dynamic Resource Allocation: the pools of nodes, what is in use, and the device classes."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.state.devices.device_classes import (
        DeviceClasses as DeviceClasses,
        resources_of_class as resources_of_class,
    )
    from kubesched.state.devices.device_data import Devices as Devices
    from kubesched.state.devices.device_pools import (
        DeviceId as DeviceId,
        DevicePool as DevicePool,
        PoolDevice as PoolDevice,
        ShortCounter as ShortCounter,
        counter_words as counter_words,
    )
    from kubesched.state.devices.devices_by_node import NodeDevices as NodeDevices
    from kubesched.state.devices.devices_in_use import (
        DevicePoolUse as DevicePoolUse,
        DevicesInUse as DevicesInUse,
    )
