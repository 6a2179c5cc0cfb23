"""Graded notebooks and their records for the tests of pages, made of the course's masters and the bank."""

import json
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from course.checks import DirectCandidate, checks_of, run_check
from course.files import ROOT
from course.grading.records import CellResult, Finding, Record, Status

RELEASE = ROOT / "release" / "autoregressive-generation"
CANARY = "canary_4711"
LOOP = "05-append-then-predict"
MISCONCEPTIONS = ROOT / "tests" / "submissions" / "misconceptions"


@cache
def results(challenge: str, file: Path) -> tuple[CellResult, ...]:
    """What grading finds in one solution of the bank."""
    namespace: dict[str, Any] = {"__name__": "solution"}
    exec(compile(file.read_text(), file.name, "exec"), namespace)
    candidate = DirectCandidate({name: found for name, found in namespace.items() if callable(found)})
    found = []
    for check in checks_of(challenge):
        result = run_check(check, candidate, 5)
        found.append(
            CellResult(
                f"{challenge}-{check.name}".replace("_", "-"),
                check.name,
                challenge,
                result.points,
                check.points,
                result.status,
                result.misconception,
                result.message,
            )
        )
    return tuple(found)


def output(**data: str) -> dict[str, Any]:
    """A displayed result; `text_plain` stands for text/plain."""
    bundle = {kind.replace("_", "/"): text for kind, text in data.items()}
    return {"output_type": "execute_result", "execution_count": 1, "data": bundle, "metadata": {}}


def cell(source: str, *outputs: dict[str, Any], kind: str = "code", **marks: Any) -> dict[str, Any]:
    """A cell of a notebook file; `marks` are nbgrader's."""
    made: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source}
    if marks:
        made["metadata"]["nbgrader"] = {"grade": False, "solution": False, "task": False} | marks
    if kind == "code":
        made |= {"outputs": list(outputs), "execution_count": None}
    return made


def notebook(*cells: dict[str, Any]) -> bytes:
    """A notebook file."""
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()


def graded_loop(file: Path) -> bytes:
    """Section 5 as grading leaves it: a solution of the bank, hidden tests in place, and outputs."""
    read = json.loads((RELEASE / f"{LOOP}.ipynb").read_bytes())
    for one in read["cells"]:
        marks = one["metadata"].get("nbgrader", {})
        source = "".join(one["source"])
        if marks.get("grade_id") == "generation-loop":
            one["source"] = file.read_text()
            one["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "step 1\nstep 2\n"}]
        if marks.get("grade"):
            one["source"] = f"{source}\n### BEGIN HIDDEN TESTS\n{CANARY} = 1\n### END HIDDEN TESTS"
            told = [f"{CANARY} in a traceback"]
            one["outputs"] = [{"output_type": "error", "ename": "E", "evalue": CANARY, "traceback": told}]
    read["cells"].insert(
        -2, cell("print([generate(model, [0], 3)])", output(text_plain="([1, 2], 'length')"))
    )
    return json.dumps(read).encode()


def record(student: str = "ada", **fields: Any) -> Record:
    """A record of section 5, graded unless told otherwise."""
    given: dict[str, Any] = {
        "assignment": "autoregressive-generation",
        "notebook": LOOP,
        "status": Status.GRADED,
        "score": 6.0,
        "max_score": 11.0,
    } | fields
    return Record(student, **given)


def loop_record(file: Path, student: str = "ada", **fields: Any) -> Record:
    """The record of section 5 for a solution of the bank, its question answered wrongly."""
    why = "B is not it. The draw is made once, from the shares of this prefix."
    question = CellResult("question-one-draw-check", "question 4", None, 0, 1, "failed", None, why)
    cells = (question, *results("generation_loop", file))
    findings = (
        Finding("repair", "The test generation-loop-budget had been edited and was put back."),
        Finding("note", "data.csv came with the notebook and was not used."),
        Finding("problem", "Cell 12 raised NameError: name 'modle' is not defined."),
        Finding("suspicious", "Cell 9 patches numpy.testing."),
    )
    score = float(sum(found.points or 0 for found in cells))
    return record(student, **{"score": score, "cells": cells, "findings": findings} | fields)


class Elements(HTMLParser):
    """The elements of a page, each a tag with its attributes."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def values(self, attribute: str) -> list[str]:
        """Every value of an attribute."""
        return [attributes[attribute] for _, attributes in self.found if attribute in attributes]


def assert_inert(page: bytes) -> None:
    """Nothing on the page runs, and nothing is fetched for it."""
    elements = Elements(page)
    active = {"script", "iframe", "object", "embed", "link", "form", "input", "base", "video", "audio"}
    assert not active & {tag for tag, _ in elements.found}
    assert sum(tag == "style" for tag, _ in elements.found) == 1
    assert not [name for _, attributes in elements.found for name in attributes if name.startswith("on")]
    assert all(address.startswith("data:image/") for address in elements.values("src"))
    assert not [style for style in elements.values("style") if "url" in style or "position" in style]
    assert not [address for address in elements.values("href") if "script:" in address or "data:" in address]


def look_at(browser: Browser, page: bytes, folder: Path) -> list[str]:
    """What axe, a narrow window and the network have to say against a page, with all that is folded open."""
    file = folder / "page.html"
    file.write_bytes(page)
    problems = []
    for width, scheme in ((1280, "light"), (360, "dark")):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
        )
        tab = context.new_page()
        asked: list[str] = []
        tab.on("request", lambda request, asked=asked: asked.append(request.url))
        tab.goto(file.as_uri())
        problems += [f"asks for {url}" for url in asked if url != file.as_uri() and url[:5] != "data:"]
        tab.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
        if (right := tab.evaluate("document.documentElement.scrollWidth")) > width:
            problems.append(f"at {width} pixels it is {right} wide")
        for one in Axe().run(tab).response["violations"]:
            problems += [f"{width}, {scheme}, {one['id']}: {node['html'][:200]}" for node in one["nodes"]]
        context.close()
    return problems
