"""The window view in JupyterLab, by mouse and by keyboard, against the library's answers."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from lab import Lab
from live import BOTH, LiveView, open_view
from numpy.typing import NDArray
from playwright.sync_api import Page
from runs import WORDS, Setting, change_every_setting

from decoder_lib import Generation, KeepFirst, Selection, drop_oldest, stop
from decoder_lib.selection import draw

WHOLE = "whole text"
ENDED_BY = {"stop": "end token", "length": "length bound", "context": "context full"}


@dataclass(frozen=True)
class Windows:
    """One step of a run, and what each policy reads of the same text."""

    now: Setting
    policy: str = "drop oldest"
    n_first: int = 3
    asked: int | None = None

    @property
    def runs(self) -> dict[str, Generation]:
        """The run of each policy."""
        policies = {"stop": stop, "drop oldest": drop_oldest, "keep first": KeepFirst(self.n_first)}
        return {name: self.now.run(truncate=truncate) for name, truncate in policies.items()}

    @cached_property
    def run(self) -> Generation:
        """The run that the text comes from."""
        return self.runs[self.policy]

    @property
    def steps(self) -> int:
        """How many there are, the pass that the policy refuses among them."""
        return len(self.run) + (self.run.finish_reason == "context")

    @property
    def step(self) -> int:
        """The one shown; at first, the first at which something is dropped."""
        return min(self.asked or self.now.context - len(self.now.ids) + 1, self.steps)

    @property
    def text(self) -> list[int]:
        """What there is to read before it."""
        return [*self.now.ids, *self.run.token_ids[: self.step - 1]]

    @property
    def full(self) -> bool:
        """Whether that fills the context."""
        return len(self.text) >= self.now.context

    @property
    def windows(self) -> dict[str, list[int]]:
        """The places that each policy reads."""
        places, room = list(range(len(self.text))), self.now.context - 1
        if not self.full:
            return dict.fromkeys((WHOLE, "stop", "drop oldest", "keep first"), places)
        kept = places[: self.n_first]
        return {
            WHOLE: places,
            "stop": [],
            "drop oldest": places[-room:],
            "keep first": kept + places[len(places) - room + self.n_first :],
        }

    def shares(self, window: list[int]) -> NDArray[np.float64]:
        """Of the next token, after what is read."""
        row = self.now.model.logits([self.text[place] for place in window])[-1]
        return np.exp(Selection(self.now.greedy, self.now.temperature).log_distribution(row))

    def selected(self, shares: NDArray[np.float64]) -> int | None:
        """What the run would take, with its draw."""
        if self.now.greedy:
            return int(np.argmax(shares))
        return None if self.step > len(self.run) else draw(shares, self.run[self.step - 1].uniform or 0.0)

    def title(self, name: str) -> str:
        """Above what a policy reads."""
        return f"{name} (this run)" if name == self.policy else name

    @property
    def lists(self) -> list:
        """The text as each policy reads it."""
        found = []
        for name, window in self.windows.items():
            chips = []
            for place, token_id in enumerate(self.text):
                if place not in window:
                    chips.append(f"{'dropped' if window else 'not read'} {WORDS.tokens[token_id]}")
                    continue
                kept = ", kept" * (name == "keep first" and place < self.n_first)
                new = ", new" * (self.step > 1 and place == len(self.text) - 1)
                chips.append(f"at {window.index(place)}{kept}{new} {WORDS.tokens[token_id]}")
            found.append([f"The text as {name} reads it", *chips])
        return found

    @property
    def notes(self) -> list[str]:
        """How much each policy reads."""
        found = []
        for name, window in self.windows.items():
            told = (
                f"reads {len(window)} of {len(self.text)}" if window else "reads nothing: the run has ended"
            )
            found.append(f"{self.title(name)}: {told if len(window) < len(self.text) else 'reads all of it'}")
        return found

    @property
    def tables(self) -> list:
        """The shares after each window, and the whole run of each policy."""
        columns = {name: self.shares(window) for name, window in self.windows.items() if window}
        rows = [
            [token, *(f"{each[i]:.4f}{' ✓' * (self.selected(each) == i)}" for each in columns.values())]
            for i, token in enumerate(WORDS.tokens)
        ]
        moved = [f"{self.moved(name):.4f}" for name in columns if name != WHOLE]
        return [
            [
                "Shares of the next token",
                ["token", *map(self.title, columns)],
                *rows,
                ["moved to other tokens", "–", *moved],
            ],
            [
                "The whole run of each policy",
                ["policy", "new tokens", "ended by"],
                *(
                    [name, WORDS.decode(run.token_ids) or "none", ENDED_BY[run.finish_reason]]
                    for name, run in self.runs.items()
                ),
            ],
        ]

    def moved(self, name: str) -> float:
        """The share that stands on other tokens than after the whole text."""
        after, whole = (self.shares(self.windows[each]) for each in (name, WHOLE))
        return float(np.abs(after - whole).sum() / 2)

    @property
    def said(self) -> str:
        """What the policies drop."""
        start = f"Step {self.step} of {self.steps}, in the run of '{self.policy}'"
        if not self.full:
            bound = self.now.context
            return f"{start}: the text does not fill the context of {bound} yet, so all of it is read."
        dropping = ["drop oldest", "keep first"]
        dropped = [
            ", ".join(WORDS.tokens[i] for place, i in enumerate(self.text) if place not in self.windows[name])
            for name in dropping
        ]
        effects = [f"'{name}' drops {words}" for name, words in zip(dropping, dropped, strict=True)]
        moves = [f"'{name}' moves {self.moved(name):.2f}" for name in dropping]
        return (
            f"{start}: the context of {self.now.context} is full; 'stop' ends the run; {'; '.join(effects)}. "
            f"Of the share after the whole text, {' and '.join(moves)} to other tokens."
        )


def look(view: LiveView, windows: Windows) -> None:
    """The view shows a step."""
    view.expect(
        said=windows.said,
        problem="",
        lists=windows.lists,
        tables=windows.tables,
        notes=windows.notes,
        values={"Step": str(windows.step), "Policy of the run": windows.policy},
    )


@BOTH
def test_every_control(lab: Lab, page: Page, hand) -> None:
    """Bug: a token that is read and struck through, or a distribution of another window."""
    view = open_view(lab, page, "window_view()")
    reader = hand(view)
    windows = Windows(Setting(seed=2, new_tokens=7, context=6))
    look(view, windows)
    for policy in ("keep first", "stop", "drop oldest"):
        reader.choose("Policy of the run", policy)
        look(view, windows := replace(windows, policy=policy))
    reader.count("Tokens kept first", 1)
    look(view, windows := replace(windows, n_first=1))
    first, last = windows.step, windows.steps
    for button, step in [("Forward", first + 1), ("Back", first), ("End", last), ("Start", 1)]:
        reader.press(button)
        look(view, windows := replace(windows, asked=step))
    reader.count("Step", first)
    look(view, windows := replace(windows, asked=first))
    for now in change_every_setting(reader, windows.now, prompt="<start> the dog"):
        windows = replace(windows, now=now, asked=windows.step)
        look(view, windows)
    view.expect_all_used()
