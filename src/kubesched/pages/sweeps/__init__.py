"""The page of a sweep."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.pages.sweeps.sweep_page import sweep_page as sweep_page
