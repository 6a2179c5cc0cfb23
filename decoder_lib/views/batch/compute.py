"""What the batch view shows, round by round: which rows are handed to the model, finished or cut off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from decoder_lib.batch import BatchGeneration, generate_batch
from decoder_lib.views.situation import Settings, Situation, prompt_from
from decoder_lib.vocabulary import Vocabulary

MOST_ROWS = 8
_KEPT = 64  # batches; a reader goes back and forth between a few
_FIRST_PROMPTS = ("<start> the cat", "<start> the dog", "<start> the cat sat the", "<start>")
_BECAUSE = {"length": "length bound", "context": "context full"}


@dataclass(frozen=True)
class Batch:
    """What the batch view needs beside a situation.

    prompts : the words of each row's prompt. The situation's own prompt has no part in the batch.
    shown : how many rounds are shown.
    """

    prompts: tuple[str, ...]
    shown: int = 1


@dataclass(frozen=True)
class Row:
    """One row of the batch, as far as it is shown.

    seed : the seed of its generator; None under greedy selection.
    tokens : the tokens that it has selected, one per round.
    finished : whether the last of them is the end token.
    state : whether it goes on or how it ended, in words.
    refused : why it is not part of the batch; empty if it is.
    """

    number: int
    prompt: str
    seed: int | None
    tokens: tuple[str, ...]
    finished: bool
    state: str
    refused: str = ""


@dataclass(frozen=True)
class Cost:
    """What rounds cost, in predictions and in positions that are computed for them.

    handed : prefixes handed to the model; each gives one prediction.
    rectangle : what `handed` would be if the rows that have ended were handed over too.
    tokens : positions that hold a token of a prefix.
    padded : positions if the shorter prefixes of a round are padded to its longest one.
    padded_rectangle : as `padded`, with the rows that have ended.
    """

    handed: int = 0
    rectangle: int = 0
    tokens: int = 0
    padded: int = 0
    padded_rectangle: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.handed + other.handed,
            self.rectangle + other.rectangle,
            self.tokens + other.tokens,
            self.padded + other.padded,
            self.padded_rectangle + other.padded_rectangle,
        )


@dataclass(frozen=True)
class Round:
    """One round of the batch.

    handed : the numbers of the rows that were handed to the model.
    finished : the finished mask after the round, by row number.
    """

    number: int
    handed: tuple[int, ...]
    finished: Mapping[int, bool]
    cost: Cost


@dataclass(frozen=True)
class Rounds:
    """A batch up to the round that is shown.

    shown, total : the round that is shown (0 is before the first), and how many there are.
    rows : all rows, including those that are not part of the batch.
    rounds : the rounds shown.
    """

    shown: int
    total: int
    rows: tuple[Row, ...]
    rounds: tuple[Round, ...]

    @property
    def cost(self) -> Cost:
        """The cost of all rounds shown."""
        return sum((each.cost for each in self.rounds), Cost())

    @property
    def sentence(self) -> str:
        """What happened in the round shown, in words."""
        taken = [row for row in self.rows if not row.refused]
        if not self.total:
            return "There is no row that the model could be handed."
        if not self.shown:
            return f"Before the first round: {_count(len(taken), 'row')}, none of them finished."
        last = self.rounds[-1]
        ended = [row for row in taken if len(row.tokens) == self.shown and row.state != "going on"]
        news = "; ".join(_end(row) for row in ended) or "no row ended in it"
        going = sum(row.state == "going on" for row in taken)
        after = f"{_count(going, 'row goes', 'rows go')} on" if going else "no row goes on"
        return (
            f"Round {self.shown} of {self.total}: {_rows(last.handed)} handed to the model; {news}; {after}."
        )


def read_prompts(text: str, words: Vocabulary) -> tuple[str, ...]:
    """The prompts of a text, one per line; empty lines are left out.

    Raises ValueError, naming what is wrong, for no line, too many lines, or an unknown word.
    """
    prompts = tuple(" ".join(line.split()) for line in text.splitlines() if line.strip())
    if not 1 <= len(prompts) <= MOST_ROWS:
        raise ValueError(f"there are {len(prompts)} prompts; a batch here has 1 to {MOST_ROWS}, a line each")
    for number, prompt in enumerate(prompts):
        unknown = _unknown(prompt, words)
        if unknown:
            raise ValueError(f"row {number}: {unknown}")
    return prompts


def first_batch(situation: Situation) -> Batch:
    """The batch that a reader finds: four prompts in the lesson's words.

    For a decoder that does not know these words they are beginnings of the situation's own prompt.
    """
    words = situation.words
    if not any(_unknown(prompt, words) for prompt in _FIRST_PROMPTS):
        return Batch(_FIRST_PROMPTS)
    ends = range(len(situation.prompt), 0, -1)
    return Batch(tuple(words.decode(situation.prompt[:end]) for end in ends)[: len(_FIRST_PROMPTS)])


def rounds_of(situation: Situation, batch: Batch) -> Rounds:
    """The batch under the situation's settings, up to the round shown. Row b has the seed `seed + b`."""
    refused = [_refusal(situation, prompt) for prompt in batch.prompts]
    numbers = [number for number, reason in enumerate(refused) if not reason]
    run = batch_run(situation, batch)
    total = len(run.finished_by_round)
    shown = min(batch.shown, total)
    sizes = [len(situation.words.encode(batch.prompts[number])) for number in numbers]
    rows = []
    for number, (prompt, reason) in enumerate(zip(batch.prompts, refused, strict=True)):
        seed = None if situation.greedy else situation.seed + number
        if reason:
            rows.append(Row(number, prompt, seed, (), False, "left out", reason))
            continue
        place = numbers.index(number)
        ids = run.continuations[place]
        tokens = tuple(situation.words.tokens[token_id] for token_id in ids[:shown])
        over = shown >= len(ids)
        finished = over and bool(run.finished[place])
        if finished:
            state = f"finished in round {len(ids)}"
        elif over:
            state = f"truncated: {_BECAUSE[run.finish_reasons[place]]}"
        else:
            state = "going on"
        rows.append(Row(number, prompt, seed, tokens, finished, state))
    rounds = tuple(_round(number, run, numbers, sizes) for number in range(1, shown + 1))
    return Rounds(shown, total, tuple(rows), rounds)


