"""HTTP and HTTPS servers: certificate reload, limits, health, metrics, logs, a clean shutdown."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.serving.bodies import Bodies as Bodies, Buffer as Buffer, expect_body as expect_body
    from kubesched.serving.free_memory import (
        give_free_memory_back as give_free_memory_back,
        map_large_blocks as map_large_blocks,
    )
    from kubesched.serving.health import (
        HEALTH_PATHS as HEALTH_PATHS,
        Check as Check,
        add_checks as add_checks,
        add_health as add_health,
        add_version as add_version,
        ping as ping,
    )
    from kubesched.serving.json_stream import JsonStream as JsonStream, only_json_lines as only_json_lines
    from kubesched.serving.logs import set_up_logging as set_up_logging
    from kubesched.serving.loop_thread import LoopThread as LoopThread
    from kubesched.serving.metrics_registry import (
        Registry as Registry,
        add_metrics as add_metrics,
        new_registry as new_registry,
    )
    from kubesched.serving.origins import is_loopback as is_loopback
    from kubesched.serving.quick import QuickAnswer as QuickAnswer, QuickHandler as QuickHandler
    from kubesched.serving.routing import SHOWN_PATH as SHOWN_PATH
    from kubesched.serving.self_signed import pair_in_memory as pair_in_memory, self_signed_pair as self_signed_pair
    from kubesched.serving.server import Server as Server, ServerOptions as ServerOptions
    from kubesched.serving.tls import (
        Certificates as Certificates,
        TlsFiles as TlsFiles,
        allow_clients as allow_clients,
        peer_common_names as peer_common_names,
        peer_organizations as peer_organizations,
    )
