"""Honest faults: what editors, uploads and slips do to a notebook that was right."""

import copy
import json
import shutil
import unicodedata

import nbformat
import pytest
from attack_bench import FULL, Case, Notebook, code, graded_cells, named, place, run, start

from course.grading.records import Status

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")


def doubled(notebook: Notebook) -> None:
    index = place(notebook, "account")
    notebook["cells"].insert(index, copy.deepcopy(notebook["cells"][index]))


def doubled_as_handed_out(notebook: Notebook) -> None:
    stub = copy.deepcopy(named(notebook, "account"))
    stub["source"] = "def account(choices, end_id):\n    raise NotImplementedError"
    notebook["cells"].insert(place(notebook, "account"), stub)


def split(notebook: Notebook) -> None:
    index = place(notebook, "account")
    head, mark, tail = notebook["cells"][index]["source"].partition("def generate_batch")
    notebook["cells"][index]["source"] = head
    notebook["cells"].insert(index + 1, code(mark + tail))


def split_with_metadata(notebook: Notebook) -> None:
    split(notebook)
    index = place(notebook, "account")
    notebook["cells"][index + 1]["metadata"] = copy.deepcopy(notebook["cells"][index]["metadata"])


def merged(notebook: Notebook) -> None:
    index = place(notebook, "account")
    notebook["cells"][index]["source"] += "\n" + notebook["cells"][index + 1]["source"]
    del notebook["cells"][index + 1]


def merged_with_a_test(notebook: Notebook) -> None:
    index, test = place(notebook, "account"), graded_cells(notebook)[0]
    test["source"] = notebook["cells"][index]["source"] + "\n" + "".join(test["source"])
    del notebook["cells"][index]


def solution_cells_gone(notebook: Notebook) -> None:
    index = place(notebook, "account")
    notebook["cells"][index] = code(notebook["cells"][index]["source"])


def set_up_gone(notebook: Notebook) -> None:
    del notebook["cells"][place(notebook, "set-up-12")]


def reordered(notebook: Notebook) -> None:
    notebook["cells"].reverse()


def below_the_tests(notebook: Notebook) -> None:
    tests = graded_cells(notebook)
    notebook["cells"] = tests + [cell for cell in notebook["cells"] if cell not in tests]


def retyped(notebook: Notebook) -> None:
    named(notebook, "account")["cell_type"] = "markdown"


def raw_test(notebook: Notebook) -> None:
    graded_cells(notebook)[0]["cell_type"] = "raw"


def without_metadata(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"] = {}


def without_metadata_and_ids(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        cell.pop("id", None)
    notebook["nbformat_minor"] = 4


def odd_metadata(notebook: Notebook) -> None:
    for index, cell in enumerate(notebook["cells"]):
        if not cell["metadata"].get("nbgrader"):
            cell["metadata"] = [None, 3, "x", [], {"nbgrader": 3}, {"nbgrader": {"grade_id": []}}][index % 6]
        else:
            cell["metadata"]["nbgrader"] |= {"points": [1], "schema_version": 99, "locked": "yes", "x": {}}
            cell["metadata"]["tags"] = {"a": 1}
    notebook["metadata"] = {"kernelspec": [], "language_info": 7, "widgets": {"x": None}}


def other_kernel(notebook: Notebook) -> None:
    notebook["metadata"]["kernelspec"] = {"name": "conda-env-py39", "display_name": "x", "language": "python"}


def kernel_of_another_language(notebook: Notebook) -> None:
    notebook["metadata"]["kernelspec"] = {"name": "ir", "display_name": "R", "language": "R"}
    notebook["metadata"]["language_info"] = {"name": "R"}


def with_outputs(notebook: Notebook) -> None:
    for index, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            cell["execution_count"] = index
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 200_000}]


def broken_outputs(notebook: Notebook) -> None:
    for cell in notebook["cells"]:
        cell["outputs"], cell["execution_count"] = "none", "7"
        cell["attachments"] = 3