def batch_run(situation: Situation, batch: Batch) -> BatchGeneration:
    """The library's own run of the rows that are part of the batch, with all its rounds."""
    settings = replace(situation.settings, prompt=(0,))  # the batch has prompts of its own
    return _run(settings, batch.prompts)


@lru_cache(_KEPT)
def _run(settings: Settings, texts: tuple[str, ...]) -> BatchGeneration:
    taken = [(number, text) for number, text in enumerate(texts) if not _refusal(settings, text)]
    return generate_batch(
        settings.decoder.model,
        [settings.words.encode(text) for _, text in taken],
        settings.max_new_tokens,
        end_id=settings.end_id,
        seeds=[settings.seed + number for number, _ in taken],
        context_length=settings.context_length,
        **settings.selection,
    )


def _round(number: int, run: BatchGeneration, numbers: list[int], sizes: list[int]) -> Round:
    """A round, counted from 1. A row gets one token in each round that it is handed to the model in."""
    places = np.flatnonzero(run.lengths >= number)
    lengths = np.array(sizes)[places] + number - 1
    longest = int(lengths.max())
    handed = len(places)
    cost = Cost(handed, len(numbers), int(lengths.sum()), handed * longest, len(numbers) * longest)
    mask: NDArray[np.bool_] = run.finished_by_round[number - 1]
    finished = {row: bool(done) for row, done in zip(numbers, mask, strict=True)}
    return Round(number, tuple(numbers[place] for place in places), finished, cost)


def _refusal(situation: Settings, prompt: str) -> str:
    """The reason why a prompt cannot be a row of this decoder's batch; empty if it can."""
    unknown = _unknown(prompt, situation.words)
    if unknown:
        return unknown
    size = len(prompt_from(prompt, situation.words))
    if size > situation.context_length:
        return f"its prompt has {size} tokens; the context bound is {situation.context_length}"
    return ""


def _unknown(prompt: str, words: Vocabulary) -> str:
    """The reason why the vocabulary cannot encode a prompt; empty if it can."""
    try:
        prompt_from(prompt, words)
    except ValueError as error:
        return str(error)
    return ""


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _end(row: Row) -> str:
    return f"row {row.number} finished" if row.finished else f"row {row.number} was {row.state}"


def _rows(numbers: Sequence[int]) -> str:
    """ "row 2 was", "rows 0 and 3 were"."""
    if len(numbers) == 1:
        return f"row {numbers[0]} was"
    return f"rows {', '.join(map(str, numbers[:-1]))} and {numbers[-1]} were"
