"""A batch of rows: beside runs of one row, beside transformers, and as its rows end one after another."""

import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.decoding.agreement import TIE, gap_at_parting
from benchmarks.decoding.contenders import find
from benchmarks.decoding.ours import Ours
from benchmarks.decoding.shapes import SHAPES
from benchmarks.decoding.tables import Table, ratio, ratios, verdict
from benchmarks.decoding.timing import interleave, say
from decoder_lib import CausalLanguageModel, generate_batch

SHAPE = SHAPES["small"]
ROWS = 32
ROUNDS = 3
SIZES = (1, 2, 4, 8, 16, 24, 32)  # of the full batches that say what so many rows cost
BANDS = ((25, 32), (17, 24), (9, 16), (1, 8))

END = SHAPE.config.n_vocab - 1
ENDING = 1.0 - 2.0**-53  # the largest number that a generator gives: it selects the last token
GOING = 0.9  # numbers below it select others, as long as the last token's probability is below 0.1

ONE_BY_ONE = "ours, row by row"
TOGETHER = "ours, one batch"
THEIRS = "transformers, one batch"
TARGETS = {ONE_BY_ONE: 3.0, THEIRS: 2.0}


def tables(rounds: int | None) -> Iterator[Table]:
    """Batch against single runs and against transformers; then what a round costs as rows end."""
    yield from _side_by_side(rounds or ROUNDS)
    yield _ending(rounds or ROUNDS)


def _prompts(rows: int) -> list[list[int]]:
    return np.array(SHAPE.tokens(ROWS * SHAPE.prompt_length)).reshape(ROWS, -1)[:rows].tolist()


def _side_by_side(rounds: int) -> Iterator[Table]:
    say("batch, side by side")
    weights, prompts, made = SHAPE.weights(), _prompts(ROWS), SHAPE.new_tokens
    ours = Ours(weights, SHAPE.config)
    runs = {
        TOGETHER: lambda: (
            generate_batch(ours.model, prompts, made, greedy=True, use_cache=True).continuations
        ),
        ONE_BY_ONE: lambda: [ours.generate(prompt, made) for prompt in prompts],
    }
    kind = find("transformers")
    if kind is not None:
        theirs = kind(weights, SHAPE.config)
        runs[THEIRS] = lambda: theirs.generate_batch(prompts, made)

    agreement = Table(
        f"Agreement, a batch of {ROWS} rows, {SHAPE.name}",
        ("", "rows with the same tokens", "others part at a gap of", ""),
        notes=[f"A gap is that of our logits for the two tokens; up to {TIE:g} it is a tie."],
    )
    expected = runs[TOGETHER]()
    for name in [name for name in runs if name != TOGETHER]:
        rows = zip(prompts, expected, runs[name](), strict=True)
        gaps = [gap for row in rows if (gap := gap_at_parting(ours, *row)) is not None]
        agrees = all(gap <= TIE for gap in gaps)
        agreement.add(
            name,
            f"{ROWS - len(gaps)} of {ROWS}",
            f"{max(gaps):.1e} at most" if gaps else "",
            verdict(agrees),
        )
        if not agrees:
            del runs[name]
    yield agreement

    seconds = interleave(runs, rounds, warm=False)
    title = f"{ROWS} rows, {SHAPE.name}, {SHAPE.prompt_length} tokens given and {made} made in each"
    yield ratios(title, seconds, TARGETS)


class EndsAt(np.random.Generator):
    """Numbers that select the end token as the `last`-th token of a row, and none before.

    times : when each was asked for, in seconds; a row is asked once a round.
    """

    def __init__(self, last: int, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.last = last
        self.times: list[float] = []

    def random(self) -> float:
        """The next number in [0, 1)."""
        self.times.append(time.perf_counter())
        return ENDING if len(self.times) == self.last else GOING * super().random()


def _ending(rounds: int) -> Table:
    """Rows that end at random rounds: each round's seconds beside those of full batches of as many rows."""
    say("batch, rows that end one after another")
    model, made = Ours(SHAPE.weights(), SHAPE.config).model, SHAPE.new_tokens
    lengths = np.random.default_rng(3).integers(1, made + 1, ROWS)  # (B,)
    lengths[0] = made  # the row that keeps the time goes on to the end
    cases = {size: np.full(size, made) for size in SIZES} | {"ending": lengths}
    found: dict[int | str, list[NDArray[np.float64]]] = {case: [] for case in cases}
    for _ in range(rounds):
        for case, ends in cases.items():
            found[case].append(seconds_by_round(model, ends))
    by_round = {case: np.median(runs, axis=0) for case, runs in found.items()}  # (made - 1,) each

    # The first round reads the prompts and is left out on both sides.
    live = (lengths[:, None] > np.arange(1, made)).sum(axis=0)  # (made - 1,)
    full = np.array([by_round[size] for size in SIZES])  # (sizes, made - 1)
    expected = np.array([np.interp(rows, SIZES, full[:, r]) for r, rows in enumerate(live)])
    measured = by_round["ending"]
    table = Table(
        f"Rows that end at random rounds, {ROWS} rows, {SHAPE.name}",
        ("rows that go on", "rounds", "row-steps", "ms a round", "of full batches", "measured / full"),
        notes=[
            "The fifth column is what full batches of as many rows take in the same rounds, interpolated "
            f"between batches of {', '.join(map(str, SIZES))} rows.",
            _shares(int(live.sum()), float(measured.sum()), float(full[-1].sum())),
        ],
    )
    for low, high in (*BANDS, (1, ROWS)):
        among = (live >= low) & (live <= high)
        if among.any():
            ours, theirs = 1e3 * measured[among].mean(), 1e3 * expected[among].mean()
            cells = (str(among.sum()), str(live[among].sum()), f"{ours:.2f}", f"{theirs:.2f}")
            table.add(f"{low} to {high}", *cells, ratio(ours / theirs))
    return table


def seconds_by_round(model: CausalLanguageModel, ends: NDArray[np.int64]) -> NDArray[np.float64]:
    """Seconds of each round but the first, (rounds - 1,), where B rows end after `ends` (B,) tokens."""
    generators = [EndsAt(int(end), row) for row, end in enumerate(ends)]
    run = generate_batch(
        model,
        _prompts(len(ends)),
        int(ends.max()),
        end_id=END,
        seeds=generators,
        use_cache=True,
    )
    if run.lengths.tolist() != ends.tolist():
        raise RuntimeError("a row has not ended where it was to end")
    return np.diff(generators[0].times)


def _shares(row_steps: int, measured: float, full: float) -> str:
    """How much of a full batch's row-steps there were, and how much of its time they took."""
    all_steps = ROWS * (SHAPE.new_tokens - 1)
    return (
        f"Of the full batch's {all_steps} row-steps there were {100 * row_steps / all_steps:.0f}%, and they "
        f"took {100 * measured / full:.0f}% of its time: {1e6 * measured / row_steps:.0f} µs a row-step, "
        f"{1e6 * full / all_steps:.0f} µs in the full batch."
    )