def format_3(notebook: Notebook) -> bytes:
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    old = nbformat.convert(nbformat.from_dict(notebook), to_version=3)
    return nbformat.writes(old, version=3).encode()


def format_4(minor: int):
    def edit(notebook: Notebook) -> None:
        notebook["nbformat_minor"] = minor
        for cell in notebook["cells"]:
            cell.pop("id", None)

    return edit


def minor_of_the_future(notebook: Notebook) -> None:
    notebook["nbformat_minor"] = 99
    for cell in notebook["cells"]:
        cell["new"] = {"of": "the future"}


def encoded(encoding: str, before: bytes = b""):
    return lambda notebook: before + json.dumps(notebook, ensure_ascii=False).encode(encoding)


def windows_line_ends(notebook: Notebook) -> bytes:
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")
    return json.dumps(notebook, indent=1).replace("\n", "\r\n").encode()


def tabs(notebook: Notebook) -> None:
    cell = named(notebook, "account")
    cell["source"] = cell["source"].replace("    ", "\t")


def accents(notebook: Notebook) -> None:
    cell = named(notebook, "account")
    cell["source"] = unicodedata.normalize("NFD", "# é ü ñ 你好 🙂\nlängen = 3\n") + cell["source"]


def many_cells(notebook: Notebook) -> None:
    notebook["cells"] += [code(f"x{i} = {i}") for i in range(300)]


def bytes_of(data: bytes):
    return lambda notebook: data


def cut(share: float):
    def edit(notebook: Notebook) -> bytes:
        data = json.dumps(notebook).encode()
        return data[: int(len(data) * share)]

    return edit


