"""The limits of reports, under the name by which this room has them."""

from kubesched.reports import limits

__all__ = ["limits"]
