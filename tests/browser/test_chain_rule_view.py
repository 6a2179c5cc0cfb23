"""The chain-rule view in JupyterLab, by mouse and by keyboard, against the library's answers."""

import math
from dataclasses import dataclass, replace

from lab import Lab
from live import BOTH, LiveView, open_view
from playwright.sync_api import Page
from runs import Setting, change_every_setting, log, products, small, word

from decoder_lib import Generation, sequence_log_probability

HEADS = ["step", "token", "factor", "product so far", "ln factor", "sum so far"]
MORE_FACTORS = (
    "No factor is above 1, so a product can only fall with each further token: "
    "the run with fewer factors has the advantage, whatever its tokens are."
)


@dataclass(frozen=True)
class Shown:
    """A run under the name that the view gives it."""

    name: str
    setting: Setting

    @property
    def run(self) -> Generation:
        """What the library makes of it."""
        return self.setting.run()

    @property
    def table(self) -> list:
        """Its factors and what they come to."""
        now, run = self.setting, self.run
        rule = "greedy" if now.greedy else f"seed {now.seed}, temperature {now.temperature:g}"
        rows = [
            [
                *(str(number), word(step), f"{step.probability:.4f}", small(product)),
                *(log(math.log(step.probability)), log(math.log(product))),
            ]
            for number, (step, product) in enumerate(zip(run, products(run.steps), strict=True), 1)
        ]
        foot = ["all", "", "", small(run.probability), "", log(run.log_probability)]
        return [f"{now.parameters}, {now.prompt}, {rule}", HEADS, *rows, foot]

    @property
    def lengths(self) -> str:
        """What is said of its logarithms laid end to end."""
        factors = f"{len(self.run)} factor{'s' * (len(self.run) > 1)}"
        words = f"{self.name.capitalize()}: log-sum {log(self.run.log_probability)}, {factors}"
        parts = ", ".join(f"{word(step)} {log(step.log_probability)}" for step in self.run)
        return f"Logarithms laid end to end. {words}: {parts}."


def look(view: LiveView, one: Shown, other: Shown, said: str) -> None:
    """The view shows two runs."""
    view.expect(
        said=said,
        problem="",
        tables=[one.table, other.table],
        pictures=[one.lengths, other.lengths],
        notes=[f"It ended because {each.setting.finish(each.run)}." for each in (one, other)],
        values={"First run": one.name, "Second run": other.name},
    )


def verdict(one: Shown, other: Shown) -> str:
    """Which run is the more probable, or why that cannot be said."""
    warmth = [1.0 if each.setting.greedy else each.setting.temperature for each in (one, other)]
    if warmth[0] != warmth[1]:
        return (
            f"Not ranked: the temperatures differ ({warmth[0]:g} and {warmth[1]:g}; greedy counts as 1). Each"
            " product holds for its own distributions, so the larger number says nothing about the other run."
        )
    fewer, more = sorted((one, other), key=lambda each: len(each.run))
    count = len(fewer.run)
    if count == len(more.run):
        told = ranking(one, other, count)
        return told[0].upper() + told[1:]
    unequal = (
        f"Not ranked: {fewer.name} has {count} factor{'s' * (count > 1)}, {more.name} has {len(more.run)}."
    )
    cut = f"Cut to the first {count} token{'s' * (count > 1)} of each: {ranking(one, other, count)}"
    return f"{unequal} {MORE_FACTORS} {cut}"


def ranking(one: Shown, other: Shown, count: int) -> str:
    """A sentence on the first tokens of two runs; their probability is that of the text, read in one pass."""
    texts = [each.run.token_ids[:count] for each in (one, other)]
    if texts[0] == texts[1]:
        return f"{one.name} and {other.name} are the same tokens, so their products are equal."
    scores = [
        sequence_log_probability(each.setting.model, each.setting.ids, text, each.setting.temperature)
        for each, text in zip((one, other), texts, strict=True)
    ]
    gap = abs(scores[0] - scores[1])
    more, less = (one, other) if scores[0] > scores[1] else (other, one)
    times = f"{math.exp(gap):.3g}"
    return (
        f"{more.name} is {times} times as probable as {less.name}: "
        f"their log-sums are {gap:.4f} apart, and exp({gap:.4f}) = {times}."
    )


def twins(now: Setting) -> tuple[Shown, Shown]:
    """A run and its twin under the other selection rule."""
    twin = replace(now, greedy=not now.greedy)
    return Shown("this run", now), Shown("the greedy run" if twin.greedy else "the sampled run", twin)


@BOTH
def test_every_control(lab: Lab, page: Page, hand) -> None:
    """Bug: two runs are compared, and others are shown."""
    view = open_view(lab, page, "chain_rule_view()")
    reader, now = hand(view), Setting()
    look(view, *twins(now), verdict(*twins(now)))
    reader.press("Keep this run")
    kept = Shown("kept run 1", now)
    look(
        view, twins(now)[0], kept, "This run and kept run 1 are the same tokens, so their products are equal."
    )
    reader.press("Keep this run")
    view.expect(problem="This run is kept already, as kept run 1.")
    reader.count("Seed", 3)
    now = replace(now, seed=3)
    look(view, twins(now)[0], kept, verdict(twins(now)[0], kept))
    reader.choose("First run", "the greedy run")
    look(view, twins(now)[1], kept, verdict(twins(now)[1], kept))
    reader.choose("First run", "this run")
    reader.press("Forget kept runs")
    look(view, *twins(now), verdict(*twins(now)))
    reader.choose("Second run", "this run")
    look(view, *twins(now)[:1] * 2, "This run and this run are the same tokens, so their products are equal.")
    reader.choose("Second run", "the greedy run")
    for setting in change_every_setting(reader, now, prompt="<start> the dog"):
        look(view, *twins(setting), verdict(*twins(setting)))
    view.expect_all_used()
