"""Calls foreign extenders."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.extender_client.caller import ExtenderCaller
    from kubesched.extender_client.client import ExtenderClient
    from kubesched.extender_client.probe import Probed, probe

__all__ = ["ExtenderCaller", "ExtenderClient", "Probed", "probe"]
