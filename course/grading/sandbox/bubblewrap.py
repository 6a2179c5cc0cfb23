"""The command that starts a process in bubblewrap: what it can see, and what it cannot."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import decoder_lib
from course.files import ROOT
from course.grading.errors import SandboxUnavailableError
from course.grading.inside.isolation import HOME
from course.processors import ONE_THREAD

PROGRAM = "bwrap"
LIBRARY = Path("/run/course")  # where what is imported from the course lies in the sandbox
FILES = Path("/run/files")  # and where folders of students' files do
_PARTS = ("checks/candidate.py", "grading/inside")  # of the package `course`; nothing else of it is there
_PACKAGE = Path(__file__).resolve().parents[2]
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"),
    *("/etc/ld.so.cache", "/etc/fonts", "/etc/localtime"),
)


def require_bubblewrap() -> None:
    """Raises SandboxUnavailableError, with what to do, where bubblewrap is not installed."""
    if shutil.which(PROGRAM) is None:
        how = (
            "install it with `sudo apt install bubblewrap` (other Linux systems have it under the same name)"
            if sys.platform == "linux"
            else "grade on Linux, in a virtual machine or a container say, because it exists there only"
        )
        raise SandboxUnavailableError(
            f"Student code runs in a sandbox, and its program, bubblewrap ({PROGRAM}), is not here: {how}. "
            "To run what students wrote with your own rights instead, ask for it: --no-sandbox."
        )


def why_not() -> str:
    """Why no sandbox can be had on this machine, to go on after "because"; "" where it can."""
    if shutil.which(PROGRAM) is None:
        return f"its program, bubblewrap ({PROGRAM}), is not installed"
    tried = subprocess.run(
        command(["-c", ""]),
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if tried.returncode == 0:
        return ""
    said = tried.stderr.strip().splitlines() or [f"exit status {tried.returncode}"]
    return f"bubblewrap does not work here ({said[0]})"


def command(arguments: list[str], folders: Iterable[Path] = ()) -> list[str]:
    """The command that runs Python with these arguments in a sandbox.

    folders : those that can be read, as `FILES / "0"` and so on.

    No network; no other file but the system's programs, this Python and its packages, `decoder_lib` and the
    door to a student's functions, none of which can be written to; empty folders; an ordinary user.
    """
    out = [PROGRAM, "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session"]
    out += ["--uid", "1000", "--gid", "1000", "--hostname", "student", "--cap-drop", "ALL"]
    for path in map(Path, _SYSTEM):
        if path.is_symlink():
            out += ["--symlink", os.readlink(path), str(path)]  # noqa: PTH115 - as it stands, relative or not
        elif path.exists():
            out += ["--ro-bind", str(path), str(path)]
    out += ["--tmpfs", "/tmp"]
    base = Path(sys.base_prefix)
    for path in sorted({base, Path(sys.executable).resolve().parent}):
        out += ["--ro-bind", str(path), str(path)]
    if any(ROOT.is_relative_to(path) for path in (base, Path("/usr"))):
        out += ["--tmpfs", str(ROOT)]
    out += ["--ro-bind", sys.prefix, str(_environment())]
    if _PACKAGE.is_relative_to(sys.prefix):  # the course, installed beside the other packages
        out += ["--tmpfs", str(_environment() / _PACKAGE.relative_to(sys.prefix))]
    out += ["--ro-bind", str(Path(decoder_lib.__file__).parent), str(LIBRARY / "decoder_lib")]
    for part in _PARTS:
        out += ["--ro-bind", str(_PACKAGE / part), str(LIBRARY / "course" / part)]
    for number, folder in enumerate(folders):
        for path in _shown(folder):
            out += ["--ro-bind-try", str(path), str(FILES / str(number) / path.relative_to(folder))]
    out += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    out += ["--tmpfs", HOME, "--remount-ro", "/", "--chdir", HOME]
    python = _environment() / Path(os.path.abspath(sys.executable)).relative_to(sys.prefix)  # noqa: PTH100
    return [*out, str(python), *arguments]


def _shown(folder: Path) -> Iterator[Path]:
    """A folder as a whole; of one that the course itself lies in, the Python files only."""
    return folder.glob("*.py") if ROOT.is_relative_to(folder) else iter([folder])


def _environment() -> Path:
    """Where this Python's packages lie in the sandbox.

    A virtual environment is at home anywhere, and where it lies outside may be a folder that is empty inside.
    """
    return Path(sys.prefix) if sys.prefix == sys.base_prefix else Path("/run/python")


def environment(library: Path = LIBRARY) -> dict[str, str]:
    """The sandbox's environment; nothing of ours is in it.

    library : where the course's part of what is imported lies.
    """
    return {
        "HOME": HOME,
        "USER": "student",
        "LOGNAME": "student",
        "PATH": f"{_environment() / 'bin'}:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(library),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        **ONE_THREAD,
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": "/tmp/matplotlib",
        "IPYTHONDIR": "/tmp/ipython",
    }
