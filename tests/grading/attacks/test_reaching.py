"""Reading what is not theirs, writing where they may not, the network, and processes that stay behind."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from attack_bench import (
    ASSIGNMENT,
    FULL,
    HIDDEN,
    MASKS,
    SEED,
    Case,
    Notebook,
    graded_cells,
    job,
    leaks,
    place,
    processes_of,
    run,
    start,
)

from course.files import ROOT
from course.grading.jobs.job import grade

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")

WALK = """
import os
for folder, folders, names in os.walk('/', followlinks=True):
    if folder in ('/usr', '/proc', '/lib', '/lib64', '/bin', '/sbin', {python!r}, {base!r}):
        folders.clear()
        continue
    for name in names:
        path = os.path.join(folder, name)
        try:
            if os.path.isfile(path) and os.path.getsize(path) < 2_000_000:
                text = open(path, errors='replace').read()
                for word in ('canary' + '_', 'HIDDEN' + ' TESTS', 'correct:' + ' true', 'History' + 'Script'):
                    if word in text:
                        print('FOUND', path, text[:5000])
        except OSError:
            pass
"""


def opened(*paths: object) -> str:
    """Code that prints what is in files, and what lies beside them."""
    lines = ["import os, glob"]
    for path in map(str, paths):
        lines += [
            f"for path in glob.glob({path!r}, recursive=True) or [{path!r}]:",
            "    try: print('FOUND', open(path, 'rb').read()[:4000])",
            "    except OSError as error: print(type(error).__name__)",
        ]
    return "\n".join(lines)


READING = [
    Case(
        "the source of the cell before",
        "print(In[-1]) showed the hidden test in plain nbgrader",
        inside="inner = account\ndef account(c, e):\n    print(In[-1], In, Out)\n    return inner(c, e)",
        last="print(In[-2]); print('\\n'.join(In)); get_ipython().run_line_magic('history', '-t')",
    ),
    Case(
        "the source of require",
        "inspect reads a function's file",
        last="import inspect\nfrom course.checks import require\nprint(inspect.getsource(require))",
        told=("imports the checks",),
    ),
    Case(
        "the source of what calls",
        "inspect.stack shows the caller's lines",
        inside="import inspect\ninner = account\nseen = []\ndef account(c, e):\n"
        "    seen.extend(map(str, inspect.stack()))\n    raise ValueError(' '.join(seen)[-290:])",
    ),
    Case(
        "every string in memory",
        "a canary of the master, or a check, in the process that runs the student's code",
        last="import gc, sys\nwords = ('canary' + '_', 'History' + 'Script', 'lettered')\n"
        "for item in gc.get_objects():\n    text = item if isinstance(item, str) else None\n"
        "    values = list(item.values()) if type(item) is dict else [text]\n"
        "    for value in values:\n"
        "        if type(value) is str and any(word in value for word in words) and 'words' not in value:\n"
        "            print('FOUND', value[:500])",
    ),
    Case(
        "the course's folders",
        "the masters and the questions lie beside the class",
        last=opened(
            ROOT / "source" / "questions.yaml",
            ROOT / "source" / ASSIGNMENT / "*.md",
            ROOT / "build" / "source" / ASSIGNMENT / f"{MASKS}.ipynb",
            ROOT / "course" / "checks" / "**" / "*.py",
            ROOT / "nbgrader_config.py",
            ROOT / "notebooks" / "*.ipynb",
        ),
        told=(f"opened {ROOT}",),
    ),
    Case(
        "the course beside decoder_lib",
        "the folder that the imports come from",
        last="import decoder_lib, course, pathlib\n"
        "for base in {*map(str, course.__path__), str(pathlib.Path(decoder_lib.__file__).parents[1])}:\n"
        "    for path in pathlib.Path(base).rglob('*'):\n"
        "        if 'checks' in str(path) and path.is_file() and path.name != 'candidate.py':\n"
        "            print('FOUND', path, path.read_bytes()[:900])",
    ),
    Case(
        "everything below the root",
        "whatever the sandbox shows, none of it is secret",
        last=WALK.format(python="/run/python", base=sys.base_prefix),
    ),
    Case(
        "the environment",
        "a token of the instructor, or the seed",
        last="import os\nprint(dict(os.environ))\n!env\n"
        + opened("/proc/self/environ", "/proc/1/environ", "/proc/*/environ"),
    ),
    Case(
        "other processes' command lines and memory",
        "/proc/*/cmdline, maps and mem",
        last="!ps aux\n" + opened("/proc/*/cmdline", "/proc/1/mem", "/proc/2/maps", "/proc/self/mem"),
        told=("opened /proc/",),
    ),
    Case(
        "the seed of the checks",
        "the worker's generators are seeded, but with another number",
        last="import numpy as np, random\n"
        "print(np.random.get_state()[1][:4].tolist(), random.getstate()[1][:4])\n"
        f"state = np.random.get_state()[1].tolist()\nnp.random.seed({SEED + 1} - 1)\n"
        "print('FOUND' if state == np.random.get_state()[1].tolist() else '')",
    ),
    Case(
        "open files of the process",
        "a file that was opened before the sandbox closed",
        last="import os\nfor number in range(256):\n    try: print(number, os.pread(number, 4000, 0))\n"
        "    except OSError: pass",
    ),
    Case(
        "core dumps and debuggers",
        "ptrace, and memory read by another process",
        last="import ctypes, os\nlibc = ctypes.CDLL(None)\n"
        "print([libc.ptrace(16, process, 0, 0) for process in range(2, 50)].count(0), 'processes held')",
    ),
]
NETWORK = [
    Case(
        f"the network by {name}",
        "no way out of the sandbox, and it is told",
        last=f"try:\n    {code}\n    print('FOUND a way out')\n"
        "except Exception as error:\n    print(type(error).__name__)",
        told=(word,),
    )
    for name, code, word in [
        ("a socket", "import socket; socket.create_connection(('192.0.2.1', 80), timeout=2)", "192.0.2.1"),
        (
            "urllib",
            "import urllib.request as u; u.urlopen('http://192.0.2.1/', timeout=2)",
            "uses the network",
        ),
        ("a name", "import socket; socket.getaddrinfo('example.org', 80)", "looked up 'example.org'"),
        (
            "datagrams",
            "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
            "uses the network",
        ),
        (
            "an abstract socket",
            r"import socket; socket.socket(socket.AF_UNIX).connect('\0/tmp/dbus')",
            "uses the network",
        ),
        (
            "the system bus",
            "import socket; socket.socket(socket.AF_UNIX).connect('/run/dbus/system_bus_socket')",
            "uses the network",
        ),
        (
            "another program",
            "import subprocess; subprocess.run(['curl', '-sSm2', 'http://192.0.2.1'], check=True)",
            "starts other programs",
        ),
        (
            "a raw socket",
            "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
            "uses the network",
        ),
        (
            "this machine itself",
            "import socket; socket.create_connection(('127.0.0.1', 22), timeout=2)",
            "127.0.0.1",
        ),
    ]
]


@pytest.mark.parametrize("case", READING, ids=[f"reading: {case.name}" for case in READING])
def test_what_is_not_theirs_cannot_be_read(case: Case) -> None:
    """Bug: hidden tests, answers, other students' work, the seed or a secret of the instructor leak."""
    assert b"FOUND" not in json.dumps(displayed(run(case).autograded)).encode()


