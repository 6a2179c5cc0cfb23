"""The tree of continuations against the library's own ranking and search."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decoder_lib import CausalLanguageModel, Vocabulary, beam_search, generate, rank_continuations
from decoder_lib.views.search.compute import MOST_PROBABLE, Tree, tree_of
from decoder_lib.views.situation import Decoder, Situation, lesson_decoders

UNTRAINED, TRAINED = lesson_decoders()
prompts = st.lists(st.integers(0, 6), min_size=1, max_size=6).map(tuple)
decoders = st.sampled_from(lesson_decoders())
few = settings(max_examples=12, deadline=None)


def decoder_of(n_vocab: int, context_length: int = 16) -> Decoder:
    model = CausalLanguageModel(n_vocab=n_vocab, context_length=context_length, seed=1)
    return Decoder("another", model, Vocabulary(tuple(f"w{i}" for i in range(n_vocab))))


@few
@given(decoders, prompts, st.integers(1, 8))
def test_each_node_has_its_probability_and_place(
    decoder: Decoder, prompt: tuple[int, ...], width: int
) -> None:
    """Bug: a prefix has the probability of another, or a place among those of another length."""
    tree = tree_of(Situation(decoder=decoder, prompt=prompt, beam_width=width))
    assert tree.depth == 4
    for length, level in enumerate(tree.levels, 1):
        ranked, scores = rank_continuations(decoder.model, prompt, length)
        assert level.count == len(ranked) == 7**length
        for node in level.nodes:
            assert tuple(ranked[node.place - 1]) == node.token_ids
            assert node.probability == pytest.approx(math.exp(scores[node.place - 1]), rel=1e-9)


@few
@given(decoders, prompts)
def test_the_paths_are_those_of_the_library(decoder: Decoder, prompt: tuple[int, ...]) -> None:
    """Bug: greedy's path stops at an end token, or the best is the best of the nodes that are drawn."""
    tree = tree_of(Situation(decoder=decoder, prompt=prompt))
    assert list(tree.greedy) == generate(decoder.model, prompt, 4, greedy=True).token_ids
    assert tree.best == tuple(rank_continuations(decoder.model, prompt, 4)[0][0])
    assert tree.paths["most probable"].place == 1
    for level, length in zip(tree.levels, range(1, 5), strict=True):
        assert [node.token_ids for node in level.nodes if node.greedy] == [tree.greedy[:length]]
        assert [node.token_ids for node in level.nodes if node.best] == [tree.best[:length]]


@few
@given(decoders, prompts, st.integers(1, 12))
def test_the_beam_is_that_of_the_search(decoder: Decoder, prompt: tuple[int, ...], width: int) -> None:
    """Bug: what the beam keeps after a token is taken from its end, or it is numbered from the worst."""
    tree = tree_of(Situation(decoder=decoder, prompt=prompt, beam_width=width))
    for length, level in enumerate(tree.levels, 1):
        beams = beam_search(decoder.model, prompt, length, width)
        assert [node.token_ids for node in level.kept] == [beam.token_ids for beam in beams]
        assert [node.kept for node in level.kept] == list(range(1, len(beams) + 1))
        assert (tree.lost is not None and tree.lost <= length) == (tree.best[:length] not in beamed(beams))
    assert tree.found == beams[0].token_ids


def beamed(beams: list) -> list[tuple[int, ...]]:
    return [beam.token_ids for beam in beams]


@few
@given(decoders, prompts, st.integers(1, 12))
def test_what_is_drawn_hangs_together(decoder: Decoder, prompt: tuple[int, ...], width: int) -> None:
    """Bug: a node has no line to the prompt, two stand in one place, or lines cross."""
    tree = tree_of(Situation(decoder=decoder, prompt=prompt, beam_width=width))
    rows = {node.token_ids: node.row for level in tree.levels for node in level.nodes} | {(): 0}
    for level in tree.levels:
        own = [node.row for node in level.nodes]
        assert len(set(own)) == len(own)
        assert {node.place for node in level.nodes} >= set(range(1, MOST_PROBABLE + 1))
        assert level.not_drawn == level.count - len(level.nodes)
        for node in level.nodes:
            siblings = [ids for ids in rows if ids and ids[:-1] == node.token_ids[:-1]]
            assert rows[node.token_ids[:-1]] == min(rows[ids] for ids in siblings)
        in_order = sorted(level.nodes, key=lambda node: node.row)
        parents = [rows[node.token_ids[:-1]] for node in in_order]
        assert parents == sorted(parents)
    assert {rows[tree.greedy[:length]] for length in range(5)} == {0}


