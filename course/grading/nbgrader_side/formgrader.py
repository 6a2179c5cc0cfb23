"""What formgrader shows of students' notebooks, made inert: it runs with the rights of whoever grades."""

from html import escape
from pathlib import Path
from typing import Any

import nbgrader
from markupsafe import Markup
from nbconvert.preprocessors import Preprocessor
from traitlets import Bool

from course.grading.feedback.cleaning import clean_html, plain, prose_html

_NAMES = ("student", "first_name", "last_name")


def markdown_filter(source: str) -> Markup:
    """A Markdown cell as HTML without scripts, and without the ids and classes that formgrader listens to."""
    return prose_html(source)


def html_filter(html: str | bytes) -> Markup:
    """Displayed HTML likewise; what is too much to clean is shown as its text."""
    text = html.decode(errors="replace") if isinstance(html, bytes) else str(html)
    cleaned = clean_html(text)
    return Markup("<pre>{}</pre>").format(plain(text)) if cleaned is None else cleaned


class EscapeNames(Preprocessor):
    """Lets no student's name be markup: formgrader's page puts names between tags as they are."""

    enabled = Bool(True).tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Escape them in what the page is made from."""
        for name in _NAMES:
            if resources.get(name):
                resources[name] = escape(str(resources[name]))
        return nb, resources


# For `c.HTMLExporter.filters`: by the names that nbconvert's templates use.
FILTERS = {"markdown2html": markdown_filter, "clean_html": html_filter}

# For `c.HTMLExporter.extra_template_basedirs`: nbgrader's page for a submission, and before it what replaces
# parts of it.
TEMPLATES = [
    str(Path(__file__).parent / "templates"),
    str(Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"),
]
