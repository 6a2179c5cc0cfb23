"""The batch view in JupyterLab, by mouse and by keyboard, against the library's answers."""

from collections.abc import Sequence
from dataclasses import replace

from lab import Lab
from live import BOTH, LiveView, open_view
from playwright.sync_api import Page
from runs import UNKNOWN, WORDS, Setting, change_every_setting

from decoder_lib import Generation

PROMPTS = ("<start> the cat", "<start> the dog", "<start> the cat sat the", "<start>")
CUT = {"length": "length bound", "context": "context full"}


class Batch:
    """What the library makes of each row on its own: batch-mates change nothing."""

    def __init__(self, now: Setting, prompts: Sequence[str]) -> None:
        self.now, self.prompts = now, prompts
        self.runs: dict[int, Generation] = {}
        for number, prompt in enumerate(prompts):
            ids = WORDS.encode(prompt)
            if len(ids) <= now.context:
                self.runs[number] = now.run(prompt=ids, seed=now.seed + number)
        self.total = max(map(len, self.runs.values()))

    def finished(self, number: int, after: int) -> bool:
        """Whether a row has selected the end token by then."""
        run = self.runs[number]
        return run.finish_reason == "stop" and len(run) <= after

    def handed(self, round_: int) -> list[int]:
        """The rows that are handed to the model in a round."""
        return [number for number, run in self.runs.items() if len(run) >= round_]

    def rows(self, shown: int) -> list:
        """The table of the rows."""
        rows = []
        for number, prompt in enumerate(self.prompts):
            seed = "" if self.now.greedy else f", seed {self.now.seed + number}"
            head = f"row {number}{seed} {prompt}"
            if number not in self.runs:
                size = len(prompt.split())
                told = f"left out: its prompt has {size} tokens; the context bound is {self.now.context}"
                rows.append([head, *[""] * self.total, "0", told])
                continue
            run = self.runs[number]
            cells = [WORDS.tokens[token_id] for token_id in run.token_ids[:shown]]
            count, stands = len(cells), "going on"
            if self.finished(number, shown):
                stands = f"✓ finished in round {len(run)}"
                cells[-1] = f"✓ {cells[-1]}"
                cells += ["done"] * (shown - count)
            elif len(run) <= shown:
                stands = f"truncated: {CUT[run.finish_reason]}"
                cells += ["cut"] * (shown - count)
            cells += [""] * (self.total - shown)
            rows.append([head, *cells, str(count), stands])
        rounds = [f"round {number}" for number in range(1, self.total + 1)]
        caption = f"The rows after round {shown} of {self.total}"
        return [caption, ["row", *rounds, "tokens", "how it stands"], *rows]

    def mask(self, shown: int) -> list:
        """The table of the finished mask."""
        rows = [
            [
                str(round_),
                ", ".join(map(str, self.handed(round_))),
                *("✓ True" if self.finished(number, round_) else "False" for number in self.runs),
            ]
            for round_ in range(1, shown + 1)
        ]
        heads = ["after round", "handed over", *(f"row {number}" for number in self.runs)]
        return ["The finished mask, round by round", heads, *rows]

    def cost(self, shown: int) -> list:
        """The table of what padding costs."""
        rounds = []
        for round_ in range(1, shown + 1):
            sizes = [len(self.runs[number].prompt) + round_ - 1 for number in self.handed(round_)]
            handed, longest, all_rows = len(sizes), max(sizes), len(self.runs)
            rounds.append((handed, all_rows, sum(sizes), handed * longest, all_rows * longest))
        names = [
            "predictions made",
            "… if ended rows were handed over too",
            "positions that hold a token",
            "… padded to the longest row",
            "… and with ended rows as well",
        ]
        last = rounds[-1] if rounds else (0,) * 5
        sums = [sum(each[place] for each in rounds) for place in range(5)]
        rows = [[name, str(now), str(sofar)] for name, now, sofar in zip(names, last, sums, strict=True)]
        return ["What padding costs", ["", "this round", "so far"], *rows]

    def said(self, shown: int) -> str:
        """What happened in the round."""
        if not shown:
            return f"Before the first round: {len(self.runs)} rows, none of them finished."
        handed = [str(number) for number in self.handed(shown)]
        who = (
            f"row {handed[0]} was"
            if len(handed) == 1
            else f"rows {', '.join(handed[:-1])} and {handed[-1]} were"
        )
        news = [
            f"row {number} finished"
            if run.finish_reason == "stop"
            else f"row {number} was truncated: {CUT[run.finish_reason]}"
            for number, run in self.runs.items()
            if len(run) == shown
        ]
        going = sum(len(run) > shown for run in self.runs.values())
        after = f"{going} row{' goes' if going == 1 else 's go'} on" if going else "no row goes on"
        told = "; ".join(news) or "no row ended in it"
        return f"Round {shown} of {self.total}: {who} handed to the model; {told}; {after}."


def look(view: LiveView, batch: Batch, shown: int) -> None:
    """The view shows a batch up to a round."""
    view.expect(
        said=batch.said(shown),
        problem="",
        tables=[batch.rows(shown), batch.mask(shown), batch.cost(shown)],
        values={"Round": str(shown), "Prompts": "\n".join(batch.prompts)},
    )


@BOTH
def test_every_control(lab: Lab, page: Page, hand) -> None:
    """Bug: a row that is changed by its batch-mates, or said to be finished when it was cut off."""
    view = open_view(lab, page, "batch_view()")
    reader, now, prompts = hand(view), Setting(parameters="trained"), PROMPTS
    batch = Batch(now, prompts)
    look(view, batch, 1)
    total = batch.total
    for button, shown in [("Forward", 2), ("End", total), ("Back", total - 1), ("Start", 0)]:
        reader.press(button)
        look(view, batch, shown)
    reader.count("Round", 3)
    look(view, batch, shown := 3)
    prompts = ("<start> the dog", *PROMPTS[1:3], "the cat")
    reader.write("Prompts", "\n".join(prompts))
    batch = Batch(now, prompts)
    look(view, batch, shown := min(shown, batch.total))
    reader.write("Prompts", "<start> the dog\n<start> the bird")
    view.expect(problem=f"These prompts are not used: row 1: {UNKNOWN}", said=batch.said(shown))
    reader.write("Prompts", "\n".join(prompts))
    for setting in change_every_setting(reader, now):
        now, batch = setting, Batch(setting, prompts)
        look(view, batch, shown := min(shown, batch.total))
    reader.write("Context bound", "4")
    batch = Batch(replace(now, context=4), prompts)
    look(view, batch, min(shown, batch.total))
    view.expect_all_used()
