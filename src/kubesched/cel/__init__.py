"""CEL expressions of device selectors: compiles them, evaluates them for a device, and says what they read."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.cel.compiled_selector import (
        CompiledSelector as CompiledSelector,
        compile_in_any_version as compile_in_any_version,
        compile_selector as compile_selector,
    )
    from kubesched.cel.conjuncts import Conjunct as Conjunct, Refusal as Refusal
    from kubesched.cel.device_reads import Reads as Reads
    from kubesched.cel.device_value import DeviceValue as DeviceValue, device_value as device_value
    from kubesched.cel.exact_amounts import Quantity as Quantity
    from kubesched.cel.literal_comparisons import DeviceFact as DeviceFact, LiteralComparison as LiteralComparison
    from kubesched.cel.loosened import (
        Loosened as Loosened,
        OtherLiteral as OtherLiteral,
        loosened as loosened,
        refused_conjuncts as refused_conjuncts,
        without_conjunct as without_conjunct,
    )
    from kubesched.cel.semantic_versions import Semver as Semver
