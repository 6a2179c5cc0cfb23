"""The generation explorer in JupyterLab, by mouse and by keyboard, against the library's answers."""

from collections.abc import Sequence

import numpy as np
from lab import Lab
from live import BOTH, Keyboard, LiveView, Mouse, Reader, open_view, play_and_pause
from playwright.sync_api import Page
from runs import END, LARGE, LARGE_MODEL, UNKNOWN, WORDS, Setting, change_every_setting, products, small, word

from decoder_lib import Generation, Step, generate
from decoder_lib.selection import draw

HEADS = ["step", "token", "share", "product", "without cache", "with cache"]


def look(view: LiveView, now: Setting, run: Generation, step: int, *others: list, taken: int = 0) -> None:
    """The view shows a run up to a step. `others` are further tables; `taken` is the step of a branch."""
    made, n_prompt = run[:step], len(now.ids)
    words = [*now.prompt.split(), *map(word, made)]
    chips = [f"{position} {token}" for position, token in enumerate(words)]
    if step:
        chips[-1] = f"{len(words) - 1}, new {words[-1]}"
    if 0 < taken <= step:
        place = n_prompt + taken - 1
        chips[place] = chips[place].replace(f" {words[place]}", f", taken {words[place]}")
    left = len(run) - step
    finish = f"Not finished: {left} more step{'s' * (left > 1)} to come."
    if not left:
        finish = f"Finished: {now.finish(run)}."
    told = f"the prompt, {n_prompt} tokens"
    if step:
        told = (
            f"read {len(words) - 1} tokens, selected {words[-1]} at {made[-1].probability:.4f}, "
            f"product so far {small(products(made)[-1])}"
        )
    view.expect(
        said=f"{'Branch' if taken else 'Run'}, step {step} of {len(run)}: {told}. {finish}",
        problem="",
        lists=[[f"the prefix: {n_prompt} given{f', then {step} selected' * bool(step)}", *chips]],
        tables=[*([shares(made), passes(made)] if step else []), *others],
        pictures=[scale(made[-1])] if step and not now.greedy else [],
        ticked=[words[-1]] if step else [],
        values={"Step": str(step)},
    )


def drawn(step: Step) -> int:
    """What the selection rule selects, whatever was taken."""
    if step.uniform is None:
        return int(np.argmax(step.distribution))
    return draw(step.distribution, step.uniform)


def shares(made: Sequence[Step]) -> list:
    """The table of the newest step's candidates."""
    newest = made[-1]
    notes = {drawn(newest): "not taken", newest.token_id: "taken instead"}
    if drawn(newest) == newest.token_id:
        notes = {newest.token_id: "selected"}
    limit = next(limit for limit in (0.1, 0.25, 0.5, 1) if max(newest.distribution) <= limit)
    rows = [
        [token, f"{newest.distribution[i]:.4f}", "", notes.get(i, "")] for i, token in enumerate(WORDS.tokens)
    ]
    caption = f"Shares at step {len(made)}, after {len(newest.context)} tokens"
    return [caption, ["token", "share", f"0 to {limit}", "note"], *rows]


def passes(made: Sequence[Step]) -> list:
    """The table of steps. With a cache, a pass reads the prompt or the one token that is new."""
    with_cache = [len(made[0].context), *[1] * (len(made) - 1)]
    rows = [
        [
            str(number),
            word(step),
            f"{step.probability:.4f}",
            small(product),
            str(len(step.context)),
            str(cached),
        ]
        for number, (step, product, cached) in enumerate(
            zip(made, products(made), with_cache, strict=True), 1
        )
    ]
    read = sum(len(step.context) for step in made)
    foot = ["all", "", "", small(products(made)[-1]), str(read), str(sum(with_cache))]
    return ["The steps so far, and the positions computed", HEADS, *rows, foot]


def scale(step: Step) -> str:
    """What is said of the newest step's draw."""
    edges = [0.0, *np.cumsum(step.distribution)]
    places = [f"{token} {edges[i]:.4f} to {edges[i + 1]:.4f}" for i, token in enumerate(WORDS.tokens)]
    hit = drawn(step)
    fell = f"The draw {step.uniform:.4f} fell on {WORDS.tokens[hit]}"
    taken = "" if hit == step.token_id else f"; {word(step)} was taken instead"
    where = f"{fell} between {edges[hit]:.4f} and {edges[hit + 1]:.4f}{taken}."
    return f"The shares laid end to end from 0 to 1: {', '.join(places)}. {where}"


