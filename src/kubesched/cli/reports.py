"""-o of the commands that print a report, and the printing."""

from typing import TYPE_CHECKING

from kubesched.cli.cluster import note
from kubesched.cli.output import output_option, print_text, print_verbatim, text_console
from kubesched.cli.parameters import Decorator
from kubesched.cli.program_name import as_typed
from kubesched.pages.formats import ROWS_ALONE, SCRIPTS, WITHOUT_SENTENCES, Format

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubesched.pages.formats import Page
    from kubesched.release import DecidingVersion


def report_output_option(*others: str, default: str = "") -> Decorator:
    """-o: the format of a report; the argument of `print_report`.

    Args:
        others: formats of SCRIPTS, and formats that the command prints itself.
        default: one of those formats; empty for the table.
    """
    own = [default] if default else []
    formats = (each.value for each in Format)
    return output_option(*own, *formats, *others, help="docs/reference/output.md describes the formats.")


def print_report(page: "Page", output: str) -> None:
    """Print a report on standard output in one of the formats of `report_output_option`."""
    import msgspec

    if output in ROWS_ALONE | SCRIPTS:
        for fault in page.faults:
            note(f"a plugin failed: {fault}")
    if output in WITHOUT_SENTENCES | SCRIPTS:
        for sentence in page.notes:
            note(sentence)
    if output == Format.CSV:
        note_versions(page.versions)
    page = msgspec.structs.replace(page, next_command=_as_copied(page.next_command))
    if output in (Format.TABLE, Format.WIDE):
        from kubesched.pages.formats import print_page

        with text_console() as console:
            print_page(page, console, wide=output == Format.WIDE)
        return
    if output in SCRIPTS:
        from kubesched.pages.formats import as_script

        print_text(as_script(page))
        return
    print_verbatim(Format(output).written(page))


def note_versions(versions: "Iterable[DecidingVersion]") -> None:
    """Note which version decided, where it is another than by default, for formats that have no place for it."""
    from kubesched.release import DEFAULT_RELEASE

    for version in dict.fromkeys(versions):
        if version.release != DEFAULT_RELEASE:
            note(version.words)


def _as_copied(command: str) -> str:
    """A command with the name that the user types; nothing if a reader could not copy it as it is shown."""
    from kubesched.documents import escape_controls

    is_shown_whole = "\n" not in command and escape_controls(command) == command
    return as_typed(command) if is_shown_whole else ""
