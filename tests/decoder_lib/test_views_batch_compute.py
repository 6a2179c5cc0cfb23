"""The batch view's numbers, against the library's own runs and against what the model was handed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from situations import SITUATIONS, often

from decoder_lib import LESSON_VOCABULARY, BatchCache, CausalLanguageModel, KVCache, Vocabulary, generate
from decoder_lib.views.batch.compute import Batch, Cost, first_batch, read_prompts, rounds_of
from decoder_lib.views.situation import Decoder, Situation, lesson_decoders

WORDS = LESSON_VOCABULARY
ALL = 99  # rounds, more than there are
PROMPTS = st.lists(
    st.lists(st.sampled_from(WORDS.tokens), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=8
).map(tuple)


class Watched:
    """A decoder that notes down, for each round, the prefixes it is handed."""

    def __init__(self, model: CausalLanguageModel) -> None:
        self.model, self.n_vocab, self.context_length = model, model.n_vocab, model.context_length
        self.rounds: list[list[list[int]]] = []

    def new_cache(self) -> KVCache:
        return self.model.new_cache()

    def logits(self, token_ids: Sequence[int], cache: KVCache | None = None) -> np.ndarray:
        return self.model.logits(token_ids, cache)

    def new_batch_cache(self, n_rows: int, capacity: int | None = None) -> BatchCache:
        return self.model.new_batch_cache(n_rows, capacity)

    def next_logits(self, prefixes: Sequence[Sequence[int]], cache: BatchCache | None = None) -> np.ndarray:
        self.rounds.append([[int(token_id) for token_id in prefix] for prefix in prefixes])
        return self.model.next_logits(prefixes, cache)


@often
@given(situation=SITUATIONS, prompts=PROMPTS)
def test_each_row_is_the_run_it_would_be_alone(situation: Situation, prompts: tuple[str, ...]) -> None:
    """Bug: a row gets another row's seed or prompt, another bound, or a wrong reason for its end."""
    seen = rounds_of(situation, Batch(prompts, ALL))
    assert [row.prompt for row in seen.rows] == list(prompts)
    for number, row in enumerate(seen.rows):
        alone = generate(
            situation.decoder.model,
            WORDS.encode(prompts[number]),
            situation.max_new_tokens,
            end_id=situation.end_id,
            seed=situation.seed + number,
            context_length=situation.context_length,
            **situation.selection,
        )
        assert row.tokens == tuple(WORDS.tokens[token_id] for token_id in alone.token_ids)
        assert row.seed == (None if situation.greedy else situation.seed + number)
        ends = {
            "stop": f"finished in round {len(alone)}",
            "length": "truncated: length bound",
            "context": "truncated: context full",
        }
        assert row.state == ends[alone.finish_reason]
        assert row.finished == (alone.finish_reason == "stop")
    assert seen.total == max(len(row.tokens) for row in seen.rows)


@often
@given(situation=SITUATIONS, prompts=PROMPTS)
def test_rounds_say_who_was_handed_over_and_what_it_cost(
    situation: Situation, prompts: tuple[str, ...]
) -> None:
    """Bug: a row is said to be handed over when it is not, or padding is counted in the wrong rows."""
    watched = Watched(situation.decoder.model)  # type: ignore[arg-type]
    there = replace(situation, decoder=Decoder("watched", watched, WORDS, WORDS.id("<end>")))
    seen = rounds_of(there, Batch(prompts, ALL))
    assert len(seen.rounds) == len(watched.rounds)
    total = Cost()
    for each, handed in zip(seen.rounds, watched.rounds, strict=True):
        before = [
            WORDS.encode(f"{prompts[b]} {' '.join(seen.rows[b].tokens[: each.number - 1])}")
            for b in each.handed
        ]
        assert before == handed
        longest = max(map(len, handed))
        assert each.cost == Cost(
            handed=len(handed),
            rectangle=len(prompts),
            tokens=sum(map(len, handed)),
            padded=len(handed) * longest,
            padded_rectangle=len(prompts) * longest,
        )
        total = total + each.cost
    assert seen.cost == total
    assert total.rectangle == len(prompts) * seen.total