def branch(now: Setting, run: Generation, step: int, token_id: int) -> Generation:
    """What would have come of another token at a step: the draws after it stay the run's own."""
    newest = run[step - 1]
    taken = Step(newest.context, token_id, newest.log_distribution, newest.uniform, newest.positions_read)
    steps = (*run[: step - 1], taken)
    if token_id == END and now.end:
        return Generation(run.prompt, steps, "stop")
    generator = np.random.default_rng(now.seed)
    generator.random(step)
    prefix = [*now.ids, *(step.token_id for step in steps)]
    rest = now.run(prompt=prefix, max_new_tokens=now.new_tokens - step, seed=generator)
    return Generation(run.prompt, (*steps, *rest), rest.finish_reason)


def compared(run: Generation, other: Generation) -> list:
    """The table of a run and its branch."""
    rows = []
    for place in range(max(len(run), len(other))):
        row = [str(place + 1)]
        for one in (run, other):
            if place < len(one):
                step = one[place]
                row += [word(step), f"{step.probability:.4f}", small(products(one.steps)[place])]
            else:
                row += ["–"] * 3
        rows.append(row)
    heads = ["step", "run", "share", "product", "branch", "share", "product"]
    return ["Token by token; before the heavy row they are the same", heads, *rows]


@BOTH
def test_every_control(lab: Lab, page: Page, hand) -> None:
    """Bug: a control that is not there for a mouse or a keyboard, or that shows another run than it says."""
    view = open_view(lab, page, "generation_explorer(step=2)")
    reader, now, step = hand(view), Setting(), 2
    look(view, now, now.run(), step)
    take_every_token(reader, now)
    walk(reader, now)
    for now in change_every_setting(reader, Setting(), prompt="<start> the dog"):
        step = min(step, len(now.run()))
        look(view, now, now.run(), step)
    reader.write("Prompt", "<start> the bird")
    view.expect(values={"Prompt": "<start> the bird"}, problem=UNKNOWN)
    reader.write("Prompt", now.prompt)
    look(view, now, now.run(), step)
    view.expect_all_used()


def take_every_token(reader: Reader, now: Setting) -> None:
    """Take each token at step 2, follow the last branch, and leave it again in both ways."""
    view, run = reader.view, now.run()
    own = run[1].token_id
    for token_id, token in enumerate(WORDS.tokens):
        if token_id != own:
            reader.press(token)
            other = branch(now, run, 2, token_id)
            look(view, now, other, 2, compared(run, other), taken=2)
    reader.press(WORDS.tokens[own])
    look(view, now, run, step=2)
    reader.press("dog")
    other = branch(now, run, 2, WORDS.id("dog"))
    reader.press("End")
    look(view, now, other, len(other), compared(run, other), taken=2)
    reader.press("Back to the run")
    look(view, now, run, len(other), compared(run, other))
    reader.press("Follow the branch")
    look(view, now, other, len(other), compared(run, other), taken=2)
    reader.press("Drop the branch")
    look(view, now, run, len(other))


def walk(reader: Reader, now: Setting) -> None:
    """Walk through the run in every way, to step 2."""
    view, run = reader.view, now.run()
    for button, step in [("Start", 0), ("Forward", 1), ("Forward", 2), ("Back", 1), ("End", 5)]:
        reader.press(button)
        look(view, now, run, step)
    reader.count("Step", 3)
    look(view, now, run, step=3)
    play_and_pause(reader, lambda: look(view, now, run, step=5))
    reader.count("Step", 2)
    look(view, now, run, step=2)


def test_a_large_vocabulary(lab: Lab, page: Page) -> None:
    """Bug: a list of tokens that takes none, or another one than it says."""
    view = open_view(lab, page, "generation_explorer(large, step=2)", setup=LARGE)
    run = generate(LARGE_MODEL, [3, 4], 5, end_id=5)
    newest, selected = run[1], run.token_ids[1]
    largest = np.argsort(-newest.distribution)[:10].tolist()
    share = [f"{each:.4f}" for each in newest.distribution]
    offered = [f"word{i} {share[i]}" for i in largest]
    said = view.shown()["said"]
    assert said.startswith(f"Run, step 2 of {len(run)}: read 3 tokens, selected word{selected} at ")
    for place, reader in enumerate((Mouse(view), Keyboard(view))):
        view.expect(values={"Another token": offered[0]})  # the list has a first token
        if place:
            reader.choose("Another token", offered[place])
        reader.press("Take it")
        view.expect(notes=["The run and the branch at step 2"])
        caption, _, *rows, more = view.shown()["tables"][0]
        assert caption == "Shares at step 2, after 3 tokens"
        notes = {selected: "not taken", largest[place]: "taken instead"}
        candidates = dict.fromkeys([*largest, selected])
        assert rows == [[f"word{i}", share[i], "", notes.get(i, "")] for i in candidates]
        left = 1 - newest.distribution[list(candidates)].sum()
        assert more == [f"and {300 - len(candidates)} more, which share {left:.4f}"]
        reader.press("Drop the branch")
        view.expect(said=said)
