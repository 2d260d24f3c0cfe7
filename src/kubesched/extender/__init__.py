"""The extender that a stock kube-scheduler calls: its server, its manifests, and recorded calls answered again."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.extender.answer import Answer as Answer
    from kubesched.extender.binder import Binder as Binder
    from kubesched.extender.call_replay import Replayed as Replayed, replay as replay
    from kubesched.extender.common_mistakes import advice as advice
    from kubesched.extender.extender_process import ExtenderOptions as ExtenderOptions, run_extender as run_extender
    from kubesched.extender.manifests import (
        KUBE_SCHEDULER_IMAGE as KUBE_SCHEDULER_IMAGE,
        ManifestOptions as ManifestOptions,
        extender_manifests as extender_manifests,
        scheduler_configuration as scheduler_configuration,
    )
    from kubesched.extender.offer import Offer as Offer, find_offer as find_offer
    from kubesched.extender.plugin_extender import (
        ClusterWrites as ClusterWrites,
        Extender as Extender,
        served_profiles as served_profiles,
    )
    from kubesched.extender.recording import (
        RecordedCall as RecordedCall,
        RecordedWatch as RecordedWatch,
        Recorder as Recorder,
        read_recording as read_recording,
    )
    from kubesched.extender.requested_nodes import NodeSource as NodeSource
    from kubesched.extender.requested_pods import RequestedPods as RequestedPods
    from kubesched.extender.service import ExtenderService as ExtenderService
    from kubesched.extender.verbs import Verbs as Verbs
    from kubesched.extender.watched_kinds import watched_kinds as watched_kinds
