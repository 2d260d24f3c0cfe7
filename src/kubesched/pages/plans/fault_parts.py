"""What pages say about plugins that failed."""

from collections.abc import Iterable, Iterator

from kubesched.pages.formats import Level, Paragraph, Part


def fault_parts(faults: Iterable[str]) -> Iterator[Part]:
    """What plugins failed with: a run with a fault shows what the plugin did, and not what the cluster would do."""
    for fault in faults:
        yield Paragraph(f"A plugin failed: {fault.rstrip('.')}.", Level.BAD)
