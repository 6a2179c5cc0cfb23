"""The cache view in JupyterLab, by mouse and by keyboard, against the library's answers."""

from dataclasses import replace

import numpy as np
from lab import Lab
from live import BOTH, LiveView, Reader, open_view, play_and_pause
from playwright.sync_api import Page
from runs import UNKNOWN, WORDS, Setting

from decoder_lib import Selection

KEY = ["signs", "● computed", "○ from the cache", "· not there yet"]


def look(view: LiveView, now: Setting, step: int, edit: tuple[int, str] | None = None) -> None:
    """The view shows the passes up to a step, and what an edit makes of the cache."""
    run = now.run()
    prefix = [*now.ids, *run.token_ids[:step]]
    said, tables, place = passes(now, step), [grid(now, step)], len(now.ids) - 1
    values = {"Step": str(step), "New tokens": str(now.new_tokens)}
    if edit is not None:
        place, word = edit
        said, more = after_edit(now, step, place, WORDS.id(word))
        tables += more
        values |= {"Edit position": f"{place}: {WORDS.tokens[prefix[place]]}", "Token there": word}
    view.expect(said=said, problem="", tables=tables, lists=[KEY], values=values)


def counted(count: int) -> str:
    """Positions, in words."""
    return "1 position" if count == 1 else f"{count} positions"


def passes(now: Setting, step: int) -> str:
    """What the last pass did."""
    n_prompt = len(now.ids)
    if not step:
        return f"The cache is empty. The first pass will compute the whole prompt: {counted(n_prompt)}."
    read = n_prompt + step - 1
    computed = n_prompt if step == 1 else 1
    return (
        f"Pass {step} computed {counted(computed)} and took {read - computed} from the cache. "
        f"So far {read} with the cache, {sum(range(n_prompt, read + 1))} without."
    )


def grid(now: Setting, step: int) -> list:
    """The table of positions by passes: a pass computes the prompt, and each later one its newest token."""
    run, n_prompt = now.run(), len(now.ids)
    positions = range(n_prompt + len(run))
    words = [WORDS.tokens[i] for i in (*now.ids, *run.token_ids[:step])] + [""] * (len(run) - step)
    rows = []
    for number in range(1, len(run) + 1):
        read = n_prompt + number - 1
        held = 0 if number == 1 else read - 1
        signs = [
            "●○"[position < held] if position < read and number <= step else "·" for position in positions
        ]
        said = {sign[0]: sign for sign in KEY[1:]}
        counts = [str(read - held), str(read)] if number <= step else ["", ""]
        rows.append([f"pass {number}", *(said[sign] for sign in signs), *counts])
    heads = [f"{position} {word}".strip() for position, word in enumerate(words)]
    read = n_prompt + step - 1
    totals = [str(read), str(sum(range(n_prompt, read + 1)))] if step else ["0", "0"]
    return [
        "Positions by passes",
        ["", *heads, "computed with the cache", "computed without"],
        *rows,
        ["so far", "", *totals],
    ]


def after_edit(now: Setting, step: int, place: int, token_id: int) -> tuple[str, list]:
    """What is said of an edit, and the tables of the entries and of the two answers."""
    run, model = now.run(), now.model
    before = [*now.ids, *run.token_ids[:step]]
    after = [*before[:place], token_id, *before[place + 1 :]]
    held = len(before) - 1 if step else 0
    kept = min(place, held)
    old, new = WORDS.tokens[before[place]], WORDS.tokens[token_id]
    said = f"Position {place} is now {new} and not {old}."
    entries = [
        "What becomes of the cache",
        ["", *(f"{position} {WORDS.tokens[i]}" for position, i in enumerate(after))],
        ["was", *(old if position == place else "" for position in range(len(after)))],
        ["entry", *(["stays"] * kept + ["falls"] * (held - kept) + ["none yet"] * (len(after) - held))],
        ["next pass", *(["cached"] * kept + ["computed"] * (len(after) - kept))],
    ]
    if kept == held:
        return f"{said} No entry falls: the cache does not hold this position yet.", [entries]
    cache = model.new_cache()
    model.logits(before[:-1], cache=cache)
    answers = []
    for row in (model.logits(after)[-1], model.logits(after[-1:], cache=cache)[-1]):
        selection = Selection(now.greedy, now.temperature)
        log_shares = selection.log_distribution(row)
        generator = np.random.default_rng(now.seed)
        generator.random(step)
        answers.append((np.exp(log_shares), selection.select(log_shares, generator)[0]))
    (right, wanted), (stale, got) = answers
    told = f"would select {WORDS.tokens[got]}; the right answer is {WORDS.tokens[wanted]}"
    if got == wanted:
        error = np.abs(right - stale).max()
        told = f"would select {WORDS.tokens[wanted]} too, from shares that are off by up to {error:.4f}"
    said += f" Of {held} entries {held - kept} fall; the next pass computes {counted(len(after) - kept)}."
    rows = []
    for i, token in enumerate(WORDS.tokens):
        names = [name for name, selected in (("right", wanted), ("stale", got)) if i == selected]
        note = f"selected: {' and '.join(names)}" if names else ""
        rows.append([token, f"{right[i]:.4f}", f"{stale[i]:.4f}", "", note])
    shares = [
        "The next token, right and from the stale cache",
        ["token", "right", "stale", "right above, stale hatched", "note"],
        *rows,
    ]
    return f"{said} The stale cache {told}.", [entries, shares]


@BOTH
def test_every_control(lab: Lab, page: Page, hand) -> None:
    """Bug: an entry that is said to be good and is not, or an answer that is not the stale cache's."""
    view = open_view(lab, page, "cache_view()")
    reader, now = hand(view), Setting()
    look(view, now, step=0)
    walk(reader, now)
    reader.choose("Token there", "dog")
    look(view, now, 3, (2, "dog"))
    reader.choose("Edit position", "1: the")
    look(view, now, 3)
    view.expect(values={"Edit position": "1: the", "Token there": "the"})
    reader.choose("Token there", "sat")
    look(view, now, 3, (1, "sat"))
    reader.press("Undo the edit")
    look(view, now, 3)
    newest = WORDS.tokens[now.run()[2].token_id]
    reader.choose("Edit position", f"5: {newest}")
    view.expect(values={"Edit position": f"5: {newest}", "Token there": newest})
    reader.choose("Token there", "cat")
    look(view, now, 3, (5, "cat"))
    reader.write("Prompt", "<start> the dog")
    now = replace(now, prompt="<start> the dog")
    look(view, now, min(3, len(now.run())))
    reader.write("Prompt", "<start> the bird")
    view.expect(values={"Prompt": "<start> the bird"}, problem=UNKNOWN)
    reader.choose("Parameters", "trained")
    now = replace(now, parameters="trained")
    look(view, now, step := min(3, len(now.run())))
    reader.choose("Selection", "greedy")
    now = replace(now, greedy=True)
    look(view, now, step := min(step, len(now.run())))
    reader.count("New tokens", 7)
    now = replace(now, new_tokens=7)
    look(view, now, step)
    view.expect_all_used()


def walk(reader: Reader, now: Setting) -> None:
    """Walk through the passes in every way, to step 3."""
    for button, step in [("Forward", 1), ("Forward", 2), ("Back", 1), ("End", 5), ("Start", 0)]:
        reader.press(button)
        look(reader.view, now, step)
    reader.count("Step", 4)
    look(reader.view, now, 4)
    play_and_pause(reader, lambda: look(reader.view, now, 5))
    reader.count("Step", 3)
    look(reader.view, now, 3)
