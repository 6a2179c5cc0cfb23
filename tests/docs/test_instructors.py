"""docs/instructors.md: every command in it runs, in order, through one term of a small class.

The class lies in a copy of the course. What a command needs is real: a PostgreSQL server, a Dask scheduler
and its workers, an exchange, files as Canvas and Moodle name them. `sudo` gives no rights here, and `apt`
installs nothing: it says whether it could.
"""

import ast
import csv
import getpass
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from guide import Block, Terminal, blocks_of, first_line_not_said, programs
from nbgrader.api import Gradebook
from traitlets.config import Configurable

from course.cli import main
from course.files import ROOT
from course.grading.records import Status, latest
from course.grading.settings import limits_of, load_settings

# The fixture of the tests of grading: a server, or a skipped test where there is none to start.
_spec = spec_from_file_location("postgresql_of_grading", ROOT / "tests" / "grading" / "postgresql.py")
_module = module_from_spec(_spec)
_spec.loader.exec_module(_module)
postgresql = _module.postgresql

GUIDE = ROOT / "docs" / "instructors.md"
BLOCKS = blocks_of(GUIDE)
COURSE = ASSIGNMENT = "autoregressive-generation"
NOTEBOOK = "05-append-then-predict"
SAMPLE = {
    "while-loop": 11, "recursive": 11, "inverse-cdf": 11, "half-right": 6, "counts-the-prompt": 9,
    "empty": 0, "broken-file": None,
}  # fmt: skip
KNOWN = {"apt", "make", ".", "mkdir", "chmod", "cp", "createuser", "createdb", "course", "nbgrader", "dask"}
PARTS = (
    "course",
    "coursework",
    "decoder_lib",
    "source",
    "release",
    "notebooks",
    "sample_class/answers",
    "sample_class/submitted",
    "tools",
)
FILES = (
    "nbgrader_config.py", "pyproject.toml", "requirements.lock", "environment.yml", "LICENSE", "README.md",
    "Makefile",
)  # fmt: skip
SUDO = """#!/bin/sh
if [ "$1" = -u ]; then export PGUSER="$2"; shift 2; fi
exec "$@"
"""
APT = """#!/bin/sh
command -v apt-get >/dev/null || { echo "no apt-get here"; exit 0; }
exec apt-get --simulate "$@"
"""
USER = getpass.getuser()


