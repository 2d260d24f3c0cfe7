"""Runs the notebooks of examples/ with plain Python, and writes their outputs: `python -m tests.examples.notebooks`."""

import ast
import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parents[2] / "examples" / "notebooks"
COLUMNS = "110"  # the width of reports in text


def executed(path: Path) -> dict[str, Any]:
    """The notebook with the outputs that its code has now; each cell sees the names of those before, as in Jupyter.

    Its folder has to be the current one.
    """
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = _outputs("".join(cell["source"]), names, count)
    return notebook


def as_text(notebook: dict[str, Any]) -> str:
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _outputs(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, result = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            result = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if result is not None:
        data = {"text/plain": _lines(repr(result))}
        html = getattr(result, "_repr_html_", lambda: None)()
        if html is not None:
            data["text/html"] = _lines(html)
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    os.environ["COLUMNS"] = COLUMNS
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        os.chdir(path.parent)
        path.write_text(as_text(executed(path)), encoding="utf-8")
