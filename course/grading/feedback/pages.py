"""Makes the pages for students and the report for the instructor: the templates' settings and words."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from course.grading.feedback.cleaning import plain, sentence
from course.grading.sanitizer import without_controls

SHARED = Path(__file__).parent / "templates"


def page(folder: Path, template: str, **values: object) -> bytes:
    """A page as UTF-8. Whatever the template is given is escaped, and what HTML cannot hold is replaced.

    folder : of the template; beside it are those that all pages share.
    """
    return without_controls(_environment(folder).get_template(template).render(values)).encode()


@cache
def _environment(folder: Path) -> Environment:
    made = Environment(
        loader=FileSystemLoader([folder, SHARED]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters |= {"number": number, "plain": plain, "sentence": sentence, "count": count}
    made.globals |= {"of": of}
    return made


def number(value: float) -> str:
    """Points without needless zeros."""
    return f"{round(value, 2):g}"


def of(got: float, maximum: float) -> str:
    """ "1 of 2 points", "1 of 1 point"."""
    return f"{number(got)} of {number(maximum)} {'point' if maximum == 1 else 'points'}"


def count(amount: int, one: str, many: str = "") -> str:
    """ "1 student", "2 students"."""
    return f"{amount:,} {one if amount == 1 else many or one + 's'}"