class Term:
    """A copy of the course and a home folder, in which the guide's blocks are run one after the other."""

    def __init__(self, root: Path, request: pytest.FixtureRequest) -> None:
        self.request = request
        self.course, self.home, self.exchange = root / "course", root / "home", root / "exchange"
        self._programs = root / "programs"
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        for part in PARTS:
            shutil.copytree(ROOT / part, self.course / part, ignore=shutil.ignore_patterns("__pycache__"))
        for file in FILES:
            shutil.copy(ROOT / file, self.course)
        (self.home / "Downloads").mkdir(parents=True)
        self._install()
        self.terminal = Terminal(self.course, self._environment())
        self.records_before: list[str] = []
        self._next = 0
        self._skipped: dict[str, str] = {}

    def _install(self) -> None:
        """An environment as `make` finds it, and programs that change nothing outside of the folder."""
        commands = self.course / ".venv" / "bin"
        for folder in (commands, self._programs):
            folder.mkdir(parents=True)
        for name in ("course", "nbgrader", "dask", "jupyter"):
            (commands / name).symlink_to(Path(sys.executable).parent / name)
        (commands / "activate").write_text(f'PATH="{commands}:$PATH"\n')
        (commands.parent / "ready").touch()
        for name, text in (("sudo", SUDO), ("apt", APT)):
            (self._programs / name).write_text(text)
            (self._programs / name).chmod(0o755)

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "COURSE_"))}
        path = os.pathsep.join([str(self._programs), str(self.course / ".venv" / "bin"), os.environ["PATH"]])
        return kept | {
            "HOME": str(self.home),
            "USER": USER,
            "PATH": path,
            "PYTHONPATH": str(self.course),
            "JUPYTER_CONFIG_DIR": str(self.home / ".jupyter"),
            "TERM": "xterm",
        }

    def run_to(self, last: Block) -> None:
        """Run the blocks that have not been run, up to this one."""
        while self._next <= BLOCKS.index(last):
            block = BLOCKS[self._next]
            self._next += 1
            if block.name:
                try:
                    self._run(block)
                except pytest.skip.Exception as missing:
                    self._skipped[block.name] = str(missing)
        if last.name in self._skipped:
            pytest.skip(self._skipped[last.name])

    def _run(self, block: Block) -> None:
        self.records_before = self.log_lines()
        if prepare := PREPARATIONS.get(block.name):
            prepare(self)
        script = self.adapted(block.text)
        if block.language == "python":
            with (self.course / "nbgrader_config.py").open("a", encoding="utf-8") as settings:
                settings.write(script)
            said = ""
        elif block.stays:
            said = self.terminal.stay(script, UNTIL[block.name])
        else:
            code, said = self.terminal.run(script)
            assert code == 0, f"line {block.line} of the guide ended with {code}:\n{said}"
        assert not (line := first_line_not_said(block.output, said)), f"{line!r} is not in:\n{said}"
        CHECKS[block.name](self, said)

    def adapted(self, text: str) -> str:
        """With this machine's places in the place of the guide's."""
        text = text.replace("192.168.1.5:8786", self.address).replace(
            "--host 192.168.1.5", "--host 127.0.0.1"
        )
        text = text.replace("--port 8786", f"--port {self.address.rpartition(':')[2]}")
        return text.replace("/srv/nbgrader/exchange", str(self.exchange))

    def log_lines(self, folder: str = ".") -> list[str]:
        """The lines of a class's records."""
        log = self.course / folder / "grading.jsonl"
        return log.read_text(encoding="utf-8").splitlines() if log.exists() else []

    def scores(self, folder: str = "."):
        """The score of each student's notebook of section 5."""
        found = latest(self.course / folder / "grading.jsonl")
        return {student: record.score for (student, _, name), record in found.items() if name == NOTEBOOK}

    @contextmanager
    def gradebook(self, url: str | None = None):
        """nbgrader's gradebook, by default that of the course's folder."""
        with Gradebook(url or f"sqlite:///{self.course / 'gradebook.db'}", COURSE) as gradebook:
            yield gradebook

    def page(self, student: str) -> str:
        """The page for a student on section 5."""
        path = self.course / "feedback" / student / ASSIGNMENT / f"{NOTEBOOK}.html"
        return path.read_text(encoding="utf-8")

    def submission(self, kind: str) -> bytes:
        """What one of the sample class hands in."""
        return (ROOT / "sample_class" / "submitted" / kind / ASSIGNMENT / f"{NOTEBOOK}.ipynb").read_bytes()


PREPARATIONS: dict[str, Callable[[Term], None]] = {}
CHECKS: dict[str, Callable[[Term, str], None]] = {}
UNTIL = {"dask-scheduler": "Scheduler at:", "dask-worker": "Registered to:"}


def before(name):
    """What has to be there before the block of this name."""
    return lambda prepare: PREPARATIONS.setdefault(name, prepare)


def after(name):
    """What has to be so after the block of this name."""
    return lambda check: CHECKS.setdefault(name, check)


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))


@after("set-up")
def _the_sample_class_has_its_points(term, said):
    assert term.scores("sample_class") == SAMPLE
    assert len(list((term.course / "sample_class" / "feedback").rglob("*.html"))) == len(SAMPLE)
    assert (term.course / "sample_class" / "gradebook.db").exists()


@before("build")
def _a_question_is_put_in_other_words(term):
    path = term.course / "source" / "questions.yaml"
    text = path.read_text(encoding="utf-8")
    assert "A chatbot answers your message" in text
    path.write_text(
        text.replace("A chatbot answers your message", "A bot answers a letter"), encoding="utf-8"
    )


@after("build")
def _students_get_the_new_words(term, said):
    released = term.course / "release" / ASSIGNMENT / "02-one-token-to-a-paragraph.ipynb"
    assert "A bot answers a letter" in released.read_text(encoding="utf-8")


@after("bundle")
def _the_zip_has_the_notebooks_and_nothing_hidden(term, said):
    (path,) = (term.course / "dist").iterdir()
    with zipfile.ZipFile(path) as bundle:
        names = bundle.namelist()
        assert sum(name.endswith(".ipynb") for name in names) == 14
        assert not [name for name in names if b"BEGIN HIDDEN TESTS" in bundle.read(name)]


@after("exchange")
def _nbgrader_takes_the_setting(term, said):
    assert load_settings(term.course).Exchange.root == str(term.exchange)


@after("release")
def _students_find_the_assignment(term, said):
    released = term.exchange / COURSE / "outbound" / ASSIGNMENT
    assert len(list(released.glob("*.ipynb"))) == 14
    with term.gradebook() as gradebook:
        assert gradebook.find_assignment(ASSIGNMENT).max_score == 49


