"""Starts JupyterLab as a program, and ends it."""

import contextlib
import secrets
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest


@contextlib.contextmanager
def lab_server(
    command: Sequence[str | Path], folder: Path, environment: Mapping[str, str], log_file: Path
) -> Iterator[tuple[str, str]]:
    """JupyterLab in a folder, once it answers: its address and the token that opens it.

    command : what starts it there; where it answers, and that it keeps quiet, is added.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token, url = secrets.token_hex(16), f"http://127.0.0.1:{port}"
    arguments = [
        *("--no-browser", "--allow-root", f"--ServerApp.port={port}", f"--IdentityProvider.token={token}"),
        *("--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.news_url="),
    ]
    with log_file.open("wb") as log:
        server = subprocess.Popen([*command, *arguments], cwd=folder, stdout=log, stderr=log, env=environment)
    try:
        for _ in range(480):
            try:
                urllib.request.urlopen(f"{url}/api?token={token}", timeout=5)
                break
            except (urllib.error.URLError, ConnectionError):
                assert server.poll() is None, log_file.read_text()
                time.sleep(0.25)
        else:
            pytest.fail(f"JupyterLab did not answer:\n{log_file.read_text()}")
        yield url, token
    finally:
        server.terminate()
        try:
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:  # it has shut down, and waits for an idle thread of its own
            server.kill()
            server.wait()
