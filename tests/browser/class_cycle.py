"""A student and an instructor at work in JupyterLab, through nbgrader's menu."""

import contextlib
import re
from collections.abc import Iterator
from typing import TypeVar
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, FrameLocator, Locator, Page, Request, expect

ASSIGNMENT = "autoregressive-generation"
LONG = 120_000  # milliseconds, for what runs notebooks
PATIENCE = 60_000  # for all else


class Window:
    """A browser's window, and what went wrong in it.

    problems : errors in the console, errors of scripts, and requests to anything but the Lab.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.problems: list[str] = []
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.problems.append(f"error in a script: {error}"))
        page.on("request", self._asked)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.problems.append(f"console: {message.text} ({message.location.get('url')})")

    def _asked(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.hostname != "127.0.0.1":
            self.problems.append(f"asked for {request.url}")

    def open(self, lab) -> None:
        """Open JupyterLab."""
        self.page.goto(f"{lab.url}/lab?token={lab.token}")
        self.page.wait_for_selector(".jp-Launcher")

    def choose(self, item: str) -> None:
        """Choose an item of the Nbgrader menu."""
        self.page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
        self.page.locator(".lm-Menu-item", has_text=re.compile(f"^{item}$")).click()


Person = TypeVar("Person", bound=Window)


@contextlib.contextmanager
def window(browser: Browser, kind: type[Person]) -> Iterator[Person]:
    """A laptop's window with a fresh profile, for a student or an instructor."""
    context = browser.new_context(viewport={"width": 1366, "height": 900})
    context.set_default_timeout(PATIENCE)
    yield kind(context.new_page())
    context.close()


class Student(Window):
    """What a student does: fetch, type, validate, hand in, read the feedback."""

    def fetch(self) -> None:
        """Fetch the assignment."""
        self.choose("Assignment List")
        self.page.locator("#released_assignments_list").get_by_role("button", name="Fetch").click()
        self.page.locator("#fetched_assignments_list .assignment-notebooks-link").wait_for()

    def open_notebook(self, name: str) -> None:
        """Open a fetched notebook from the list, and wait until its kernel takes orders."""
        self.page.locator("#fetched_assignments_list .assignment-notebooks-link").click()
        self.page.locator("#fetched_assignments_list").get_by_role("link", name=name, exact=True).click()
        self.page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
        self.page.wait_for_selector('.jp-StatusBar-Widget :text("| Idle")')

    def type_into(self, function: str, source: str) -> None:
        """Replace what stands in the cell that defines a function."""
        cell = self.page.locator(".jp-NotebookPanel .jp-CodeCell", has_text=f"def {function}(").first
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)

    def validate(self) -> str:
        """Press Validate; what the dialog says."""
        toolbar = self.page.locator(".jp-NotebookPanel .jp-Toolbar")
        toolbar.get_by_role("button", name="Validate").click()
        dialog = self.page.locator(".jp-Dialog")
        dialog.wait_for(timeout=LONG)
        text = dialog.locator(".jp-Dialog-body").inner_text()
        dialog.get_by_role("button", name="Ok").click()
        return text

    def submit(self) -> Locator:
        """Hand the assignment in; the line that says so."""
        self.page.get_by_role("tab", name="Assignments").click()
        self.page.locator("#fetched_assignments_list").get_by_role("button", name="Submit").click()
        submitted = self.page.locator("#submitted_assignments_list .nested_list_item")
        submitted.first.wait_for()
        return submitted

    def fetch_feedback(self) -> Locator:
        """Fetch the feedback; the words that lead to it."""
        self.page.locator("#refresh_assignments_list").click()
        submitted = self.page.locator("#submitted_assignments_list")
        submitted.get_by_role("button", name="Fetch Feedback").click()
        return submitted.get_by_text("(view feedback)")


class Instructor(Window):
    """What an instructor does in formgrader."""

    @property
    def formgrader(self) -> FrameLocator:
        """The page in formgrader's tab."""
        return self.page.frame_locator("#formgrader_iframe, iframe")

    def table(self) -> Locator:
        """The table of the page."""
        return self.formgrader.locator("#main-table")

    def row(self, text: str) -> Locator:
        """The row in which a cell holds this text and no other."""
        cell = self.page.locator("td", has_text=re.compile(rf"^\s*{re.escape(text)}\s*$"))
        return self.table().locator("tr", has=cell)

    def press(self, row: str, button: str) -> str:
        """Press a button of a row and close the dialog that comes; what the dialog says."""
        self.row(row).locator(f".{button} a").click()
        dialog = self.formgrader.locator(".modal.in")
        dialog.wait_for(timeout=LONG)
        text = dialog.inner_text()
        dialog.get_by_role("button", name="OK").click()
        expect(dialog).to_have_count(0)
        return text

    def manage_submissions(self) -> None:
        """Go to the table of who handed in."""
        self._manual_grading()  # a submission's page has no other way out
        self.formgrader.get_by_role("link", name="Manage Assignments").click()
        self.row(ASSIGNMENT).locator(".num-submissions a").click()

    def list_submissions(self, notebook: str) -> None:
        """Go to the table of a notebook's submissions."""
        self._manual_grading()
        for name in (ASSIGNMENT, notebook):
            self.table().get_by_role("link", name=name, exact=True).click()
        self.table().locator("a.name-hidden").first.wait_for()

    def _manual_grading(self) -> None:
        self.formgrader.get_by_role("link", name=re.compile("Gradebook|Manual Grading")).first.click()

    def open_submission(self, student: str) -> None:
        """Uncover the names and open a student's notebook."""
        line = self.table().locator("tr", has=self.page.locator(f'a.name-shown:text-is("{student}")'))
        line.locator(".glyphicon.name-hidden").click()
        line.locator("a.name-shown").click()
        self.formgrader.locator("input.score").first.wait_for()

    def give(self, field: str, text: str, *, then: str = "Escape") -> None:
        """Fill in a field, and leave it by a key of formgrader, which saves it."""
        self.formgrader.locator(field).fill(text)
        with self.page.expect_response(lambda response: response.request.method == "PUT") as saved:
            self.formgrader.locator(field).press(then)
        assert saved.value.ok