@before("class-list")
def _the_roster_is_the_one_in_the_guide(term):
    (block,) = [block for block in BLOCKS if block.language == "csv"]
    (term.home / "roster.csv").write_text(block.text, encoding="utf-8")


@after("class-list")
def _the_gradebook_has_the_class_and_the_date(term, said):
    with term.gradebook() as gradebook:
        numbers = {student.id: student.lms_user_id for student in gradebook.students}
        assert (numbers["s1001"], numbers["s1005"], len(numbers)) == ("12345", "12349", 6)
        assert str(gradebook.find_assignment(ASSIGNMENT).duedate) == "2026-10-01 23:59:59"


@before("collect-exchange")
def _a_student_submits(term):
    work = term.home / "student" / ASSIGNMENT
    work.mkdir(parents=True)
    (work / f"{NOTEBOOK}.ipynb").write_bytes(term.submission("recursive"))
    (term.home / "student" / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        f"c.Exchange.root = {str(term.exchange)!r}\nc.CourseDirectory.course_id = {COURSE!r}\n"
    )
    subprocess.run(
        [sys.executable, "-m", "nbgrader", "submit", ASSIGNMENT, "--student", "s1006"],
        cwd=work.parent,
        env=term.terminal.environment,
        check=True,
        capture_output=True,
    )


@after("collect-exchange")
def _what_was_submitted_is_there(term, said):
    folder = term.course / "submitted" / "s1006" / ASSIGNMENT
    assert (folder / f"{NOTEBOOK}.ipynb").read_bytes() == term.submission("recursive")
    assert (folder / "timestamp.txt").exists()


@before("collect")
def _canvas_hands_out_a_zip(term):
    files = {
        "lovelaceada_12345_678901": "while-loop",
        "ngben_LATE_12346_678902": "half-right",
        "ångströmzoë_12347_678903": "counts-the-prompt",
        "hoppergrace_12348_678904": "broken-file",
        "guest_99999_678905": "recursive",
    }
    with zipfile.ZipFile(term.home / "Downloads" / "submissions.zip", "w") as made:
        for name, kind in files.items():
            made.writestr(f"{name}_{NOTEBOOK}.ipynb", term.submission(kind))


@after("collect")
def _everybody_in_the_roster_has_a_folder(term, said):
    assert {path.name for path in (term.course / "submitted").iterdir()} == {
        "s1001", "s1002", "s1003", "s1004", "s1006",
    }  # fmt: skip


@before("zip-collect")
def _moodle_hands_out_a_zip(term):
    with zipfile.ZipFile(term.home / "Downloads" / "moodle.zip", "w") as made:
        made.writestr(f"Kim Lee_70_assignsubmission_file/{NOTEBOOK}.ipynb", term.submission("empty"))


@after("zip-collect")
def _the_one_from_moodle_has_a_folder(term, said):
    assert (term.course / "submitted" / "s1005" / ASSIGNMENT / f"{NOTEBOOK}.ipynb").exists()


@after("grade")
def _each_has_the_points_it_should(term, said):
    assert term.scores() == {
        "s1001": 11, "s1002": 6, "s1003": 9, "s1004": None, "s1005": 0, "s1006": 11,
    }  # fmt: skip
    plain = latest(term.course / "grading.jsonl")["s1006", ASSIGNMENT, NOTEBOOK]
    assert (plain.findings, bool(plain.handed_in)) == ((), True)
    with term.gradebook() as gradebook:
        assert gradebook.find_submission(ASSIGNMENT, "s1002").score == 6
        assert str(gradebook.find_assignment(ASSIGNMENT).duedate) == "2026-10-01 23:59:59"
    assert "finish_reason" in term.page("s1002")


@after("grade-again")
def _one_notebook_was_graded_again(term, said):
    (line,) = term.log_lines()[len(term.records_before) :]
    assert '"s1002"' in line
    assert term.scores()["s1002"] == 6


@before("dask-scheduler")
def _dask_is_installed(term):
    pytest.importorskip("distributed")


@after("dask-scheduler")
def _the_scheduler_says_its_address(term, said):
    assert f"tcp://{term.address}" in said


before("dask-worker")(_dask_is_installed)


@after("dask-worker")
def _the_worker_has_found_it(term, said):
    assert f"tcp://{term.address}" in said


before("grade-cluster")(_dask_is_installed)