FULL_MASKS = FULL["masks"]
KEEPS = [
    Case("a solution cell twice", "copy and paste ended a whole run", edit=doubled, told=("more than once",)),
    Case("the stub beside the solution", "the one worked on counts", edit=doubled_as_handed_out),
    Case("a solution split in two", "both halves run", edit=split),
    Case("a split that copies the metadata", "both halves have the name", edit=split_with_metadata),
    Case("both solutions in one cell", "the other cell is gone", edit=merged, told=("generate-batch",)),
    Case("the solution merged into a test", "what is in a test's cell runs as well", edit=merged_with_a_test),
    Case(
        "the solution in a cell of one's own", "the name is gone, the work is there", edit=solution_cells_gone
    ),
    Case("the first cell deleted", "the set-up is put back", edit=set_up_gone, told=("was put back",)),
    Case("all cells in reverse", "points do not depend on the order", edit=reordered),
    Case("the tests on top", "points do not depend on the order", edit=below_the_tests),
    Case(
        "the solution turned into text", "it counts as code", edit=retyped, told=("turned into a markdown",)
    ),
    Case("a test turned into raw text", "it counts as a test", edit=raw_test, told=("turned into a raw",)),
    Case("all metadata lost", "ids tell the cells as well", edit=without_metadata),
    Case("metadata and ids lost", "what is defined is graded", edit=without_metadata_and_ids),
    Case("metadata of odd types", "nothing of them is used", edit=odd_metadata),
    Case("another kernel", "the master's counts", edit=other_kernel),
    Case(
        "a kernel for R", "it is said, and runs as Python", edit=kernel_of_another_language, told=("for r",)
    ),
    Case("saved with outputs", "large ones, too", edit=with_outputs),
    Case("broken outputs", "they are not read", edit=broken_outputs),
    Case("format 3", "converted", edit=format_3),
    Case("format 4.0", "without ids", edit=format_4(0)),
    Case("format 4.4", "without ids", edit=format_4(4)),
    Case("format 4.99", "what it adds is not used", edit=minor_of_the_future),
    Case("a byte order mark", "Windows editors write one", edit=encoded("utf-8-sig")),
    Case("Windows line ends", "in the file and in the cells", edit=windows_line_ends),
    Case("tabs for spaces", "an editor's setting", edit=tabs),
    Case("accents and emoji", "decomposed ones as well", edit=accents),
    Case("three hundred extra cells", "none of them is in the way", edit=many_cells),
    Case(
        "warnings and prints", "0 of 10 in plain nbgrader", inside="import sys\nprint('x', file=sys.stderr)"
    ),
    Case("exit() in a cell", "it ends nothing", after="exit()"),
    Case(
        "a result that is named like the function",
        "the function was there before",
        last="account = account([[1], [0]], 0)",
    ),
    Case("all names deleted", "they were there before", last="%reset -f"),
    Case(
        "globals named like those of visible tests",
        "a test's names are not the student's",
        inside="if prompts is None or lengths != 3: raise RuntimeError",
        first="prompts, lengths, found = [], 3, 0",
    ),
    Case("a syntax error in an extra cell", "it costs nothing", after="def half(:"),
    Case("an error in an extra cell", "it costs nothing", first="1 / 0"),
    Case("a null character in an extra cell", "no Python", after="x = '\0'"),
    Case(
        "a magic and a plot",
        "as in a notebook",
        first="%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()",
    ),
    Case(
        "a widget",
        "there is nobody to move it",
        after="from ipywidgets import interact\n@interact(n=(0, 9))\ndef show_it(n=3): print(n)",
    ),
    Case(
        "a helper defined later",
        "it is there when the function is called",
        inside="helped = account\ndef account(c, e): return later(c, e)",
        last="def later(c, e): return helped(c, e)",
    ),
    Case("a helper defined before", "in a cell of its own", first="def stop(row): return row == 2"),
    Case(
        "a global variable",
        "it lives from call to call",
        inside="count = 0\ninside = account\n"
        "def account(c, e):\n    global count\n    count += 1\n    return inside(c, e)",
    ),
    Case("installing a package", "there is no network, and no need", first="%pip install numpy"),
    Case("a shell command", "and its output", after="!ls"),
    Case("await at the top", "notebooks can", after="import asyncio\nawait asyncio.sleep(0)"),
    Case("a name of a cell's magic", "%%capture hides what it prints", after="%%capture out\nprint(3)"),
    Case(
        "printing options changed",
        "they are the notebook's own",
        after="np.set_printoptions(precision=1)\nnp.seterr(all='raise')",
    ),
    Case(
        "names of the tests used", "a variable that a visible test sets as well", after="found = prompts = 3"
    ),
]
LOSES_PART = [
    Case(
        "a syntax error in the solution",
        "what is in other cells counts",
        score=0.0,
        inside="def half(:",
        told=("not defined",),
    ),
    Case("a solution that raises halfway", "what is defined before it counts", inside="1 / 0"),
    Case(
        "nothing written",
        "handed in as it was handed out",
        edit=lambda n: n["cells"].__setitem__(
            place(n, "account"),
            {**named(n, "account"), "source": "def account(choices, end_id):\n    raise NotImplementedError"},
        ),
        score=0.0,
    ),
]
REFUSED = [
    Case(
        name,
        "the reason is said, and it is no zero",
        edit=edit,
        score=None,
        status=Status.FAILED,
        told=(told,),
    )
    for name, edit, told in [
        ("an empty file", bytes_of(b""), "is empty"),
        ("only spaces", bytes_of(b" \n" * 9), "is empty"),
        ("half a file", cut(0.5), "cut off"),
        ("all but the last byte", cut(0.99999), "cut off"),
        ("UTF-16", encoded("utf-16"), "UTF-16"),
        ("UTF-16 without a mark", encoded("utf-16-le"), "UTF-16"),
        ("Latin-1", lambda n: accents_in_latin(n), "not text in UTF-8"),
        ("a web page", bytes_of(b"<!DOCTYPE html><title>Log in</title>"), "not a whole notebook"),
        ("a Python file", bytes_of(b"def account(choices, end_id):\n    return 1\n"), "not a whole notebook"),
        ("a zip", bytes_of(b"PK\x03\x04" + bytes(range(256))), "not"),
        ("a list", bytes_of(b"[1, 2]"), "no notebook"),
        ("a number", bytes_of(b"7"), "no notebook"),
        ("cells that are none", bytes_of(b'{"nbformat": 4, "cells": [17]}'), "Cell 1"),
        ("format 5", lambda n: json.dumps(n | {"nbformat": 5}).encode(), "format is 5"),
        ("format true", lambda n: json.dumps(n | {"nbformat": True}).encode(), "format"),
        ("format -1", lambda n: json.dumps(n | {"nbformat": -1}).encode(), "format"),
        ("nested too deeply", bytes_of(b"[" * 100_000), "not a whole notebook"),
        ("another notebook", lambda n: json.dumps(start("right number")).encode(), "None of the cells"),
        (
            "half characters",
            lambda n: json.dumps(n).replace("import numpy", "\\ud800 numpy").encode(),
            "half",
        ),
        ("no cells", lambda n: json.dumps(n | {"cells": []}).encode(), "None of the cells"),
        (
            "thousands of cells",
            lambda n: json.dumps(n | {"cells": [code("1")] * 3000}).encode(),
            "3000 cells",
        ),
        (
            "an endless cell",
            lambda n: json.dumps(n | {"cells": [code("x" * 10**6 + "x")]}).encode(),
            "characters",
        ),
    ]
]


