"""Reports of commands: one model, and the formats that are made from it."""

from kubesched.reports.commands import command_about
from kubesched.reports.fitting import fold
from kubesched.reports.frames import data_frame
from kubesched.reports.html import as_fragment, as_html
from kubesched.reports.junit import as_junit
from kubesched.reports.limits import age_sentence, limits
from kubesched.reports.machine import as_csv, as_json, as_jsonl, json_line, json_text
from kubesched.reports.markdown import as_markdown
from kubesched.reports.page import Align, Cell, Check, Column, Level, Page, Paragraph, Part, Row, Table
from kubesched.reports.shown import Shown, as_text, page_of
from kubesched.reports.text import print_page

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
    "Shown",
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
    "data_frame",
    "fold",
    "json_line",
    "json_text",
    "limits",
    "page_of",
    "print_page",
]
