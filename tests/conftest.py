"""The browser of all tests that look at a page, and the record of `make proof`."""

import platform
import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter
from playwright.sync_api import Browser, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium; one, since a process can drive no second. Without it these tests are skipped."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """Keep what came of `make proof`, test by test, beside the tests."""
    if config.getoption("markexpr") != "proof" or hasattr(config, "workerinput"):
        return
    reports = [
        report
        for outcome in ("passed", "failed", "skipped")
        for report in terminalreporter.stats.get(outcome, [])
        if report.when == "call" or outcome == "skipped"
    ]
    lines = sorted(f"{each.outcome:8}{each.duration:7.0f} s  {each.nodeid}" for each in reports)
    head = f"make proof, {date.today()}, Python {platform.python_version()}, {platform.machine()}"
    Path(__file__).with_name("proof.txt").write_text("\n".join([head, "", *lines, ""]), encoding="utf-8")
