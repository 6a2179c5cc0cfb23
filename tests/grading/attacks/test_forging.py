"""Forged marks: a wrong solution keeps the points it has, whatever else it does, and gains none."""

import copy
import shutil

import pytest
from attack_bench import FULL, MASKS, Case, Notebook, code, graded_cells, place, plain_score, run

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")

EVERYTHING = """
class Everything:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __contains__ = __lt__
    def __hash__(self): return 0
    def __bool__(self): return True
    def __len__(self): return 2
    def __getitem__(self, index): return self
    def __iter__(self): return iter([self, self])
    def __int__(self): return 1
    __index__ = __int__
    def __float__(self): return 1.0
    def __array__(self, *a, **k): return np.ones(2)
    def __getattr__(self, name): return self
    def __call__(self, *a, **k): return self
"""
CHANNEL = """
import gc, json, socket, struct, threading, time
channel = next(item for item in gc.get_objects() if isinstance(item, socket.socket) and item.fileno() >= 0)
def tell(**message):
    data = json.dumps(message).encode()
    channel.sendall(struct.pack(">I", len(data)) + data)
"""
PASSED = "CheckResult('stop_masks', 'tokens', 'generate_batch', 2, 2, 'passed')"


def blank_tests(notebook: Notebook) -> None:
    for cell in graded_cells(notebook):
        cell["source"] = ""


def easy_tests(notebook: Notebook) -> None:
    for cell in graded_cells(notebook):
        cell["source"] = "assert True"


def deleted_tests(notebook: Notebook) -> None:
    notebook["cells"] = [cell for cell in notebook["cells"] if cell not in graded_cells(notebook)]


def many_points(notebook: Notebook) -> None:
    for cell in graded_cells(notebook):
        cell["metadata"]["nbgrader"]["points"] = 500


def text_in_place_of_tests(notebook: Notebook) -> None:
    for cell in graded_cells(notebook):
        cell["cell_type"] = "markdown"
        cell["metadata"]["nbgrader"] |= {"task": True, "solution": True}


def a_bonus_cell(notebook: Notebook) -> None:
    marks = {"grade": True, "grade_id": "bonus", "points": 100, "solution": False, "schema_version": 3}
    notebook["cells"].append(code("100", nbgrader=marks | {"locked": True, "task": False}))


def each_test_four_times(notebook: Notebook) -> None:
    notebook["cells"] += copy.deepcopy(graded_cells(notebook) * 3)


def solution_for_a_person(notebook: Notebook) -> None:
    marks = notebook["cells"][place(notebook, "account")]["metadata"]["nbgrader"]
    marks |= {"grade": True, "points": 50}


def names_of_tests(notebook: Notebook) -> None:
    solution = notebook["cells"][place(notebook, "account")]
    for cell in graded_cells(notebook):
        cell["metadata"], cell["id"] = {}, cell["metadata"]["nbgrader"]["grade_id"]
        cell["source"] = "require = lambda *a, **k: None"
    solution["id"] = "stop-masks-tokens"


def marks_in_the_file(notebook: Notebook) -> None:
    verdict = [{"output_type": "stream", "name": "stdout", "text": "passed: tokens (2 points)\n"}]
    for cell in graded_cells(notebook):
        cell["outputs"], cell["execution_count"] = verdict, 1
        cell["metadata"]["nbgrader"] |= {"score": 2, "auto_score": 2, "manual_score": 2, "extra_credit": 9}
    notebook["metadata"]["nbgrader"] = {"score": 10, "max_score": 1}


def partial_credit(value: str):
    def edit(notebook: Notebook) -> None:
        for cell in graded_cells(notebook):
            cell["source"] = f"import numpy as np\n{value}"

    return edit


