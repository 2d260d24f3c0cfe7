"""Reports of commands: one model, and the formats that are made from it."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.pages.formats.durations import time_words as time_words
    from kubesched.pages.formats.fitting import fold as fold
    from kubesched.pages.formats.format import (
        PATCH as PATCH,
        ROWS_ALONE as ROWS_ALONE,
        RUNBOOK as RUNBOOK,
        SCRIPTS as SCRIPTS,
        WITHOUT_SENTENCES as WITHOUT_SENTENCES,
        Format as Format,
    )
    from kubesched.pages.formats.hand import hand as hand, with_fix as with_fix
    from kubesched.pages.formats.html import as_fragment as as_fragment, as_html as as_html
    from kubesched.pages.formats.junit import as_junit as as_junit
    from kubesched.pages.formats.limits import age_sentence as age_sentence, limits as limits
    from kubesched.pages.formats.machine import (
        as_csv as as_csv,
        as_json as as_json,
        as_jsonl as as_jsonl,
        json_line as json_line,
        json_text as json_text,
    )
    from kubesched.pages.formats.markdown import as_markdown as as_markdown
    from kubesched.pages.formats.model import (
        Align as Align,
        Cell as Cell,
        Check as Check,
        Column as Column,
        Level as Level,
        Page as Page,
        Paragraph as Paragraph,
        Part as Part,
        Plot as Plot,
        Row as Row,
        Table as Table,
        fields as fields,
        grouped as grouped,
        plain as plain,
        version_fields as version_fields,
        workload_checks as workload_checks,
    )
    from kubesched.pages.formats.report_of import (
        as_text as as_text,
        figure_of as figure_of,
        html_of as html_of,
        page_of as page_of,
        text_of as text_of,
    )
    from kubesched.pages.formats.script import as_script as as_script
    from kubesched.pages.formats.severities import (
        finding_text as finding_text,
        severity_cell as severity_cell,
        severity_counts as severity_counts,
        worst_level as worst_level,
    )
    from kubesched.pages.formats.text import print_page as print_page
