"""A real JupyterLab, driven by a real browser. Without Chromium these tests are skipped; CI installs it."""

import shutil
from collections.abc import Iterator
from typing import Literal

import pytest
from class_cycle import Window
from lab import LAPTOP, ROOT, Lab, kept_windows, serving
from playwright.sync_api import Browser, Page

from course.study.store import FOLDER_VARIABLE

pytest.register_assert_rewrite("live")  # what differs is said where its assertions fail, too


@pytest.fixture(scope="session")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab on a copy of what readers and instructors open, so that a run changes nothing here."""
    folder = tmp_path_factory.mktemp("lab")
    for name in ("notebooks", "release", "source"):
        shutil.copytree(ROOT / name, folder / name)
    progress = {FOLDER_VARIABLE: str(folder / ".progress")}  # or it would be that of whoever runs the tests
    with serving(folder, folder / ".config", **progress) as lab:
        yield lab


@pytest.fixture
def color_scheme() -> str:
    """What the reader's desktop prefers, "light" or "dark"; JupyterLab's theme follows it."""
    return "light"


@pytest.fixture(scope="module")
def windows() -> Iterator[dict[str, Window]]:
    """The windows of a file's tests."""
    with kept_windows() as kept:
        yield kept


@pytest.fixture
def page(
    lab: Lab, browser: Browser, windows: dict[str, Window], color_scheme: Literal["light", "dark"]
) -> Iterator[Page]:
    """A laptop's window in which no notebook is open. Whatever goes wrong in it fails the test."""
    if color_scheme not in windows:
        context = browser.new_context(viewport=LAPTOP, color_scheme=color_scheme)
        windows[color_scheme] = Window(context.new_page())
    window = windows[color_scheme]
    window.page.set_viewport_size(LAPTOP)
    yield window.page
    problems = window.problems[:]
    lab.close_notebooks(window.page)
    window.problems.clear()  # a notebook that is closed in the middle of something complains
    assert problems == []
