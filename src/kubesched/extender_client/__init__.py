"""Calls foreign extenders."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.extender_client.caller import ExtenderCaller as ExtenderCaller
    from kubesched.extender_client.client import ExtenderClient as ExtenderClient
    from kubesched.extender_client.probe import Probed as Probed, probe as probe