CASES = [
    # How cells are read and run
    Case(
        "an input transformer blanks the tests",
        "plain nbgrader gave full marks",
        after="get_ipython().input_transformers_cleanup.append(lambda lines: [])",
        told=("changes how cells are read",),
    ),
    Case(
        "a late input transformer",
        "the other list",
        after="get_ipython().input_transformers_post.append(lambda lines: ['pass\\n'])",
    ),
    Case(
        "an AST transformer removes what asserts",
        "the tree instead of the text",
        after="import ast\nclass Blank(ast.NodeTransformer):\n    def visit_Assert(self, node):\n"
        "        return ast.Pass()\nget_ipython().ast_transformers.append(Blank())",
        told=("changes how cells are read",),
    ),
    Case(
        "run_cell replaced",
        "the shell instead of the kernel",
        after="ip = get_ipython()\nip.run_cell = lambda *a, **k: None",
    ),
    Case(
        "run_cell_async and run_ast_nodes replaced",
        "one step further in",
        after="ip = type(get_ipython())\nip.run_ast_nodes = ip.run_cell_async = None",
    ),
    Case(
        "do_execute replaced",
        "plain nbgrader gave full marks",
        after="get_ipython().kernel.do_execute = lambda *a, **k: {'status': 'ok'}",
    ),
    Case(
        "events before each cell",
        "a hook that every cell runs",
        after="get_ipython().events.register('pre_run_cell', lambda info: setattr(info, 'raw_cell', ''))",
    ),
    Case(
        "errors shown as nothing",
        "set_custom_exc and excepthook hide exceptions",
        after="import sys\nsys.excepthook = lambda *a: None\n"
        "get_ipython().set_custom_exc((BaseException,), lambda *a, **k: None)\n"
        "get_ipython().showtraceback = get_ipython()._showtraceback = lambda *a, **k: None",
    ),
    # What a test could compare with
    Case(
        "results that equal everything",
        "6 of 10 in plain nbgrader",
        inside=EVERYTHING + "account = generate_batch = lambda *a, **k: Everything()",
        score=0.0,
    ),
    Case(
        "parts that equal everything",
        "inside a list of the right length",
        inside=EVERYTHING + "def account(c, e):\n    B = np.shape(c)[1]\n"
        "    return [Everything()] * B, [Everything()] * B\n"
        "def generate_batch(m, p, n, e, rngs=None):\n"
        "    return [Everything()] * len(p), [Everything()] * len(p), [Everything()] * len(p)",
        score=0.0,
    ),
    Case(
        "numbers and lists that equal everything",
        "subclasses get through isinstance",
        inside="class Any(int):\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n"
        "    __hash__ = int.__hash__\n    __index__ = __int__ = lambda s: Any(1)\n"
        "class Many(list):\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\n"
        "    __len__ = lambda s: 0\n"
        "def account(c, e):\n    B = np.shape(c)[1]\n    return Many([Any(77)] * B), Many([Any(77)] * B)",
    ),
    Case(
        "an array that equals everything",
        "a subclass of NumPy's array",
        inside="class Any(np.ndarray):\n    __eq__ = lambda s, o: np.True_\n"
        "    __ne__ = lambda s, o: np.False_\n"
        "    __array_ufunc__ = lambda *a, **k: np.True_\n    __array_function__ = lambda *a, **k: True\n"
        "def account(c, e):\n    B = np.shape(c)[1]\n"
        "    return np.full(B, 77).view(Any), np.full(B, 77).view(Any)",
    ),
    Case(
        "numpy.testing patched",
        "the points of that test in plain nbgrader",
        after="import numpy.testing as t\n"
        "for name in dir(t):\n    if name.startswith('assert'):\n"
        "        setattr(t, name, lambda *a, **k: None)",
        told=("replaces a part of numpy.testing",),
    ),
    Case(
        "NumPy's comparisons patched",
        "array_equal and allclose say yes",
        after="np.array_equal = np.allclose = np.isclose = np.all = lambda *a, **k: True",
    ),
    Case(
        "abs and sum redefined",
        "the points of that test in plain nbgrader",
        after="import builtins\nbuiltins.abs = builtins.sum = lambda *a: 0",
        told=("it replaces builtins.abs",),
    ),
    Case(
        "AssertionError swallowed",
        "an assert that raises something that is caught",
        after="import builtins\nclass Quiet(Exception):\n    pass\nbuiltins.AssertionError = Quiet",
    ),
    Case(
        "isinstance and len say what is asked for",
        "redefined for the whole process, the part that answers the checks included",
        after="import builtins\nbuiltins.len = lambda x: 4\nbuiltins.isinstance = lambda *a: True",
    ),
    # The tests themselves
    Case("blanked test cells", "the originals count", edit=blank_tests, told=("had been edited",)),
    Case("edited test cells", "the originals count", edit=easy_tests, told=("had been edited",)),
    Case("deleted test cells", "the originals are put back", edit=deleted_tests, told=("was put back",)),
    Case(
        "500 points", "points are the master's", edit=many_points, told=("`points` had been changed to 500",)
    ),
    Case("test cells turned into text", "type and kind are the master's", edit=text_in_place_of_tests),
    Case("a graded cell of one's own", "there is no bonus", edit=a_bonus_cell),
    Case(
        "each test cell four times",
        "points are given once",
        edit=each_test_four_times,
        told=("more than once",),
    ),
    Case(
        "the solution marked for a person",
        "it would wait for a mark that nobody expects",
        edit=solution_for_a_person,
        told=("`grade` had been changed",),
    ),
    Case("names of tests given to other cells", "ids are claims, too", edit=names_of_tests),
    Case("marks written into the file", "old outputs and scores are not read", edit=marks_in_the_file),
    *(
        Case(f"partial credit of {value}", "full credit in plain nbgrader", edit=partial_credit(value))
        for value in ("float('nan')", "-5", "np.float64(1.0)", "True", "None", "10**400")
    ),
    # The checks
    Case(
        "a `require` of one's own",
        "the hidden line calls it by that name",
        after="require = require_answer = lambda *a, **k: print('passed')",
    ),
    Case(
        "a fake course.checks",
        "the hidden line imports it by that name",
        after="import sys, types\nfake = types.ModuleType('course.checks')\n"
        "fake.require = fake.require_answer = fake.run_check = lambda *a, **k: None\n"
        "sys.modules['course.checks'] = fake",
    ),
    Case(
        "the door to the functions forged",
        "it runs in the same process as the student's code",
        after="import sys\nfrom course.checks import candidate\n"
        "candidate.DirectCandidate.call = lambda s, f, *a, **k: "
        "candidate.Call(([1], [1], [True]), a, k, (), False)\n",
        score=0.0,
    ),
    Case(
        "a passed result returned",
        "nothing that comes back is a verdict",
        inside="class CheckResult:\n    def __init__(self, *a): self.points, self.status = 2, 'passed'\n"
        f"account = generate_batch = lambda *a, **k: {PASSED}",
        score=0.0,
    ),
    Case(
        "points sent along with an answer",
        "keys that nobody asked for",
        after="from course.grading.inside.serving import Serving\nold = Serving._call\n"
        "def more(self, message):\n    return old(self, message) | {'points': 10, 'status': 'passed', "
        "'passed': True, 'score': 10, 'attempts': ['passed every check']}\nServing._call = more",
    ),
    Case(
        "an answer before the question",
        "a thread talks on the same line; the worker is ended, and the cells before it count",
        after=CHANNEL + "tell(result=[[2, 3], [True, True]], arguments=[0, 0], keywords={}, warnings=[])",
        told=("Cell",),
    ),
    Case(
        "a passed line printed by the function",
        "what a function prints goes nowhere",
        inside="inner = account\ndef account(c, e):\n    print('passed: account_lengths (1 point)')\n"
        "    return inner(c, e)",
    ),
    Case(
        "a passed check raised",
        "an exception is no verdict either",
        inside="class Passed(SystemExit):\n    pass\ndef account(c, e):\n    raise Passed(0)\n"
        "def generate_batch(*a, **k):\n    raise Passed('passed')",
        score=0.0,
    ),
    Case(
        "the right answers looked for in frames",
        "the caller's variables are not there",
        inside="import sys\ndef steal():\n    frame = sys._getframe()\n    while frame:\n"
        "        for name in ('expected', 'alone', 'right', 'answer'):\n"
        "            if name in frame.f_locals: return frame.f_locals[name]\n        frame = frame.f_back\n"
        "inner = account\ndef account(c, e):\n    return steal() or inner(c, e)",
        told=("reads the variables of other code",),
    ),
    Case(
        "the right answers looked for in memory",
        "no object of the checks is there",
        inside="import gc\ninner = account\ndef account(c, e):\n    for item in gc.get_objects():\n"
        "        if type(item).__name__ in ('Check', 'Case', 'Question', 'ScriptedModel'):\n"
        "            return item.expected\n    return inner(c, e)",
    ),
    Case(
        "the model's record wiped",
        "only what is offered can be reached",
        inside="inner = generate_batch\ndef generate_batch(model, *a, **k):\n"
        "    for name in ('calls', 'batches', '_script', '_most_calls'):\n"
        "        try: getattr(model, name).clear()\n        except AttributeError: pass\n"
        "        model.__dict__[name] = []\n    return inner(model, *a, **k)",
    ),
    Case(
        "the stand-in of the model replaced",
        "what it says is the student's own affair",
        inside="inner = generate_batch\ndef generate_batch(model, *a, **k):\n"
        "    type(model).__getattr__ = lambda s, n: 3\n    return inner(model, *a, **k)",
        score=0.0,
    ),
    Case(
        "a copy of the process answers",
        "os.fork in a function: two answers to one question",
        inside="import os\ninner = account\ndef account(c, e):\n    os.fork()\n    return inner(c, e)",
    ),
    Case(
        "code watched while it runs",
        "settrace sees the student's side only",
        after="import sys, threading\n"
        "def watch(frame, event, arg):\n    frame.f_locals.update(points=10)\n    return watch\n"
        "sys.settrace(watch)",
    ),
    # Questions
    Case(
        "a string that is every letter",
        "an object in place of an answer",
        "wrong letter",
        inside="class Every(str):\n    __eq__ = lambda s, o: True\n    __hash__ = str.__hash__\n"
        "    strip = upper = __str__ = lambda s: Every('E')\nanswer_which_row_predicts = Every('A')",
        told=("A is not it",),
    ),
    Case(
        "every letter at once",
        "one answer counts",
        "wrong letter",
        inside="answer_which_row_predicts = 'ABCDE'",
    ),
    Case(
        "a list of every letter",
        "one answer counts",
        "wrong letter",
        inside="answer_which_row_predicts = list('ABCDE')",
    ),
    Case(
        "a number near everything",
        "its difference to the right one is always 0",
        "wrong number",
        inside="class Near(float):\n    __sub__ = __rsub__ = __abs__ = lambda s, *o: 0.0\n"
        "    __le__ = __lt__ = lambda s, o: True\nanswer_picks_for_a_reply = Near(52)",
    ),
    *(
        Case(
            f"an answer of {value}",
            "no comparison with it may succeed or raise",
            "wrong number",
            inside=f"import numpy as np\nanswer_picks_for_a_reply = {value}",
        )
        for value in ("float('nan')", "float('inf')", "10**400", "np.longdouble('1e4000')", "40j", "'40'")
    ),
    Case(
        "a letter of five thousand digits",
        "Python refuses to write such a number out",
        "wrong letter",
        inside="answer_which_row_predicts = [10**5000]",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[f"forging: {case.name}" for case in CASES])
def test_an_attack_gains_nothing(case: Case) -> None:
    """Bug: a wrong solution gets a point by something else than being right, or takes grading down."""
    run(case)


@pytest.mark.parametrize("name", ["wrong masks", "wrong loop", "wrong number", "wrong letter"])
def test_the_wrong_solutions_leave_something_to_gain(name: str) -> None:
    """Bug: the cases above start from full marks, or from nothing at all, and so show nothing."""
    score = plain_score(name)
    assert score is not None
    assert score < FULL[name.split()[1]]
    assert score > 0 or name.split()[1] not in ("masks", "loop")


HONEST = [
    Case(
        "an equality of one's own",
        "a class with __eq__ in a right solution",
        "right masks",
        first="class Row:\n    def __eq__(self, other):\n        return True\nrow = Row() == 3",
    ),
    Case(
        "require defined for something else",
        "a name that the hidden line uses as well",
        "right masks",
        first="def require(condition, text):\n    assert condition, text\nrequire(True, 'fine')",
    ),
    Case(
        "a try around everything",
        "careful code is no attack",
        "right masks",
        inside="inner = account\ndef account(choices, end_id):\n    try:\n"
        "        return inner(choices, end_id)\n    except Exception:\n        raise",
    ),
    Case(
        "a counter of calls",
        "a global that grows, and a wrapper",
        "right masks",
        inside="from functools import wraps\ncalls = []\ndef counted(f):\n    @wraps(f)\n"
        "    def inner(*a, **k):\n        calls.append(1)\n        return f(*a, **k)\n    return inner\n"
        "account, generate_batch = counted(account), counted(generate_batch)",
    ),
    Case(
        "subclasses of int and list returned",
        "bool and IntEnum are such",
        "right masks",
        inside="class Token(int):\n    pass\nclass Tokens(list):\n    pass\ninner = generate_batch\n"
        "def generate_batch(*a, **k):\n    rows, lengths, finished = inner(*a, **k)\n"
        "    return Tokens(Tokens(map(Token, row)) for row in rows), lengths, finished",
    ),
]


@pytest.mark.parametrize("case", HONEST, ids=[f"honest: {case.name}" for case in HONEST])
def test_what_looks_like_an_attack_keeps_its_points(case: Case) -> None:
    """Bug: a right solution loses a point because it looks like tampering."""
    assert case.notebook == MASKS
    run(Case(**(vars(case) | {"score": FULL["masks"]})))
