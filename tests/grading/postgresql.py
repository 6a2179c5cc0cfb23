"""A PostgreSQL server of the tests' own: in a folder that goes away, reached through a socket in it."""

import os
import pwd
import shutil
import subprocess
import tempfile
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import make_url

PROGRAMS = Path("/usr/lib/postgresql")
USER = "postgres"  # of Debian's package; the server refuses to run as root


def missing() -> str:
    """Why no server can be started here; empty if one can."""
    if not list(PROGRAMS.glob("*/bin/initdb")):
        return f"PostgreSQL is not installed: there is no initdb in {PROGRAMS}"
    if os.geteuid() == 0:
        try:
            pwd.getpwnam(USER)
        except KeyError:
            return f"PostgreSQL does not run as root, and there is no user {USER}"
    return ""


class Server:
    """A running server, and a new database whenever one is asked for."""

    def __init__(self) -> None:
        self.programs = max(PROGRAMS.glob("*/bin/initdb")).parent
        self.folder = Path(tempfile.mkdtemp(prefix="gradebook-"))  # a socket's path has to be short
        self.as_user = {}
        if os.geteuid() == 0:
            user = pwd.getpwnam(USER)
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        self.numbers = count(1)
        self._run("initdb", "--no-sync", "--auth=trust", f"--username={USER}", "--encoding=UTF8")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c fsync=off"
        self._run("pg_ctl", "start", "--wait", "--log", str(self.folder / "log"), "--options", options)

    def stop(self) -> None:
        """Stop it at once; connections break."""
        self._run("pg_ctl", "stop", "--wait", "--mode=fast")

    def new_database(self, like: str | None = None) -> str:
        """The URL of an empty database, or of a copy of one that nobody has open."""
        name = f"class_{next(self.numbers)}"
        copied = [f"--template={make_url(like).database}"] if like else []
        self._run("createdb", f"--host={self.folder}", f"--username={USER}", *copied, name)
        return f"postgresql+psycopg://{USER}@/{name}?host={self.folder}"

    def remove(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        environment = {"PGDATA": str(self.folder / "data"), "LC_ALL": "C.UTF-8"}
        # A file takes what is written, because a server that stays would keep a pipe open.
        with tempfile.TemporaryFile("w+") as said:
            done = subprocess.run(
                [self.programs / program, *arguments],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                check=False,
                **self.as_user,
            )
            said.seek(0)
            assert done.returncode == 0, said.read()


@pytest.fixture(scope="session")
def postgresql():
    """A running server, or a skipped test where there is no PostgreSQL."""
    if reason := missing():
        pytest.skip(reason)
    server = Server()
    try:
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        server.remove()
