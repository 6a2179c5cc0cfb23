"""JupyterLab on a folder, and a page of it that a test drives."""

import contextlib
import json
import os
import secrets
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from class_cycle import Window
from lab_server import lab_server
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

ROOT = Path(__file__).parents[2]
# The texts beside the code cells: "[ ]:" not run, "[*]:" waiting or running, "[3]:" done.
PROMPTS = "[...document.querySelectorAll('.jp-NotebookPanel .jp-InputPrompt')].map(e => e.textContent)"
# The notebook's own indicator says idle before the kernel is connected; the status bar does not.
IDLE = '.jp-StatusBar-Widget :text("| Idle")'
# A document that was changed would ask first.
CLOSE = """() => {
  for (const widget of [...jupyterapp.shell.widgets('main')]) {
    if (widget.context) widget.context.model.dirty = false;
    widget.close();
  }
}"""
LAPTOP = {"width": 1366, "height": 900}


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: where it answers, the token that opens it, and the folder that it serves."""

    url: str
    token: str
    folder: Path

    def open_notebook(self, page: Page, path: str) -> None:
        """Open a notebook, and no other, and wait until its kernel takes orders.

        A page that JupyterLab is loaded in already keeps it: loading takes longer than most tests.
        """
        if page.url.startswith(self.url):
            self.close_notebooks(page)
            page.evaluate("path => jupyterapp.commands.execute('docmanager:open', {path})", path)
        else:
            workspace = secrets.token_hex(8)  # of its own, or the last file's notebooks would open too
            page.goto(f"{self.url}/lab/workspaces/{workspace}/tree/{path}?token={self.token}")
        page.wait_for_selector(".jp-NotebookPanel .jp-Cell", timeout=60_000)
        page.wait_for_selector(IDLE, timeout=60_000)

    def run_all(self, page: Page) -> None:
        """Run every cell and wait until the kernel has nothing left to do."""
        started = f"() => ({PROMPTS}).some(prompt => prompt && prompt !== '[ ]:')"
        for _ in range(5):  # a menu that is still opening swallows the click
            page.get_by_role("menuitem", name="Run", exact=True).click()
            page.locator(".lm-Menu-item", has_text="Run All Cells").first.click()
            with contextlib.suppress(PlaywrightTimeoutError):
                page.wait_for_function(started, timeout=5_000)
                break
        page.wait_for_function(f"() => !({PROMPTS}).includes('[*]:')", timeout=120_000)

    def close_notebooks(self, page: Page) -> None:
        """Close what is open without a question, and shut down what runs."""
        if page.locator(".jp-NotebookPanel").count():
            page.wait_for_selector(IDLE)  # closed while its kernel starts, it stumbles
        page.evaluate(CLOSE)
        page.wait_for_selector(".jp-NotebookPanel", state="detached")
        sessions, key = f"{self.url}/api/sessions", f"?token={self.token}"
        with urllib.request.urlopen(sessions + key) as answer:
            running = json.load(answer)
        for session in running:
            urllib.request.urlopen(
                urllib.request.Request(f"{sessions}/{session['id']}{key}", method="DELETE")
            )


@contextlib.contextmanager
def serving(folder: Path, config: Path, **environment: str) -> Iterator[Lab]:
    """JupyterLab on a folder, started there, with the settings in `config`."""
    own = config / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    own.mkdir(parents=True, exist_ok=True)
    # Or a question about news lies over the buttons at the bottom of the window.
    (own / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    (own / "themes.jupyterlab-settings").write_text('{"adaptive-theme": true}')  # as `color_scheme` says
    settings = os.environ | {"JUPYTER_CONFIG_DIR": str(config)} | environment
    command = [
        *(sys.executable, "-m", "jupyter", "lab"),
        *(f"--ServerApp.root_dir={folder}", "--LabApp.expose_app_in_browser=True"),
    ]
    with lab_server(command, folder, settings, config / "lab.log") as (url, token):
        yield Lab(url, token, folder)


@contextlib.contextmanager
def kept_windows() -> Iterator[dict[str, Window]]:
    """Windows by what `color_scheme` says, a fresh profile each."""
    kept: dict[str, Window] = {}
    yield kept
    for window in kept.values():
        window.page.context.close()
