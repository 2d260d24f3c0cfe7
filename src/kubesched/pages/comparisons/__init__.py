"""The page of a comparison."""

from kubesched.pages.comparisons.comparison_page import comparison_page

__all__ = [
    "comparison_page",
]