def accents_in_latin(notebook: Notebook) -> bytes:
    notebook["cells"][0]["source"] = "é"
    return json.dumps(notebook, ensure_ascii=False).encode("latin-1", "replace")


def right(case: Case, score: float | None) -> Case:
    """The same, of a right solution."""
    return Case(
        **(vars(case) | {"start": "right masks", "score": score if case.score == -1.0 else case.score})
    )


@pytest.mark.parametrize("case", KEEPS, ids=[f"fault: {case.name}" for case in KEEPS])
def test_a_fault_in_the_file_costs_nothing(case: Case) -> None:
    """Bug: right work loses points, or is lost, by what happened to the file around it."""
    run(right(case, FULL_MASKS))


@pytest.mark.parametrize("case", LOSES_PART, ids=[f"fault: {case.name}" for case in LOSES_PART])
def test_a_fault_in_the_work_costs_what_it_broke(case: Case) -> None:
    """Bug: a slip in one cell ends the notebook, or is passed over."""
    run(right(case, FULL_MASKS))


@pytest.mark.parametrize("case", REFUSED, ids=[f"fault: {case.name}" for case in REFUSED])
def test_what_is_no_notebook_is_no_zero(case: Case) -> None:
    """Bug: a file that cannot be read gets 0 points, ends the run, or its reason is kept back."""
    run(right(case, None))


SLOW_TO_READ = {
    "newlines in a cell that is no Python": code("\n" * 300_000 + "("),
    "a heading of spaces": code("# 1. x" + " " * 300_000 + "x") | {"cell_type": "markdown"},
    "a line of number signs": code("#" * 300_000),
    "a tower of minus signs": code("-" * 90_000 + "1"),
    "a long sum": code("x = 1" + "+1" * 40_000),
    "brackets": code("(" * 90_000),
    "Markdown of brackets": code("[" * 30_000) | {"cell_type": "markdown"},
    "nested quotes": code("> " * 15_000) | {"cell_type": "markdown"},
    "nested tags": code("<ul><li>" * 1_900) | {"cell_type": "markdown"},
}


@pytest.mark.parametrize("name", SLOW_TO_READ)
def test_no_text_takes_grading_for_ever_to_read(name: str) -> None:
    """Bug: a pattern that goes back and forth over a text holds the grader, which nothing interrupts."""

    def with_it(notebook: Notebook) -> None:
        notebook["cells"].insert(0, SLOW_TO_READ[name])

    run(Case(name, "", "right number", edit=with_it, score=FULL["number"]))
