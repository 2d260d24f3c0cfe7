"""The page of the versions is what the tables and the recordings say now."""

from tests.docs import versions_page
from tests.docs.pages import ROOT


def test_the_page_is_current() -> None:
    """Otherwise, run the command in its first line."""
    text = (ROOT / "docs" / "reference" / "versions.md").read_text(encoding="utf-8")
    assert versions_page.page() == text
    assert versions_page.COMMAND in text.splitlines()[0]
