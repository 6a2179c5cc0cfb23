"""Memory, processes, disk, output and time, false answers, and what they cost the rest of the notebook."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from attack_bench import FULL, LIMITS, Case, Notebook, place, run

from course.checks.models import HistoryScript, ScriptedModel

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")

SHORT = replace(
    LIMITS, cell_seconds=1.0, cells_seconds=5.0, call_seconds=1.0, checks_seconds=3.0, least_seconds=0.5
)
ACCOUNT_ALONE = 2.0  # the points of `account`, where `generate_batch` never comes back
CHANNEL = """
import gc, json, os, socket, struct
channel = next(item for item in gc.get_objects() if isinstance(item, socket.socket) and item.fileno() >= 0)
channel.settimeout(None)
def say(data):
    channel.sendall(struct.pack('>I', len(data)) + data)
def tell(**message):
    say(json.dumps(message).encode())
"""


def batch(body: str) -> str:
    """A `generate_batch` with this body; `account` stays right."""
    return "def generate_batch(model, prompts, max_new_tokens, end_id, rngs=None):\n    " + body


TAKING = [
    Case(
        "ten gigabytes in a cell", "the whole submission was dropped", last="import numpy\nnumpy.ones(10**10)"
    ),
    Case(
        "ten gigabytes in the function",
        "the checks of the other function count",
        inside=batch("return np.ones(10**10)"),
        score=ACCOUNT_ALONE,
        told=("Unable to allocate",),
    ),
    Case(
        "memory by many processes",
        "each stays below the limit, all together do not",
        last="import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n"
        "        kept = bytearray(90 * 2**20)\n        time.sleep(60)\ntime.sleep(2)",
        told=("it used more than 256 MB of memory",),
    ),
    Case(
        "a fork bomb",
        "the processes of a notebook are counted",
        last="import os, time\nwhile True:\n    try: os.fork()\n    except OSError: time.sleep(0.1)",
        told=("ended the notebook's process",),
    ),
    Case(
        "a thousand threads",
        "they are no processes, and end with theirs",
        last="import threading, time\ntry:\n    for _ in range(1000):\n"
        "        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        "except RuntimeError as error: print(error)",
    ),
    Case(
        "a full disk",
        "each folder that can be written to has a size",
        last="for folder in ('/tmp', '/run/home', '/dev/shm'):\n    try:\n"
        "        with open(folder + '/big', 'wb') as file:\n"
        "            while True: file.write(bytes(10**6))\n"
        "    except OSError as error: print(error)",
    ),
    Case(
        "endless files",
        "each empty, all of them many",
        last="try:\n    for i in range(5000): open(f'/tmp/{i}', 'w').close()\n"
        "except OSError as error: print(error)",
    ),
    Case(
        "files left open",
        "a process has so many and no more",
        inside="kept = []\ninner = account\ndef account(c, e):\n    try:\n"
        "        while True: kept.append(open('/dev/null'))\n    except OSError: kept.clear()\n"
        "    return inner(c, e)",
    ),
    Case(
        "endless output",
        "what is kept of it is bounded",
        last="for i in range(10**5): print('x' * 100)",
    ),
    Case(
        "endless displays",
        "objects instead of text",
        last="from IPython.display import HTML, display\n"
        "for i in range(3000): display(HTML('<b>' * 50))\nHTML('<i>' * 90_000)",
    ),
    Case(
        "output by the function",
        "printing in a check costs nothing but time",
        inside="inner = account\ndef account(c, e):\n    print('x' * 10**6)\n    return inner(c, e)",
    ),
    Case(
        "a warning at each step",
        "plain nbgrader gave 0 of 10 to what writes to stderr",
        inside="import sys, warnings\ninner = account\ndef account(c, e):\n    for i in range(2000):\n"
        "        warnings.warn('x' * 1000)\n        print('careful', file=sys.stderr)\n"
        "    return inner(c, e)",
    ),
    Case(
        "the deepest recursion",
        "with the limit lifted it takes the process down",
        inside=batch("import sys; sys.setrecursionlimit(10**9)\n    f = lambda n: f(n + 1)\n    return f(0)"),
        score=ACCOUNT_ALONE,
    ),
    Case(
        "eleven thousand prefixes asked for at once",
        "the model lives in the process that grades, and nothing interrupts it there",
        inside=batch("model.next_logits([[0]] * 11_000)"),
        score=ACCOUNT_ALONE,
        told=("prefixes at once",),
    ),
    Case(
        "a segmentation fault",
        "no exception can be caught",
        inside=batch("import ctypes; ctypes.string_at(0)"),
        score=ACCOUNT_ALONE,
        told=("could not be run to its end",),
    ),
]
ENDING = [
    Case(
        f"{name} in {where}",
        "a process that ends itself was 0 points for all of it in plain nbgrader",
        **{slot: text},
        score=score,
        told=told,
    )
    for name, what in [
        ("os._exit", "import os; os._exit(0)"),
        ("os.abort", "import os; os.abort()"),
        ("exit", "exit()"),
        ("sys.exit", "import sys; sys.exit(0)"),
        ("kill -9", "import os, signal; os.kill(os.getpid(), signal.SIGKILL); os._exit(1)"),
        ("execv", "import os; os.execv('/bin/true', ['true'])"),
    ]
    for where, slot, text, score, told in [
        ("a cell", "last", what, FULL["masks"], ()),
        (
            "the function",
            "inside",
            batch(what),
            ACCOUNT_ALONE,
            ("generate_batch",) if "exit()" in what else (),
        ),
    ]
    if name in ("os._exit", "exit", "sys.exit", "kill -9") or where == "the function"
]
LYING = [
    Case(
        f"an answer of {name}",
        "the checks read plain values, and say what came instead",
        inside=f"{setup}\ndef generate_batch(*a, **k):\n    return {value}",
        score=ACCOUNT_ALONE,
    )
    for name, setup, value in [
        ("a huge array", "", "np.zeros((1, 2**28)), np.broadcast_to(0, 2**35), np.broadcast_to(True, 2**35)"),
        ("a huge list", "", "[[0] * 10**6] * 3, [0] * 10**6, [0] * 10**6"),
        ("objects in an array", "", "(np.array([object()] * 3),) * 3"),
        ("a list that holds itself", "own = []; own.append(own)", "own, own, own"),
        ("lists in lists", "deep = []\nfor _ in range(900): deep = [deep]", "deep, deep, deep"),
        ("no numbers", "", "[[float('nan')]], [float('nan')], [float('inf')]"),
        ("long integers", "", "[[10**5000]], [10**5000], [2**(2**20)]"),
        (
            "an endless generator",
            "import itertools",
            "itertools.repeat(1), itertools.count(), (i for i in [])",
        ),
        (
            "an object that raises when looked at",
            "class Bad:\n    def __getattribute__(self, name): raise SystemExit\n"
            "    __class__ = property(lambda s: 1 / 0)",
            "[[Bad()]], Bad(), [Bad()]",
        ),
        (
            "a class whose name is markup",
            "Odd = type('<script>alert(1)</script>\\x1b[31m', (), {})",
            "Odd(), Odd(), Odd()",
        ),
        (
            "a date and a record array",
            "",
            "np.array(['2020'], 'M8[D]'), np.zeros(3, 'i4,f8'), np.array(['x'])",
        ),
        ("the model itself", "", "a[0], a[0], [a[0]]"),
        ("half characters", "", "'\\ud800', {'\\udfff': 1}, b'\\xff'"),
    ]
]
OUT_OF_TURN = [
    Case(
        name,
        "the line to the trusted side is in the student's process",
        inside=CHANNEL + batch(f"{body}\n    return [], [], []"),
        score=ACCOUNT_ALONE,
        told=(told,) if told else (),
    )
    for name, body, told in [
        ("garbage on the line", "channel.sendall(b'garbage' * 99)", "answered falsely"),
        (
            "gigabytes on the line",
            "channel.sendall(struct.pack('>I', 2**31) + bytes(9**6))",
            "answered falsely",
        ),
        ("a line closed", "os.close(channel.fileno())", "could not be run to its end"),
        ("a verdict on the line", "tell(status='passed', points=2, result='passed')", "answered falsely"),
        (
            "a question for what is not offered",
            "tell(ask={'number': 0, 'name': '_script'})",
            "generate_batch",
        ),
        ("a question about another model", "tell(ask={'number': 99, 'name': 'n_vocab'})", "answered falsely"),
        (
            "very many odd objects",
            'say(b\'{"arguments": [0, 0, 0, 0], "keywords": {}, "warnings": [], "result": [\' + '
            'b\', \'.join([b\'{"$": "object", "type": "x"}\'] * 50_000) + b\']}\')',
            "",
        ),
        (
            "two answers to one call",
            "tell(result=[[], [], []], arguments=[0] * 4, keywords={}, warnings=[])",
            "",
        ),
    ]
]
PLENTY = [replace(case, start="right masks") for case in (*TAKING, *ENDING, *LYING, *OUT_OF_TURN)]
PLENTY = [replace(case, score=FULL["masks"]) if case.score == -1.0 else case for case in PLENTY]


@pytest.mark.parametrize("case", PLENTY, ids=[f"exhausting: {case.name}" for case in PLENTY])
def test_what_is_right_keeps_its_points(case: Case) -> None:
    """Bug: what one cell or function takes, breaks or tells falsely costs the others their points."""
    run(case)


def loop_at_definition(notebook: Notebook) -> None:
    notebook["cells"][place(notebook, "generate-batch")]["source"] = (
        "def generate_batch(*a, **k):\n    return None\nwhile True:\n    pass"
    )


ENDLESS = [
    Case(
        "one function of two",
        "plain nbgrader took 131 seconds and gave nothing",
        inside=batch("while True: pass"),
        score=ACCOUNT_ALONE,
        told=("without an end",),
    ),
    Case(
        "a loop that cannot be interrupted",
        "except BaseException swallows what would stop it",
        inside=batch(
            "while True:\n        try:\n            while True: pass\n        except BaseException: pass"
        ),
        score=ACCOUNT_ALONE,
        told=("without an end",),
    ),
    Case(
        "a cell that does not end",
        "the cells around it count",
        last="while True: pass",
        score=FULL["masks"],
        told=("was interrupted",),
    ),
    Case(
        "a cell that will not be interrupted",
        "of what it does the definitions count",
        last="import time\nwhile True:\n    try: time.sleep(60)\n    except BaseException: pass",
        score=FULL["masks"],
        told=("could not be interrupted",),
    ),
    Case(
        "a loop behind the definitions",
        "of a solution that was being tried out",
        edit=loop_at_definition,
        score=ACCOUNT_ALONE,
        told=("was interrupted",),
    ),
    Case(
        "a thread that does not end",
        "beside the answers, not in their way",
        last="import threading, time\ndef spin():\n    while True: time.sleep(0.001)\n"
        "threading.Thread(target=spin, daemon=True).start()",
        score=FULL["masks"],
    ),
    Case(
        "a model asked for ever",
        "a model gives up on a loop that asks too often",
        inside=batch("while True:\n        try: model.next_logits([[0]])\n        except RuntimeError: pass"),
        score=ACCOUNT_ALONE,
    ),
    Case(
        "waiting for input",
        "nobody types",
        inside=batch("return input('your answer?')"),
        score=ACCOUNT_ALONE,
        told=("EOFError",),
    ),
]


@pytest.mark.parametrize("case", ENDLESS, ids=[f"exhausting: {case.name}" for case in ENDLESS])
def test_what_does_not_end_costs_itself_only(case: Case) -> None:
    """Bug: an endless loop holds grading up, or takes the points of what is right beside it."""
    run(replace(case, start="right masks"), SHORT)


def test_a_model_makes_up_so_many_rows_and_no_more() -> None:
    """Bug: one question with random prefixes costs the process that grades minutes, and gigabytes."""
    model, draw = ScriptedModel(HistoryScript(60, 0), 256), np.random.default_rng(0)
    batches = (draw.integers(60, size=(100, 6)).tolist() for _ in range(100))
    with pytest.raises(RuntimeError, match="different prefixes"):
        list(map(model.next_logits, batches))


UNCOUNTED = {
    "files without a name": "import os\nfiles = [os.memfd_create(str(i)) for i in range(100)]\n"
    "taken = sum(os.write(file, bytes(4 * 2**20)) for file in files)",
    "shared memory": "import ctypes\nlibc = ctypes.CDLL(None)\n"
    "taken = 100 * 2**20 * sum(libc.shmget(0, 100 * 2**20, 0o1600) != -1 for _ in range(4))",
}


@pytest.mark.parametrize("how", UNCOUNTED)
def test_memory_that_belongs_to_no_process_is_refused(how: str) -> None:
    """Bug: a notebook takes all the memory of the machine in files and segments that the kernel keeps."""
    taking = f"taken = 0\n{UNCOUNTED[how]}\nprint('TOOK', taken)"
    outcome = run(Case(how, "", "right number", last=taking, score=FULL["number"]))
    assert b"TOOK 4" not in outcome.autograded