@pytest.mark.parametrize(
    ("decoder", "prompt", "width", "lost"),
    [(UNTRAINED, (0, 1, 2), 11, 3), (UNTRAINED, (0, 1, 2), 12, None), (TRAINED, (0, 1), 1, 1)],
)
def test_the_sentence_says_whether_the_beam_finds_the_best(
    decoder: Decoder, prompt: tuple[int, ...], width: int, lost: int | None
) -> None:
    """Bug: the best of the beam is said to be the best of all, or the loss is seen a token late."""
    tree = tree_of(Situation(decoder=decoder, prompt=prompt, beam_width=width))
    assert tree.lost == lost
    assert ("finds the most probable one" in tree.sentence) == (lost is None)
    place = place_of(decoder, prompt, tree.greedy)
    assert f"greedy takes place {place}" in tree.sentence
    if lost is not None:
        ranked, _ = rank_continuations(decoder.model, prompt, lost)
        stands = int(np.flatnonzero((ranked == tree.best[:lost]).all(axis=1))[0]) + 1
        assert f"at place {stands} of {7**lost}" in tree.sentence
        assert f"finds place {place_of(decoder, prompt, tree.found)}." in tree.sentence


def place_of(decoder: Decoder, prompt: tuple[int, ...], token_ids: tuple[int, ...]) -> int:
    ranked, _ = rank_continuations(decoder.model, prompt, len(token_ids))
    return int(np.flatnonzero((ranked == token_ids).all(axis=1))[0]) + 1


def test_greedy_that_is_best_comes_first() -> None:
    """Bug: a greedy continuation that nothing beats is said to take a place among others."""
    tree = tree_of(Situation(decoder=TRAINED))
    assert tree.greedy == tree.best
    assert "greedy comes first" in tree.sentence


def test_temperature_and_seed_make_no_difference() -> None:
    """Bug: the tree is walked again for each setting that it does not depend on."""
    tree = tree_of(Situation())
    for other in (Situation(temperature=2.0), Situation(seed=5), Situation(greedy=True, step=2)):
        assert tree_of(other) is tree


@pytest.mark.parametrize(("bound", "depth"), [(16, 4), (7, 4), (6, 3), (4, 1)])
def test_the_tree_ends_with_the_context(bound: int, depth: int) -> None:
    """Bug: a prompt near the context bound gives a traceback, or one token too few."""
    tree = tree_of(Situation(context_length=bound))
    assert tree.depth == depth == len(tree.greedy)
    assert (str(bound) in tree.note) == (depth < 4)


def test_a_full_context_has_no_tree() -> None:
    """Bug: a prompt that fills the context raises instead of saying so."""
    tree = tree_of(Situation(context_length=3))
    assert tree.levels == ()
    assert "no room" in tree.sentence


@pytest.mark.parametrize(("n_vocab", "depth"), [(2, 4), (8, 4), (9, 3), (300, 2), (600, 1)])
def test_a_large_vocabulary_makes_a_shallow_tree(n_vocab: int, depth: int) -> None:
    """Bug: some billion continuations are walked, or the tree is cut without a word."""
    tree = tree_of(Situation(decoder=decoder_of(n_vocab), prompt=(0, 1)))
    assert tree.depth == depth
    assert tree.count == n_vocab**depth
    assert (f"{n_vocab**4:,}" in tree.note) == (depth < 4)
    assert all(len(level.nodes) <= level.count for level in tree.levels)


def test_a_beam_wider_than_a_level_keeps_all_of_it() -> None:
    """Bug: a beam wider than the vocabulary has no first level."""
    tree: Tree = tree_of(Situation(beam_width=12))
    assert [len(level.kept) for level in tree.levels] == [7, 12, 12, 12]
