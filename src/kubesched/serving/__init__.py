"""HTTP and HTTPS servers: certificate reload, limits, health, metrics, logs, a clean shutdown."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.serving.bodies import Bodies, Buffer, expect_body
    from kubesched.serving.free_memory import give_free_memory_back, map_large_blocks
    from kubesched.serving.health import HEALTH_PATHS, Check, add_checks, add_health, add_version, ping
    from kubesched.serving.json_stream import JsonStream, only_json_lines
    from kubesched.serving.logs import set_up_logging
    from kubesched.serving.loop_thread import LoopThread
    from kubesched.serving.metrics_registry import Registry, add_metrics, new_registry
    from kubesched.serving.quick import QuickAnswer, QuickHandler
    from kubesched.serving.routing import SHOWN_PATH
    from kubesched.serving.self_signed import pair_in_memory, self_signed_pair
    from kubesched.serving.server import Server, ServerOptions
    from kubesched.serving.tls import Certificates, TlsFiles, allow_clients, peer_common_names, peer_organizations

__all__ = [
    "HEALTH_PATHS",
    "SHOWN_PATH",
    "Bodies",
    "Buffer",
    "Certificates",
    "Check",
    "JsonStream",
    "LoopThread",
    "QuickAnswer",
    "QuickHandler",
    "Registry",
    "Server",
    "ServerOptions",
    "TlsFiles",
    "add_checks",
    "add_health",
    "add_metrics",
    "add_version",
    "allow_clients",
    "expect_body",
    "give_free_memory_back",
    "map_large_blocks",
    "new_registry",
    "only_json_lines",
    "pair_in_memory",
    "peer_common_names",
    "peer_organizations",
    "ping",
    "self_signed_pair",
    "set_up_logging",
]
