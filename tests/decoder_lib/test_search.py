"""Beam search, against the full ranking and against greedy selection."""

from __future__ import annotations

import pytest
from fake_models import RecordingModel, ScriptedModel

from decoder_lib import (
    Beam,
    CausalLanguageModel,
    ContextOverflowError,
    beam_search,
    rank_continuations,
    sequence_log_probability,
)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_full_width_finds_what_the_ranking_finds(model: CausalLanguageModel, length: int) -> None:
    """Bug: beams are compared by the last token's share, or cut before all are compared."""
    width = 7 ** (length - 1)
    beams = beam_search(model, [0, 1, 2], length, width)
    ids, scores = rank_continuations(model, [0, 1, 2], length)
    assert [list(beam.token_ids) for beam in beams] == ids[:width].tolist()
    assert [beam.log_probability for beam in beams] == pytest.approx(scores[:width].tolist(), rel=1e-12)


@pytest.mark.parametrize("prompt", [[0, 1, 2], [6], [5, 5]], ids=str)
def test_width_one_is_greedy(model: CausalLanguageModel, prompt: list[int]) -> None:
    """Bug: the best beam is not extended by its best token, or goes on past its end."""
    run = model.generate(prompt, 10, greedy=True, end_id=6)
    (beam,) = beam_search(model, prompt, 10, 1, end_id=6)
    assert list(beam.token_ids) == run.token_ids
    assert beam.finished == (run.finish_reason == "stop")
    assert beam.log_probability == pytest.approx(run.log_probability, rel=1e-12)


def test_scores_are_log_probabilities(model: CausalLanguageModel) -> None:
    """Bug: a score is carried to another beam when the beams are sorted."""
    for beam in beam_search(model, [0, 1], 6, 5, end_id=6):
        scored = sequence_log_probability(model, [0, 1], beam.token_ids)
        assert beam.log_probability == pytest.approx(scored, rel=1e-9)


def test_beams_are_sorted_and_distinct(model: CausalLanguageModel) -> None:
    """Bug: the same sequence is kept twice, or the best does not stand first."""
    beams = beam_search(model, [0, 1, 2], 5, 6)
    scores = [beam.log_probability for beam in beams]
    assert scores == sorted(scores, reverse=True)
    assert len({beam.token_ids for beam in beams}) == 6


# Token 1 ends. After the prompt: 0.5 for token 0, 0.4 for the end, 0.1 for token 2; token 0 leads nowhere.
ROWS = {(2,): [-0.7, -0.9, -2.3], (2, 0): [-1.1, -1.1, -1.1], (2, 2): [-1.0, -1.2, -1.1]}


def test_a_finished_beam_is_kept_and_competes_on() -> None:
    """Bug: a finished beam is dropped, extended, or handed to the model again."""
    model = ScriptedModel(lambda prefix: ROWS.get(tuple(prefix), [0.0, 0.0, 0.0]), 3)
    beams = beam_search(model, [2], 3, 2, end_id=1)
    assert [(beam.token_ids, beam.finished) for beam in beams] == [((1,), True), ((0, 0, 0), False)]
    assert all(1 not in prefix for handed in model.rounds for prefix in handed)


def test_the_search_ends_when_every_beam_has() -> None:
    """Bug: rounds go on with nothing to extend."""
    model = ScriptedModel(lambda prefix: [-5.0, 0.0], 2)
    (beam,) = beam_search(model, [0], 50, 1, end_id=1)
    assert (beam.token_ids, beam.finished, len(model.rounds)) == ((1,), True, 1)


def test_ties_go_to_the_ids_that_come_first() -> None:
    """Bug: equal beams are kept by chance, so that the search is not reproducible."""
    beams = beam_search(ScriptedModel(lambda prefix: [0.0] * 3, 3), [0], 2, 4)
    assert [beam.token_ids for beam in beams] == [(0, 0), (0, 1), (0, 2), (1, 0)]


def test_a_finished_beam_wins_no_tie_by_being_first() -> None:
    """Bug: finished beams stand in front of the open ones, and a stable sort leaves them there."""
    model = ScriptedModel(lambda prefix: [0.0, -1000.0, 0.0 if len(prefix) == 1 else -1000.0], 3)
    beams = beam_search(model, [1], 2, 2, end_id=2)
    assert [beam.token_ids for beam in beams] == [(0, 0), (2,)]
    assert beams[0].log_probability == beams[1].log_probability


def test_one_batched_pass_a_round(model: CausalLanguageModel) -> None:
    """Bug: a pass a beam."""
    recording = RecordingModel(model)
    beam_search(recording, [0, 1], 4, 5)
    assert recording.batched == 4
    assert recording.passes == []


def test_a_full_context_ends_the_search(model: CausalLanguageModel) -> None:
    """Bug: the search crashes at the bound where the loop stops with "context"."""
    beams = beam_search(model, [0] * 13, 9, 2)
    assert [len(beam.token_ids) for beam in beams] == [3, 3]


def test_a_prompt_longer_than_the_context_is_refused(model: CausalLanguageModel) -> None:
    """Bug: the loop refuses a prompt that the search answers with an empty beam."""
    with pytest.raises(ContextOverflowError, match=r"prompt has 17 tokens.*16"):
        beam_search(model, [0] * 17, 2, 2)


def test_no_budget(model: CausalLanguageModel) -> None:
    """Bug: a pass is made for tokens that nobody asked for."""
    assert beam_search(model, [0, 1], 0, 3) == [Beam((), 0.0, False)]


def test_a_width_beyond_all_sequences(model: CausalLanguageModel) -> None:
    """Bug: missing beams are made up."""
    assert len(beam_search(model, [0], 1, 1000)) == 7