@pytest.mark.parametrize("case", NETWORK, ids=[f"reading: {case.name}" for case in NETWORK])
def test_there_is_no_network(case: Case) -> None:
    """Bug: tests are sent away, or solutions fetched."""
    assert "FOUND" not in json.dumps(displayed(run(case).autograded))


def displayed(notebook: bytes) -> list[object]:
    """The outputs of a graded notebook."""
    return [cell.get("outputs", []) for cell in json.loads(notebook)["cells"]]


def test_the_secrets_would_be_found() -> None:
    """Bug: the look for leaks finds nothing even where there is something."""
    made = start("right masks")
    made["cells"].append({**made["cells"][place(made, "account")], "metadata": {}, "id": "x"})
    made["cells"][-1]["source"] = f"print('{HIDDEN}')"
    outcome = grade(job(json.dumps(made).encode(), MASKS))
    found = {place for leak in leaks(outcome, MASKS) for place in [leak.split(" in ")[1]]}
    assert len(found) == 3  # what it printed, its text, and the page


def mentions_of_hidden_tests(notebook: Notebook) -> None:
    for cell in graded_cells(notebook):
        cell["source"] = ["### BEGIN HIDDEN TESTS\n", "print(1)\n", "### END HIDDEN TESTS\n", *cell["source"]]


def test_markers_of_hidden_tests_reveal_nothing() -> None:
    """Bug: a forged marker changes what counts as hidden, and the page shows the rest."""
    run(Case("markers", "", "right masks", edit=mentions_of_hidden_tests, score=FULL["masks"]))


