"""The functions of expressions, a file for each library."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.cel.library.every_function import FUNCTIONS as FUNCTIONS
