"""What a student's code displayed, made safe to show: it was made by the student's side, and can be anything.

Markdown cells are the student's as well. They stay as they are here, and are cleaned where they are rendered:
in `course.grading.feedback`, and by JupyterLab and the formgrader themselves.
"""

from collections.abc import Iterator
from typing import Any

from course.building.nodes import node
from course.grading.rebuilding.frame import text_output
from course.grading.sanitizer import picture, sanitized, without_pictures
from course.text import printable

MOST_OUTPUTS = 500  # of one cell
LONGEST_TEXT = 1_000_000
LONGEST_HTML = 100_000  # of one output
MOST_HTML = 500_000  # of one notebook
LONGEST_ALT = 2_000

_LEFT_OUT = "[A display of another kind was left out.]"


class Cleaner:
    """Cleans the outputs of one notebook, cell by cell."""

    def __init__(self) -> None:
        self._html_left = MOST_HTML

    def clean(self, outputs: list[Any]) -> list[Any]:
        """The outputs of a cell as a notebook's nodes: text, pictures, and tables without anything active.

        Takes anything; what is no output is left out.
        """
        cleaned = [output for raw in outputs[:MOST_OUTPUTS] for output in self._cleaned(raw)]
        more = len(outputs) - MOST_OUTPUTS
        return [*cleaned, *([text_output(f"[{more} more outputs were left out.]\n")] if more > 0 else [])]

    def _cleaned(self, raw: object) -> Iterator[Any]:
        match raw:
            case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": str(text)}:
                yield text_output(printable(text, LONGEST_TEXT), name)
            case {
                "output_type": "error",
                "ename": str(name),
                "evalue": str(message),
                "traceback": list(lines),
            }:
                yield node(
                    {
                        "output_type": "error",
                        "ename": printable(name, 200),
                        "evalue": printable(message, 10_000),
                        "traceback": [
                            printable(line, 20_000) for line in lines[:200] if isinstance(line, str)
                        ],
                    }
                )
            case {"output_type": "display_data" | "execute_result" as kind, "data": dict(data), **others}:
                shown = self._bundle(data)
                output = {"output_type": kind, "data": shown, "metadata": _alt(others.get("metadata"), shown)}
                if kind == "execute_result":
                    output["execution_count"] = None
                yield node(output)

    def _bundle(self, data: dict[Any, Any]) -> dict[str, str]:
        """What may be shown of a display's forms."""
        forms = {kind: text for kind, value in data.items() if (text := _joined(value)) is not None}
        shown: dict[str, str] = {}
        # An object's own source says more than "<IPython.core.display.Markdown object>".
        for kind in ("text/markdown", "text/latex", "text/plain"):
            if kind in forms and "text/plain" not in shown:
                shown["text/plain"] = printable(forms[kind], LONGEST_TEXT)
        if "text/html" in forms:
            shown |= self._html(forms["text/html"])
        for kind in ("image/png", "image/jpeg"):
            if kind in forms and (found := picture(kind, forms[kind])):
                shown[kind] = found
        return shown or {"text/plain": _LEFT_OUT}

    def _html(self, text: str) -> dict[str, str]:
        """A display's HTML as long as there is room for it; its pictures take none."""
        length = len(without_pictures(text))
        if length > min(LONGEST_HTML, self._html_left):
            return {}
        self._html_left -= length
        html = sanitized(text)
        return {"text/html": html} if html and html.strip() else {}


def _joined(value: object) -> str | None:
    """A form's text, which a notebook may keep as a list of lines."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(value)
    return value if isinstance(value, str) else None


def _alt(metadata: object, shown: dict[str, str]) -> dict[str, Any]:
    """The text alternatives of the pictures, and nothing else of the metadata."""
    if not isinstance(metadata, dict):
        return {}
    kept: dict[str, Any] = {}
    for kind in ("image/png", "image/jpeg"):
        own = metadata.get(kind)
        alt = own.get("alt") if isinstance(own, dict) else metadata.get("alt")
        if kind in shown and isinstance(alt, str):
            kept[kind] = {"alt": printable(alt, LONGEST_ALT)}
    return kept
