"""DynamicResources: which devices a pod's claims get, on which nodes, and what is written for that."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.plugins.dynamic_resources.allocation import (
        consumed_by as consumed_by,
        node_selector_of as node_selector_of,
    )
    from kubesched.plugins.dynamic_resources.asks import (
        ALL as ALL,
        ConstraintAsk as ConstraintAsk,
        DeviceAsk as DeviceAsk,
        NamedAsk as NamedAsk,
        alternatives_of as alternatives_of,
        claim_ask as claim_ask,
    )
    from kubesched.plugins.dynamic_resources.claim_plan import ClaimPlan as ClaimPlan
    from kubesched.plugins.dynamic_resources.device_reasons import (
        reasons_together as reasons_together,
        used_devices as used_devices,
    )
    from kubesched.plugins.dynamic_resources.device_search import Chosen as Chosen, Shortage as Shortage
    from kubesched.plugins.dynamic_resources.dynamic_resources import (
        DynamicResources as DynamicResources,
        UnboundDynamicResources as UnboundDynamicResources,
        UnscoredDynamicResources as UnscoredDynamicResources,
    )
    from kubesched.plugins.dynamic_resources.pod_claims import claim_name as claim_name
    from kubesched.plugins.dynamic_resources.pod_demand import PodDemand as PodDemand, demand_of as demand_of
    from kubesched.plugins.dynamic_resources.request_devices import (
        DeviceObstacle as DeviceObstacle,
        Nearness as Nearness,
        RequestDevices as RequestDevices,
        broken_pools_for as broken_pools_for,
        devices_for as devices_for,
    )
    from kubesched.plugins.dynamic_resources.selector_refusals import refusal_of as refusal_of
    from kubesched.plugins.dynamic_resources.special_claim import SPECIAL_CLAIM as SPECIAL_CLAIM
