"""Regular expressions in linear time, as RE2 and Go have them: no look-around, no back references."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.cel.regular_expressions.pattern import Pattern as Pattern, compile_pattern as compile_pattern
