"""Compares the bindings of another scheduler with what kubesched would decide, on a live cluster; writes nothing."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.shadow.shadow import Shadow as Shadow
    from kubesched.shadow.shadow_process import run_shadow as run_shadow
    from kubesched.shadow.shadow_report import ShadowReport as ShadowReport
    from kubesched.shadow.verdict import Agreement as Agreement, Verdict as Verdict