@often
@given(situation=SITUATIONS, prompts=PROMPTS, shown=st.integers(0, 12))
def test_nothing_is_told_before_its_round(situation: Situation, prompts: tuple[str, ...], shown: int) -> None:
    """Bug: a row is called finished or truncated in a round in which it still goes on, or not when it is."""
    whole = rounds_of(situation, Batch(prompts, ALL))
    seen = rounds_of(situation, Batch(prompts, shown))
    assert (seen.shown, seen.total) == (min(shown, whole.total), whole.total)
    assert seen.rounds == whole.rounds[:shown]
    for row, ended in zip(seen.rows, whole.rows, strict=True):
        assert row.tokens == ended.tokens[:shown]
        over = len(ended.tokens) <= seen.shown
        assert (row.state, row.finished) == ((ended.state, ended.finished) if over else ("going on", False))
    for each in seen.rounds:
        ended_by_now = {row.number: row.finished and len(row.tokens) <= each.number for row in whole.rows}
        assert each.finished == ended_by_now


def test_a_round_in_words() -> None:
    """Bug: the sentence that is announced names other rows than the picture."""
    trained = Situation(decoder=lesson_decoders()[1], seed=2)
    batch = first_batch(trained)

    def said(shown: int) -> str:
        return rounds_of(trained, replace(batch, shown=shown)).sentence

    assert said(0) == "Before the first round: 4 rows, none of them finished."
    assert said(3) == (
        "Round 3 of 5: rows 0, 2 and 3 were handed to the model; row 2 finished; 2 rows go on."
    )
    assert said(5) == (
        "Round 5 of 5: rows 0 and 3 were handed to the model; row 0 finished; "
        "row 3 was truncated: length bound; no row goes on."
    )


def test_a_row_that_cannot_be_is_left_out_and_the_others_keep_their_seeds() -> None:
    """Bug: a bound or a decoder set in another view breaks the batch, or shifts the seeds of later rows."""
    situation = Situation(context_length=8, seed=7, end=False)
    prompts = ("<start> the cat sat the dog slept the cat", "<start> the dog", "<start> horse")
    seen = rounds_of(situation, Batch(prompts, ALL))
    long, fits, unknown = seen.rows
    assert (long.state, long.refused) == ("left out", "its prompt has 9 tokens; the context bound is 8")
    assert (unknown.state, unknown.tokens) == ("left out", ())
    assert "'horse'" in unknown.refused

    def alone(seed: int) -> tuple[str, ...]:
        run = generate(situation.decoder.model, WORDS.encode(prompts[1]), 5, seed=seed)
        return tuple(WORDS.tokens[token_id] for token_id in run.token_ids)

    assert fits.tokens == alone(8) != alone(7)
    assert seen.rounds[0].handed == (1,)
    assert list(seen.rounds[0].finished) == [1]
    nobody = rounds_of(situation, Batch(prompts[::2], ALL))
    assert (nobody.total, nobody.cost) == (0, Cost())
    assert nobody.sentence == "There is no row that the model could be handed."


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "0 prompts"),
        (" \n\n", "0 prompts"),
        ("the\n" * 9, "9 prompts"),
        ("the cat\n<start> the cow", "row 1: 'cow' is not"),
    ],
)
def test_prompts_that_cannot_be_read_are_named(text: str, wrong: str) -> None:
    """Bug: a typing error reaches the decoder, or the message does not say in which row it is."""
    with pytest.raises(ValueError, match=wrong):
        read_prompts(text, WORDS)


def test_prompts_are_read_a_line_each() -> None:
    """Bug: an empty line becomes a row, or spaces part rows."""
    assert read_prompts("  <start>   the \n\n cat\n", WORDS) == ("<start> the", "cat")


def test_a_decoder_with_other_words_starts_with_beginnings_of_its_own_prompt() -> None:
    """Bug: the first batch of a larger decoder asks for words that it does not have."""
    words = Vocabulary(tuple(f"word{n}" for n in range(300)))
    large = Decoder("large", CausalLanguageModel(300, context_length=8), words, 0)
    batch = first_batch(Situation(decoder=large, prompt=(7, 8, 9), context_length=8))
    assert batch.prompts == ("word7 word8 word9", "word7 word8", "word7")
    lesson = first_batch(Situation()).prompts
    assert lesson == ("<start> the cat", "<start> the dog", "<start> the cat sat the", "<start>")
