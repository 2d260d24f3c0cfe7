"""The page of a comparison."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.pages.comparisons.comparison_page import comparison_page as comparison_page