@after("grade-cluster")
def _the_workers_have_graded(term, said):
    import distributed

    with distributed.Client(f"tcp://{term.address}", set_as_default=False) as client:
        finished = client.run_on_scheduler(
            lambda dask_scheduler: sum(
                (start, end) == ("processing", "memory")
                for _, start, end, *_ in dask_scheduler.transition_log
            )
        )
    term.terminal.close()
    assert finished >= 2
    new = [json.loads(line) for line in term.log_lines("sample_class")]
    scores = [line["score"] for line in new if line["notebook"] == NOTEBOOK][len(SAMPLE) :]
    assert sorted(scores) == [6, 11]


@before("postgresql")
def _a_server_answers(term):
    server = term.request.getfixturevalue("postgresql")
    term.terminal.environment["PGHOST"] = str(server.folder)
    path = term.terminal.environment["PATH"]
    term.terminal.environment["PATH"] = f"{server.programs}{os.pathsep}{path}"


@after("postgresql")
def _the_marks_are_on_the_server(term, said):
    host = term.terminal.environment["PGHOST"]
    with term.gradebook(f"postgresql+psycopg://{USER}@/grades?host={host}") as gradebook:
        scores = {student: gradebook.find_submission(ASSIGNMENT, student).score for student in SAMPLE}
    assert scores == {student: score or 0 for student, score in SAMPLE.items()}


@before("autograde")
def _the_broken_one_is_handed_in_anew(term):
    path = term.course / "submitted" / "s1004" / ASSIGNMENT / f"{NOTEBOOK}.ipynb"
    path.write_bytes(term.submission("inverse-cdf"))


@after("autograde")
def _it_has_a_score_now(term, said):
    assert term.scores()["s1004"] == 11


@before("feedback")
def _a_person_gives_a_point_and_a_comment(term):
    with term.gradebook() as gradebook:
        grade = gradebook.find_grade("generation-loop-finish-reason", NOTEBOOK, ASSIGNMENT, "s1002")
        grade.manual_score = 0.5
        comment = gradebook.find_comment("generation-loop", NOTEBOOK, ASSIGNMENT, "s1002")
        comment.manual_comment = "Nearly: look at the last step."
        gradebook.db.commit()
    assert "Nearly" not in term.page("s1002")


@after("feedback")
def _the_page_has_it_and_goes_to_its_student(term, said):
    assert "Nearly: look at the last step." in term.page("s1002")
    returned = list((term.exchange / COURSE / "feedback").glob("*.html"))
    assert term.page("s1006") in [path.read_text(encoding="utf-8") for path in returned]


@before("regrade-dry-run")
def _a_check_is_made_lenient(term):
    path = term.course / "course" / "checks" / "generation_loop" / "limits.py"
    text = path.read_text(encoding="utf-8")
    strict = "    wrong = [run for run in runs if len(run.tokens) != run.case.max_new_tokens]\n"
    assert text.count(strict) == 1
    path.write_text(text.replace(strict, "    wrong: list[Run] = []\n"), encoding="utf-8")


@after("regrade-dry-run")
def _nothing_was_written(term, said):
    assert term.log_lines() == term.records_before
    assert term.scores()["s1003"] == 9


@after("regrade")
def _the_mark_has_changed_and_the_persons_stands(term, said):
    assert term.scores()["s1003"] == 10
    with term.gradebook() as gradebook:
        assert gradebook.find_submission(ASSIGNMENT, "s1003").score == 10
        assert gradebook.find_submission(ASSIGNMENT, "s1002").score == 6.5


@after("report")
def _the_page_has_everybody(term, said):
    page = (term.course / "report.html").read_text(encoding="utf-8")
    assert all(student in page for student in ("s1001", "s1005", "wrong finish reason"))


