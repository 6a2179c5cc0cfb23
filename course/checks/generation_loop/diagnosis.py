"""Which slip a wrong run of the generation loop comes from.

Each diagnosis makes the run that a known slip would make, and compares. What is not recognised stays None:
a general message is better than a wrong explanation.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from course.checks.failures import Slip
from course.checks.generation_loop.cases import Case, RaisedError
from course.checks.models import ModelCall, Rows
from course.checks.reference import Choose, Row, continuation, draw, greedy, probabilities, sampler
from course.checks.sections import APPEND, READ

Pick = Callable[[Rows], Row]
Select = Callable[[Row], int]


LAST_ROW = "`model.logits` returns one row a position, and only the last one has read the whole prefix."


def _wrong_rows(prompt_length: int) -> Iterator[tuple[str, Pick]]:
    """Ways to pick another row than the last, each with the words for it."""
    yield "from the first row", lambda rows: rows[0]
    yield "from the row before the last", lambda rows: rows[max(len(rows) - 2, 0)]
    yield "from the prompt's last row at every step", lambda rows: rows[prompt_length - 1]
    yield "from the mean of all rows", lambda rows: rows.mean(axis=0)


def _row_slips(case: Case, fresh: Callable[[], Select]) -> Iterator[tuple[Slip, Choose]]:
    """Selections that read a wrong row; `fresh` makes a right selection from one, its generator as new."""
    for words, pick in _wrong_rows(len(case.prompt)):
        sentence = f"Your loop predicts from a row other than the last one ({words}): {LAST_ROW}"
        select = fresh()
        yield (
            Slip("G1", sentence, READ),
            lambda rows, select=select, pick=pick: select(pick(rows)),  # type: ignore[misc]
        )


def _flattened_slips() -> Iterator[tuple[Slip, Choose]]:
    sentence = (
        "Your loop takes the largest of all rows together: `argmax` over the whole array looks past the last "
        f"row. {LAST_ROW}"
    )
    yield Slip("G1", sentence, READ), lambda rows: int(rows.argmax())
    yield Slip("G1", sentence, READ), lambda rows: int(rows.argmax() % rows.shape[1])


def append_slip(case: Case, tokens: Sequence[int], passes: Sequence[ModelCall]) -> Slip | None:
    """A slip in what the passes read, where the first two show one."""
    if len(passes) == 1 and len(tokens) > 1:
        sentence = (
            "Your loop selects several tokens from one pass: after each selection the model must read the "
            "longer prefix before the next one."
        )
        return Slip("G4", sentence, APPEND)
    if len(passes) < 2:
        return None
    first, second = passes[0].token_ids, passes[1].token_ids
    if len(second) == 1:
        sentence = (
            "Your loop hands the model only the newest token. Without a cache nothing is remembered between "
            "passes, so each pass must read the whole prefix."
        )
        return Slip("G4", sentence, APPEND)
    if second == first:
        sentence = (
            "Your loop never appends: the second pass reads the same prefix as the first, so the token just "
            "selected has no influence on the next."
        )
        return Slip("G4", sentence, APPEND)
    if len(second) == len(first) and case.as_array:
        sentence = (
            "The prefix does not grow when the prompt is an array: `+` adds numbers to an array, it does not "
            "append. Make a list of the prompt first, or use np.append."
        )
        return Slip("G4", sentence, APPEND)
    if tokens and second == (tokens[0], *first):
        return Slip(None, "Your loop puts the selected token in front of the prefix, not behind it.", APPEND)
    return None


def _matching(case: Case, tokens: list[int], slips: Iterator[tuple[Slip, Choose]]) -> Slip | None:
    """The slip whose run is exactly `tokens`; where several wrong rows agree, no word on which it was."""
    found = [
        slip
        for slip, choose in slips
        if continuation(case.script, case.prompt, len(tokens), choose) == tokens
    ]
    if len(found) > 1 and all(slip.misconception == "G1" for slip in found):
        return Slip("G1", f"Your loop predicts from a row other than the last one: {LAST_ROW}", READ)
    return found[0] if found else None


def returned_prompt(case: Case, tokens: list[int]) -> Slip | None:
    """Whether the prompt stands before the new tokens."""
    count = len(case.prompt)
    if len(tokens) <= count or tokens[:count] != list(case.prompt):
        return None
    return Slip(None, "Your function returns the prompt as well: only the new tokens are asked for.", APPEND)


def greedy_slip(case: Case, tokens: list[int], passes: Sequence[ModelCall]) -> Slip | None:
    """The slip behind wrong greedy tokens."""

    def slips() -> Iterator[tuple[Slip, Choose]]:
        yield from _row_slips(case, lambda: lambda row: int(row.argmax()))
        yield from _flattened_slips()

    return (
        append_slip(case, tokens, passes) or _matching(case, tokens, slips()) or returned_prompt(case, tokens)
    )


def unknown_id_slip(failure: RaisedError) -> Slip | None:
    """The slip behind an id that the model refused: the place of the largest number in the flattened rows."""
    if len(failure.passes) < 2:
        return None
    before, refused = failure.passes[-2].token_ids, failure.passes[-1].token_ids
    slip, flattened = next(_flattened_slips())
    if not before or not refused or max(before) >= failure.case.script.n_vocab:
        return None
    return slip if refused[-1] == flattened(failure.case.script.rows(before)) else None


def sampling_slip(
    case: Case, tokens: list[int], passes: Sequence[ModelCall], rng: np.random.Generator
) -> Slip | None:
    """The slip behind wrong sampled tokens; `rng` as it was before the call."""

    def fresh() -> Select:
        own = copy.deepcopy(rng)
        return lambda row: draw(probabilities(row), own)

    def slips() -> Iterator[tuple[Slip, Choose]]:
        yield (
            Slip(None, "Your loop selects greedily although it was given a generator to draw with.", READ),
            greedy,
        )
        yield RESEEDED, lambda rows: sampler(copy.deepcopy(rng))(rows)
        yield from _row_slips(case, fresh)
        yield from _other_draws(lambda: copy.deepcopy(rng))

    return (
        append_slip(case, tokens, passes) or _matching(case, tokens, slips()) or returned_prompt(case, tokens)
    )


RESEEDED = Slip(
    "G10",
    "Your loop starts its random numbers anew: the same numbers come again, and the draws are not "
    "independent. Use the generator that is passed in, as it is.",
    READ,
)
GLOBAL_STATE = Slip(
    "G11",
    "Your loop uses NumPy's global random state (np.random.choice, np.random.seed and the like). Draw from "
    "the generator that is passed in: only then does the caller decide which numbers come.",
    READ,
)


def _other_draws(fresh: Callable[[], np.random.Generator]) -> Iterator[tuple[Slip, Choose]]:
    """Draws that are random, but not the agreed draw."""
    uniform, gumbel, multinomial, twice, descending = (fresh() for _ in range(5))

    def draw_twice(rows: Rows) -> int:
        twice.random()
        return sampler(twice)(rows)

    def draw_descending(rows: Rows) -> int:
        shares = probabilities(rows[-1])
        order = np.argsort(-shares, kind="stable")
        return int(order[draw(shares[order], descending)])

    agreed = "one uniform number a step, against the cumulative probabilities in ascending id order."
    recipe = f"Your draw follows the distribution, but not by the agreed recipe: {agreed}"
    even = "Your draw gives every token the same chance: it does not use the probabilities."
    yield Slip(None, even, READ), lambda rows: int(uniform.choice(rows.shape[1]))
    yield Slip(None, recipe, READ), lambda rows: int((rows[-1] + gumbel.gumbel(size=rows.shape[1])).argmax())
    yield (
        Slip(None, recipe, READ),
        lambda rows: int(multinomial.multinomial(1, probabilities(rows[-1])).argmax()),
    )
    yield (
        Slip(None, f"Your loop draws more than one number a step; the agreed draw is {agreed}", READ),
        draw_twice,
    )
    order = f"Your draw sorts the probabilities first; the agreed draw is {agreed}"
    yield Slip(None, order, READ), draw_descending


def temperature_slip(logits: Row, temperature: float, tokens: list[int], seeds: Sequence[int]) -> Slip | None:
    """The slip behind first tokens that were drawn at a wrong temperature, one a generator in `seeds`."""
    shares = probabilities(logits)
    wrong = {
        "The temperature changes nothing in your loop: it is not used, or divided out again by what "
        "follows.": shares,
        "Your loop multiplies the logits by the temperature, or raises probabilities to that power, which is "
        "the same; the logits are divided by it.": probabilities(logits, 1 / temperature),
        "Your loop divides probabilities by the temperature; the logits are divided, before the softmax.": (
            probabilities(shares, temperature)
        ),
        "Your loop applies the temperature twice.": probabilities(logits, temperature**2),
    }
    for sentence, distribution in wrong.items():
        if [draw(distribution, np.random.default_rng(seed)) for seed in seeds] == tokens:
            return Slip("G9", sentence, READ)
    if [int(logits.argmax())] * len(seeds) == tokens:
        return Slip(None, "Your loop selects greedily although it was given a generator to draw with.", READ)
    return None
