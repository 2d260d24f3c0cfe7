"""The API server: its address, requests with credentials, lists and watches that survive interruptions, binding."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.cluster.api_access import Access
    from kubesched.cluster.api_client import ApiClient
    from kubesched.cluster.binding import bind_pod
    from kubesched.cluster.client_tls import client_context
    from kubesched.cluster.cluster_watch import ClusterWatch
    from kubesched.cluster.credentials import Auth, Credentials
    from kubesched.cluster.discovery import ServedKind, find_served, is_served
    from kubesched.cluster.event_recorder import Discard, EventRecorder
    from kubesched.cluster.feed import Feed
    from kubesched.cluster.find_access import find_access
    from kubesched.cluster.listing import ListedObject, list_objects, list_raw
    from kubesched.cluster.plugin_requests import PluginRequests
    from kubesched.cluster.proxies import check_server, proxy_from_environment
    from kubesched.cluster.reflector import SILENCE_SECONDS, Reflector, Sink
    from kubesched.cluster.reflector_counts import ReflectorCounts, Restart
    from kubesched.cluster.resources import FIELD_SELECTORS, list_path, object_path
    from kubesched.cluster.retry_backoff import Backoff
    from kubesched.cluster.timing import Timing

__all__ = [
    "FIELD_SELECTORS",
    "SILENCE_SECONDS",
    "Access",
    "ApiClient",
    "Auth",
    "Backoff",
    "ClusterWatch",
    "Credentials",
    "Discard",
    "EventRecorder",
    "Feed",
    "ListedObject",
    "PluginRequests",
    "Reflector",
    "ReflectorCounts",
    "Restart",
    "ServedKind",
    "Sink",
    "Timing",
    "bind_pod",
    "check_server",
    "client_context",
    "find_access",
    "find_served",
    "is_served",
    "list_objects",
    "list_path",
    "list_raw",
    "object_path",
    "proxy_from_environment",
]