@before("export")
def _canvas_exports_its_gradebook(term):
    lines = ["Student,ID,SIS User ID,SIS Login ID,Section,autoregressive-generation (77)"]
    lines += ["    Points Possible,,,,,49"]
    names = ["Lovelace, Ada", "Ng, Ben", "Ångström, Zoë", "Hopper, Grace", "Lee, Kim"]
    lines += [f'"{name}",{number},,,A,' for number, name in enumerate(names, start=12345)]
    (term.home / "Downloads" / "canvas.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


@after("export")
def _each_file_has_the_marks(term, said):
    single = {
        row["student_id"]: row for row in rows(term.course / "grades.csv") if row["notebook"] == NOTEBOOK
    }
    assert (single["s1002"]["score"], single["s1002"]["status"]) == ("6.5", "graded")
    together = {row["student_id"]: row["score"] for row in rows(term.course / "grades-totals.csv")}
    assert (together["s1003"], together["s1004"]) == ("10.0", "11.0")
    canvas = rows(term.course / "grades-canvas.csv")
    marks = {row["ID"]: row["autoregressive-generation (77)"] for row in canvas}
    assert (marks["12346"], marks["12349"]) == ("6.5", "0")
    moodle = {
        row["ID number"]: row["autoregressive-generation"] for row in rows(term.course / "grades-moodle.csv")
    }
    assert moodle["s1002"] == "6.5"


@pytest.fixture(scope="module")
def _term(tmp_path_factory, request):
    made = Term(tmp_path_factory.mktemp("term"), request)
    yield made
    made.terminal.close()


@pytest.fixture
def term(_term, request):
    """The term, as far as the blocks have been run."""
    _term.request = request
    return _term


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.name], ids=lambda block: block.name)
def test_what_the_guide_says_works(block, term):
    """Bug: a command in the guide has another name by now, does something else, or shows something else."""
    term.run_to(block)


def test_no_command_stands_in_the_guide_untried():
    """Bug: somebody adds a command to the guide, and no test ever runs it."""
    for block in BLOCKS:
        if block.language == "sh":
            assert block.name, f"line {block.line}: no marker says what checks this block"
            assert not (unknown := programs(block.text) - KNOWN), f"line {block.line}: what are {unknown}?"
    names = [block.name for block in BLOCKS if block.name]
    assert len(names) == len(set(names))
    assert set(names) == set(CHECKS)


def _inline(text: str) -> list[str]:
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`\n]+)`", outside)


def test_commands_within_the_text_exist(capsys):
    """Bug: the text names an option or a subcommand of `course` that there is not."""
    said: dict[str, str] = {}
    for words in (code.split() for code in _inline(GUIDE.read_text(encoding="utf-8"))):
        if words[0] == "course" and len(words) > 1:
            if words[1] not in said:
                with pytest.raises(SystemExit) as ended:
                    main([words[1], "--help"])
                assert ended.value.code == 0, words
                said[words[1]] = capsys.readouterr().out
            for word in words[2:]:
                assert not word.startswith("--") or word in said[words[1]], words
    assert {"grade", "collect", "export"} <= set(said)


def test_every_setting_within_the_text_exists(tmp_path):
    """Bug: the guide names a setting that nothing reads, and nbgrader passes over it without a word."""
    import nbgrader.apps
    import nbgrader.plugins  # noqa: F401 - so that their classes are known

    settings = [
        code
        for code in [*_inline(GUIDE.read_text(encoding="utf-8")), *[block.text for block in BLOCKS]]
        if re.match(r"c\.\w+\.\w+ = ", code)
    ]
    assert settings
    text = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    text = text.replace("Path(__file__).resolve().parent", repr(ROOT).removeprefix("Posix"))
    (tmp_path / "nbgrader_config.py").write_text("\n".join([text, *settings]), encoding="utf-8")
    limits_of(load_settings(tmp_path))
    for setting in settings:
        _, owner, name = setting.split(" = ")[0].split(".")
        if owner != "GradingLimits":
            assert name in _classes(Configurable)[owner].class_trait_names(config=True), setting


def _classes(top: type) -> dict[str, type]:
    found = {top.__name__: top}
    for each in top.__subclasses__():
        found |= _classes(each)
    return found


def _sentences() -> str:
    """Every text in the course's own modules, one after the other."""
    texts = []
    for path in sorted((ROOT / "course").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [part.value if isinstance(part, ast.Constant) else "\0" for part in node.values]
                texts.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
    return "\n".join(texts)


def test_every_message_in_the_table_is_one_that_is_shown():
    """Bug: a message is worded anew, and whoever looks it up in the guide does not find it."""
    table = GUIDE.read_text(encoding="utf-8").partition("## If something goes wrong")[2]
    messages = re.findall(r"^\| (.+?) \| .+ \|$", table, flags=re.MULTILINE)[1:]
    assert len(messages) >= 10
    shown = _sentences()
    for message in messages:
        for part in re.split(r"…", message):
            assert part.strip() in shown, f"{part.strip()!r} of {message!r}"


def test_the_statuses_are_the_ones_there_are():
    """Bug: a status gets another name, and the guide explains one that is never shown."""
    text = GUIDE.read_text(encoding="utf-8")
    for status in Status:
        assert f"*{status}*" in text
