"""What a student's code displays is shown, and nothing in it is active."""

import base64
import json
import re
from html.parser import HTMLParser
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.building.nodes import code_cell, node
from course.grading.jobs.outputs import MOST_HTML, MOST_OUTPUTS, Cleaner
from course.grading.rebuilding.frame import error_output
from course.grading.sanitizer import sanitized

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
JPEG = base64.b64encode(b"\xff\xd8\xff\xe0" + bytes(20) + b"\xff\xd9").decode()


def display(data: object, metadata: object = None) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": metadata or {}}


def clean(*outputs: object) -> list[Any]:
    """The cleaned outputs, of which nbformat has nothing to complain."""
    cleaned = Cleaner().clean(list(outputs))
    cell = code_cell("1", "one", {})
    cell.outputs = cleaned
    notebook = node({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    nbformat.validate(notebook)
    json.dumps(notebook, ensure_ascii=False).encode()
    return cleaned


class Tags(HTMLParser):
    """Every tag and attribute of some HTML, as a browser would find them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


def test_what_notebooks_show_is_kept():
    """Bug: a student's table, picture or colour is gone from the graded notebook."""
    table = '<table border="1"><thead><tr><th>x</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>'
    picture = f'<img alt="a line" src="data:image/png;base64,{PIXEL}">'
    stream, shown, result, error = clean(
        {"output_type": "stream", "name": "stdout", "text": "\x1b[31mred\x1b[0m é\n"},
        display({"text/plain": "x", "text/html": table + picture, "image/png": PIXEL}, {"alt": "a line"}),
        {"output_type": "execute_result", "data": {"text/plain": ["1\n", "2"]}, "execution_count": 7},
        {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": ["\x1b[31mhere"]},
    )
    assert stream.text == "\x1b[31mred\x1b[0m é\n"
    assert table in shown.data["text/html"]
    assert Tags(shown.data["text/html"]).attributes[-2:] == [
        ("alt", "a line"),
        ("src", f"data:image/png;base64,{PIXEL}"),
    ]
    assert shown.data["image/png"] == PIXEL
    assert shown.metadata == {"image/png": {"alt": "a line"}}
    assert (result.data["text/plain"], result.execution_count) == ("1\n2", None)
    assert (error.ename, error.evalue, error.traceback) == ("KeyError", "'x'", ["\x1b[31mhere"])


ACTIVE = {
    "a script": "<script>alert(1)</script>",
    "an open script": "<script>alert(1)",
    "an event": "<img src=x onerror=alert(1)>",
    "a frame": "<iframe src='https://x.example'></iframe>",
    "a form": "<form action='https://x.example'><input name=a><button>b</button></form>",
    "a link": "<a href='javascript:alert(1)'>x</a>",
    "a style sheet": "<style>body { display: none }</style>",
    "an address in a style": "<p style='background: url(https://x.example)'>x</p>",
    "an address where a colour stands": "<p style='background-color: url(https://x.example)'>x</p>",
    "a cover": "<div style='position: fixed; top: 0; left: 0; z-index: 9'>x</div>",
    "a picture from elsewhere": "<img src='https://x.example/a.png'>",
    "a picture with a script": "<img src='data:image/svg+xml;base64,PHN2Zz4='>",
    "a page as a picture": "<img src='data:text/html;base64,PHN2Zz4='>",
    "no picture": "<img src='data:image/png;base64,PHN2Zz4='>",
    "a drawing": "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "mathematics": "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "a hidden script": "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "a comment": "<!--><img src=x onerror=alert(1)>-->",
    "a base": "<base href='https://x.example'><link rel=stylesheet href=x><meta http-equiv=refresh>",
    "an id": "<p id=x class=y name=z>x</p>",
    "an address in disguise": r"<p style='color: u\72l(//x.example); border: 1px \75 rl(//x.example)'>x</p>",
    "an address of a newer kind": "<p style='background-color: src(\"https://x.example\")'>x</p>",
    "a set of pictures": "<p style='border-color: image-set(\"//x.example/a.png\" 1x)'>x</p>",
    "an address written with entities": "<p style='color: &#117;rl(https://x.example)'>x</p>",
    "a drawing in a table": "<table><tr><td><svg><a xlink:href='https://x.example'>x</a></svg></table>",
    "a style in mathematics": "<math><mi><style><!--</style><img title='--><img src=x onerror=alert(1)>'>",
    "a cut-off tag": "<img src=x onerror=alert(1)//",
    "no such picture": "<img src='data:image/gif;base64,R0lGODlhAAAAAA=='>",
}


@pytest.mark.parametrize("name", ACTIVE)
@pytest.mark.parametrize("links", [False, True])
def test_nothing_active_is_left(name, links):
    """Bug: a student's display runs a script at the instructor, asks for a page, or covers the notebook."""
    shown = sanitized(ACTIVE[name], links=links)
    assert shown is not None
    if not links:
        assert clean(display({"text/html": ACTIVE[name], "text/plain": "x"}))[0].data.get(
            "text/html", ""
        ) in (
            shown,
            "",
        )
    found = Tags(shown.replace('<a rel="noopener noreferrer">', ""))
    assert found.tags <= {"p", "img", "div", "table", "tbody", "tr", "td"}
    for attribute, value in found.attributes:
        assert attribute in {"style", "title", "src"}
        assert attribute != "src" or value.startswith("data:image/png;base64,iVBOR")
        assert "example" not in value
    assert not re.search(r"display: none|position|z-index", shown)


@given(st.text(alphabet=st.sampled_from("<>/=\"' !-&;abimgtscrponexdlu:#x01\n\0"), max_size=200))
@settings(max_examples=300, deadline=None)
def test_no_text_at_all_makes_a_tag_that_may_not_be(text):
    """Bug: broken HTML comes out as other HTML than what was checked."""
    cleaned = sanitized(text + "<img src=x onerror=a><script>a</script>" + text)
    assert cleaned is not None
    found = Tags(cleaned)
    assert not found.tags & {
        "script",
        "style",
        "iframe",
        "form",
        "a",
        "svg",
        "object",
        "link",
        "base",
        "meta",
    }
    assert not any(name.startswith("on") or "http" in value for name, value in found.attributes)


def test_only_prose_has_links():
    """Bug: a display sends whoever clicks in it elsewhere, or a source named in prose can't be opened."""
    html = (
        "<a href='https://x.example' target=_top>x</a> <a href='mailto:a@x.example'>y</a> <a href='/z'>z</a>"
    )
    assert sanitized(html) == "x y z"
    rel = 'rel="noopener noreferrer"'
    assert sanitized(html, links=True) == (
        f'<a href="https://x.example" {rel}>x</a> <a href="mailto:a@x.example" {rel}>y</a> <a {rel}>z</a>'
    )


@pytest.mark.parametrize("links", [False, True])
def test_words_tables_and_pictures_of_either_kind_stay(links):
    """Bug: what one of two lists allowed is gone since there is one."""
    gif = base64.b64encode(b"GIF89a\1\0\1\0" + bytes(9)).decode()
    html = (
        '<h2 title="a">a</h2><abbr title="b">b</abbr><samp>c</samp><del>d</del><mark>e</mark><var>f</var>'
        '<table border="1"><caption>g</caption><tbody><tr><th scope="row" colspan="2">h</th></tr>'
        "</tbody></table>"
        '<p style="text-align:center;background-color:#eee">i</p><div role="group" aria-label="j">j</div>'
        f'<img src="data:image/png;base64,{PIXEL}" alt="k" width="9"><img src="data:image/gif;base64,{gif}">'
    )
    assert sanitized(html, links=links) == html


def test_open_elements_do_not_multiply():
    """Bug: fifty kilobytes of a display become a hundred megabytes, and memory runs out."""
    for mark in ("title={}", "'>{}'", 'a="<{}"', "{}"):
        opened = "".join(f"<i {mark.format(number)}>" for number in range(1_200))
        cleaned = sanitized(f"<p>{opened}</p>" + "<p>x" * 1_200)
        assert cleaned is not None
        assert len(cleaned) < 100_000


@given(st.text(alphabet=st.sampled_from("<>/=\"' !-&;abimgtscrponexdlu:#x01\n"), max_size=200))
@settings(max_examples=200, deadline=None)
def test_what_was_cleaned_stays_what_it_is(text):
    """Bug: a browser reads in what was cleaned something else than the cleaner did."""
    cleaned = sanitized(f"<table><b title='{text}'>{text}<p>{text}", links=True)
    assert cleaned is not None
    again, once = Tags(sanitized(cleaned, links=True) or ""), Tags(cleaned)
    assert (again.tags, {name for name, _ in again.attributes}) == (
        once.tags,
        {name for name, _ in once.attributes},
    )


def test_only_pictures_are_pictures():
    """Bug: any bytes are passed on as a picture, or a picture of a size that stops a browser."""
    wide = bytearray(base64.b64decode(PIXEL))
    wide[16:20] = (10**6).to_bytes(4)
    for kind, data in (
        ("image/png", "PHN2Zz4="),
        ("image/png", JPEG),
        ("image/png", "no base64!"),
        ("image/png", base64.b64encode(wide).decode()),
        ("image/png", 7),
        ("image/jpeg", PIXEL),
        ("image/svg+xml", "<svg onload='alert(1)'/>"),
        ("application/javascript", "alert(1)"),
        ("application/vnd.jupyter.widget-view+json", {"model_id": "x"}),
        ("application/pdf", "JVBERi0="),
    ):
        (shown,) = clean(display({kind: data}))
        assert shown.data == {"text/plain": "[A display of another kind was left out.]"}
        (shown,) = clean(display({kind: data, "text/plain": "x"}))
        assert shown.data == {"text/plain": "x"}
    (shown,) = clean(display({"image/jpeg": JPEG, "image/png": PIXEL[:40] + "\n" + PIXEL[40:]}))
    assert shown.data == {"image/jpeg": JPEG, "image/png": PIXEL}


def test_markdown_and_latex_are_shown_as_their_text():
    """Bug: a student's Markdown output is rendered unchecked, or only "<Markdown object>" is left of it."""
    data = {"text/markdown": "**a** <script>", "text/plain": "<IPython.core.display.Markdown object>"}
    (shown,) = clean(display(data))
    assert shown.data == {"text/plain": "**a** <script>"}
    assert clean(display({"text/latex": "$x$"}))[0].data == {"text/plain": "$x$"}


def test_metadata_are_left_out_but_for_the_text_of_a_picture():
    """Bug: metadata that a front end acts on come through."""
    metadata = {"image/png": {"alt": "a line", "width": 10**9}, "isolated": True, "collapsed": True}
    assert clean(display({"image/png": PIXEL}, metadata))[0].metadata == {"image/png": {"alt": "a line"}}
    assert clean(display({"image/png": PIXEL}, {"image/png": {"alt": 7}}))[0].metadata == {}
    assert clean(display({"text/plain": "x"}, {"alt": "a line"}))[0].metadata == {}


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = ["output_type", "name", "text", "data", "metadata", "ename", "evalue", "traceback", "execution_count"]
KINDS = st.sampled_from(["stream", "error", "display_data", "execute_result", "pyout"])
OUTPUTS = (
    ODD
    | st.dictionaries(st.sampled_from(KEYS), ODD | KINDS)
    | st.builds(
        lambda kind, rest: rest | {"output_type": kind},
        KINDS,
        st.fixed_dictionaries(
            {"name": st.sampled_from(["stdout", "stderr", "x"]), "text": st.text(st.characters()) | ODD},
            optional={
                "data": st.dictionaries(st.sampled_from(["text/plain", "text/html", "image/png", "x"]), ODD),
                "ename": st.text(st.characters()),
                "evalue": st.text(st.characters()),
                "traceback": st.lists(st.text(st.characters()) | ODD, max_size=3),
                "metadata": ODD,
            },
        ),
    )
)


@given(st.lists(OUTPUTS, max_size=4))
@settings(max_examples=150, deadline=None)
def test_whatever_the_other_side_sends_makes_a_valid_notebook(outputs):
    """Bug: one student's garbled output is a notebook that nobody can open, or ends the run."""
    clean(*outputs)


def test_much_of_anything_is_cut():
    """Bug: one student's output takes an hour to clean, or a browser to its knees."""
    assert len(clean(*[{"output_type": "stream", "name": "stdout", "text": "x"}] * 5_000)) == MOST_OUTPUTS + 1
    (long,) = clean({"output_type": "stream", "name": "stdout", "text": "x" * 4_000_000})
    assert len(long.text) < 1_100_000
    assert long.text.endswith("[What followed was left out.]\n")
    for html in ("<b>" * 50_000, "<p " + "a=1 " * 200_000 + ">", "&" * 900_000):
        assert sanitized(html) is None
    cleaner = Cleaner()
    piece = display({"text/html": "<p>" + "x" * 90_000, "text/plain": "x"})
    kept = sum("text/html" in cleaner.clean([piece])[0].data for _ in range(20))
    assert kept == MOST_HTML // 90_003


def test_our_own_error_shows_its_message_and_nothing_else():
    """Bug: a check that did not pass shows a traceback, or only the first line of its message."""
    output = error_output("NotPassedError", "edges (0 of 1 point)\nNot right.\ngot: 3")
    assert (output.ename, output.evalue) == ("NotPassedError", "edges (0 of 1 point)")
    assert output.traceback == ["edges (0 of 1 point)", "Not right.", "got: 3"]