BESIDE = {
    "files": "open(f'{folder}/left', 'w').write('FOUND it')",
    "file 2": "os.write(2, b'FOUND it')",
    "the keyring": "libc.syscall(248, b'user', b'left', b'FOUND it', 8, -4)",
    "an abstract socket": "server = socket.socket(socket.AF_UNIX); server.bind('\\0left'); server.listen()",
    "shared memory": "libc.shmat.restype = ctypes.c_void_p\n"
    "    key = libc.shmget(77, 64, 0o1666)\n    ctypes.memmove(libc.shmat(key, None, 0), b'FOUND it', 8)",
}
LOOK = """
import ctypes, os, socket
libc = ctypes.CDLL(None)
for folder in ('/tmp', '/run/home', '/dev/shm', '/var/tmp', '/run'):
    print([open(folder + '/' + name).read() for name in os.listdir(folder)
           if name == 'left'] if os.path.isdir(folder) else '')
for number in range(2, 256):
    try: print(os.pread(number, 100, 0))
    except OSError: pass
text = ctypes.create_string_buffer(99)
libc.syscall(250, 11, libc.syscall(250, 10, -4, b'user', b'left', 0), text, 99)
libc.shmat.restype = ctypes.c_void_p
key = libc.shmget(77, 64, 0o666)
print(text.value, ctypes.string_at(libc.shmat(key, None, 0), 8) if key >= 0 else '')
try: print(socket.socket(socket.AF_UNIX).connect('\\0left'), 'FOUND')
except OSError: pass
"""


@pytest.mark.parametrize("where", BESIDE)
def test_one_student_leaves_nothing_for_the_next(where: str) -> None:
    """Bug: the next notebook reads what an earlier one left, or is left to a friend."""
    leave = "import ctypes, os, socket\nlibc = ctypes.CDLL(None)\n"
    leave += "for folder in ('/tmp', '/run/home', '/dev/shm'):\n    " + BESIDE[where]
    for last in (leave, LOOK):
        case = Case(where, "", "right number", last=last, score=FULL["number"])
        outcome = run(case)
    assert "FOUND" not in json.dumps(displayed(outcome.autograded))
    assert "create_string_buffer" in outcome.autograded.decode()


WRITING = [
    Case(
        f"writing to {name}",
        "nothing outside the sandbox changes",
        "right masks",
        last=f"try:\n    open({path!r}, 'a').write('x')\nexcept OSError as error:\n    print(error)",
        told=(f"opened {path} to write to it",),
        score=FULL["masks"],
    )
    for name, path in [
        ("the course", str(ROOT / "course" / "checks" / "left-behind.py")),
        ("the release", str(ROOT / "release" / ASSIGNMENT / "left-behind.ipynb")),
        ("Python's packages", str(Path(json.__file__).parent / "left_behind.py")),
        ("decoder_lib", "/run/course/decoder_lib/left_behind.py"),
        ("the root", "/left-behind"),
        ("the gradebook", str(ROOT / "gradebook.db")),
    ]
]


@pytest.mark.parametrize("case", WRITING, ids=[f"writing: {case.name}" for case in WRITING])
def test_nothing_outside_is_written(case: Case) -> None:
    """Bug: a notebook changes the course, the gradebook or what the next notebook imports."""
    path = Path(case.last.split("'")[1])
    before = path.exists()
    run(case)
    assert path.exists() == before


SECONDS = str(10**6 + os.getpid())  # that no other process waits
STAYING = {
    "setsid": f"subprocess.Popen(['sleep', '{SECONDS}'], start_new_session=True)",
    "nohup": f"os.system('nohup sleep {SECONDS} >/dev/null 2>&1 &')",
    "a double fork": "if os.fork() == 0:\n    os.setsid()\n    if os.fork(): os._exit(0)\n"
    f"    os.execvp('sleep', ['sleep', '{SECONDS}'])",
    "signals ignored": "if os.fork() == 0:\n    [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 3, 15)]\n"
    f"    os.execvp('sleep', ['sleep', '{SECONDS}'])",
    "a thread": f"threading.Thread(target=time.sleep, args=({SECONDS},)).start()",
    "multiprocessing": f"multiprocessing.Process(target=time.sleep, args=({SECONDS},)).start()",
    "at the end": f"atexit.register(os.system, 'sleep {SECONDS} &')",
}


@pytest.mark.parametrize("how", STAYING)
def test_no_process_stays_behind(how: str) -> None:
    """Bug: a child of a notebook survives it, or keeps grading waiting for its end."""
    imports = "import atexit, multiprocessing, os, signal, subprocess, threading, time\n"
    run(Case(how, "", "right number", last=imports + STAYING[how], score=FULL["number"]))
    assert processes_of(f"sleep {SECONDS}") == []
