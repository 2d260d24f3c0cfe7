"""The API server: its address, requests with credentials, lists and watches that survive interruptions, binding."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.cluster.api_access import Access as Access
    from kubesched.cluster.api_client import ApiClient as ApiClient
    from kubesched.cluster.binding import bind_pod as bind_pod
    from kubesched.cluster.client_tls import client_context as client_context
    from kubesched.cluster.cluster_watch import ClusterWatch as ClusterWatch
    from kubesched.cluster.credentials import Auth as Auth, Credentials as Credentials
    from kubesched.cluster.discovery import (
        ServedKind as ServedKind,
        find_served as find_served,
        in_other_version as in_other_version,
        is_served as is_served,
        versions_of as versions_of,
    )
    from kubesched.cluster.event_document import micro_time as micro_time
    from kubesched.cluster.event_recorder import Discard as Discard, EventRecorder as EventRecorder
    from kubesched.cluster.feed import Feed as Feed
    from kubesched.cluster.find_access import find_access as find_access
    from kubesched.cluster.listing import (
        ListedObject as ListedObject,
        list_objects as list_objects,
        list_raw as list_raw,
    )
    from kubesched.cluster.pacing import Backoff as Backoff
    from kubesched.cluster.plugin_requests import PluginRequests as PluginRequests
    from kubesched.cluster.protobuf_metadata import PROTOBUF as PROTOBUF, with_finalizers as with_finalizers
    from kubesched.cluster.proxies import check_server as check_server, proxy_from_environment as proxy_from_environment
    from kubesched.cluster.reflector import SILENCE_SECONDS as SILENCE_SECONDS, Reflector as Reflector, Sink as Sink
    from kubesched.cluster.reflector_counts import ReflectorCounts as ReflectorCounts, Restart as Restart
    from kubesched.cluster.resources import (
        FIELD_SELECTORS as FIELD_SELECTORS,
        list_path as list_path,
        object_path as object_path,
    )
    from kubesched.cluster.server_version import server_version as server_version
    from kubesched.cluster.timing import Timing as Timing
