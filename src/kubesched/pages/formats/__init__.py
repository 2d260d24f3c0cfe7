"""Reports of commands: one model, and the formats that are made from it."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.pages.formats.fitting import fold
    from kubesched.pages.formats.html import as_fragment, as_html
    from kubesched.pages.formats.junit import as_junit
    from kubesched.pages.formats.limits import age_sentence, limits
    from kubesched.pages.formats.machine import as_csv, as_json, as_jsonl, json_line, json_text
    from kubesched.pages.formats.markdown import as_markdown
    from kubesched.pages.formats.model import Align, Cell, Check, Column, Level, Page, Paragraph, Part, Row, Table
    from kubesched.pages.formats.next_command import command_about
    from kubesched.pages.formats.report_of import as_text, html_of, page_of, text_of
    from kubesched.pages.formats.text import print_page

__all__ = [
    "Align",
    "Cell",
    "Check",
    "Column",
    "Level",
    "Page",
    "Paragraph",
    "Part",
    "Row",
    "Table",
    "age_sentence",
    "as_csv",
    "as_fragment",
    "as_html",
    "as_json",
    "as_jsonl",
    "as_junit",
    "as_markdown",
    "as_text",
    "command_about",
    "fold",
    "html_of",
    "json_line",
    "json_text",
    "limits",
    "page_of",
    "print_page",
    "text_of",
]
