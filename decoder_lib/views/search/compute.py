"""What the search view shows: the tree of continuations, and what a beam keeps of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from decoder_lib.generation import generate
from decoder_lib.scoring import rank_continuations
from decoder_lib.search import beam_search
from decoder_lib.views.situation import Decoder, Situation

DEEPEST = 4  # tokens
MOST_PREFIXES = 512  # that are read for the last level: what a reader can wait for
MOST_PROBABLE = 4  # nodes that are drawn of each level, beside those that are marked
_KEPT = 256  # trees; a reader goes back and forth between a few

Ids = tuple[int, ...]


@dataclass(frozen=True)
class Node:
    """A prefix of some continuations, as it is drawn.

    token_ids : its tokens, the prompt left out.
    probability : the probability of these tokens after the prompt, summed over all continuations of them.
    place : among all prefixes of its length, 1 for the most probable.
    kept : its place in the beam, 1 for the most probable; None where the beam does not hold it.
    greedy, best : whether the greedy continuation, and the most probable one, go through it.
    row : where it is drawn, from the top: in the row of its most probable child that is drawn.
    """

    token_ids: Ids
    probability: float
    place: int
    kept: int | None
    greedy: bool
    best: bool
    row: int


@dataclass(frozen=True)
class Level:
    """All prefixes of one length, of which a few are drawn.

    count : how many there are.
    nodes : those drawn, most probable first.
    """

    count: int
    nodes: tuple[Node, ...]

    @property
    def not_drawn(self) -> int:
        """How many prefixes are left out."""
        return self.count - len(self.nodes)

    @property
    def kept(self) -> tuple[Node, ...]:
        """The nodes that the beam keeps, most probable first."""
        held = (node for node in self.nodes if node.kept is not None)
        return tuple(sorted(held, key=lambda node: node.kept or 0))

    def node(self, token_ids: Ids) -> Node:
        """The drawn node of these tokens."""
        return next(node for node in self.nodes if node.token_ids == token_ids)


@dataclass(frozen=True)
class Tree:
    """Continuations of one prompt, all of one length, with the paths of three ways to choose among them.

    levels : by length, from one token; none where the context has no room for any.
    beam_width : how many the beam keeps.
    greedy, best, found : the greedy continuation, the most probable one, and the best that the beam finds.
    lost : the number of tokens after which the beam no longer holds the path of `best`; None if it finds it.
    note : in a sentence, why the tree is less than four tokens deep; empty where it is not.
    """

    levels: tuple[Level, ...]
    beam_width: int
    greedy: Ids
    best: Ids
    found: Ids
    lost: int | None
    note: str

    @property
    def depth(self) -> int:
        """The number of tokens in each continuation."""
        return len(self.levels)

    @property
    def count(self) -> int:
        """The number of continuations."""
        return self.levels[-1].count

    @property
    def paths(self) -> dict[str, Node]:
        """The ends of the three paths, by name."""
        ends = {"greedy": self.greedy, "most probable": self.best, "best in the beam": self.found}
        return {name: self.levels[-1].node(token_ids) for name, token_ids in ends.items()}

    @property
    def sentence(self) -> str:
        """The place of the greedy continuation, and whether the beam finds the most probable one."""
        if not self.levels:
            return self.note
        place = self.paths["greedy"].place
        stands = "comes first" if place == 1 else f"takes place {place:,}"
        sentence = f"Of {self.count:,} continuations, greedy {stands}. A beam of width {self.beam_width} "
        if self.lost is None:
            return f"{sentence}finds the most probable one."
        here, found = self.levels[self.lost - 1], self.paths["best in the beam"]
        first = "token stands" if self.lost == 1 else f"{self.lost} tokens stand"
        return (
            f"{sentence}finds place {found.place:,}. It has lost the most probable one, whose first {first} "
            f"at place {here.node(self.best[: self.lost]).place:,} of {here.count:,}."
        )


def tree_of(situation: Situation) -> Tree:
    """The tree after the prompt, under the decoder's own shares: temperature and seed make no difference.

    An end token counts as any other, so that all continuations are of one length.
    """
    return _tree(situation.decoder, situation.prompt, situation.context_length, situation.beam_width)


@lru_cache(_KEPT)
def _tree(decoder: Decoder, prompt: Ids, context_length: int, beam_width: int) -> Tree:
    n_vocab = decoder.model.n_vocab
    room = min(DEEPEST, context_length - len(prompt))
    depth = max((d for d in range(room + 1) if n_vocab ** max(0, d - 1) <= MOST_PREFIXES), default=0)
    note = _why_not_deeper(depth, room, n_vocab, context_length)
    if depth == 0:
        return Tree((), beam_width, (), (), (), None, note)
    best, ranking = _ranking(decoder, prompt, depth)
    greedy = tuple(generate(decoder.model, prompt, depth, greedy=True).token_ids)
    beams = _beams(decoder, prompt, depth, beam_width)

    drawn: list[set[Ids]] = [set() for _ in range(depth + 1)]  # by length; the last one has no children
    for length in range(depth, 0, -1):
        drawn[length] |= {greedy[:length], best[:length], *beams[length - 1]}
        drawn[length] |= set(ranking[length - 1].first(MOST_PROBABLE))
        drawn[length - 1] |= {token_ids[:-1] for token_ids in drawn[length]}  # each with its parent

    def place(token_ids: Ids) -> int:
        return ranking[len(token_ids) - 1].place(token_ids)

    rows = _rows(sorted(set().union(*drawn[1:]), key=place))
    levels = []
    for length, (ranked, kept) in enumerate(zip(ranking, beams, strict=True), 1):
        nodes = (
            Node(
                token_ids=token_ids,
                probability=ranked.probability(token_ids),
                place=place(token_ids),
                kept=kept.index(token_ids) + 1 if token_ids in kept else None,
                greedy=token_ids == greedy[:length],
                best=token_ids == best[:length],
                row=rows[token_ids],
            )
            for token_ids in sorted(drawn[length], key=place)
        )
        levels.append(Level(ranked.count, tuple(nodes)))
    lost = next((length for length, kept in enumerate(beams, 1) if best[:length] not in kept), None)
    return Tree(tuple(levels), beam_width, greedy, best, beams[-1][0], lost, note)


def _why_not_deeper(depth: int, room: int, n_vocab: int, context_length: int) -> str:
    if depth == DEEPEST:
        return ""
    if room <= 0:
        return (
            f"The prompt fills the context bound of {context_length} positions: there is no room for a "
            "continuation."
        )
    if depth == room:
        return f"The context bound of {context_length} positions leaves room for {depth} more."
    return (
        f"With {n_vocab:,} tokens to choose from, {room} steps make {n_vocab**room:,} continuations. "
        f"That is too many to score, so the tree ends after {depth}."
    )


class _Ranked:
    """All prefixes of one length, ranked. They are numbered in the order of their ids.

    scores : log probability of each, (V**length,).
    """

    def __init__(self, scores: NDArray[np.float64], length: int, n_vocab: int) -> None:
        self.count = scores.size
        self._scores = scores
        self._weights = n_vocab ** np.arange(length)[::-1]  # of each token in a prefix's number
        self._n_vocab = n_vocab
        self._order = np.argsort(-scores, kind="stable")  # numbers, the most probable first
        self._places = np.empty(scores.size, dtype=np.int64)
        self._places[self._order] = np.arange(1, scores.size + 1)

    def place(self, token_ids: Ids) -> int:
        """Its place, 1 for the most probable; of equals, the one whose ids come first is ahead."""
        return int(self._places[self._weights @ token_ids])

    def probability(self, token_ids: Ids) -> float:
        """The probability of a prefix after the prompt."""
        return float(np.exp(self._scores[self._weights @ token_ids]))

    def first(self, count: int) -> list[Ids]:
        """The most probable prefixes."""
        return [tuple((number // self._weights % self._n_vocab).tolist()) for number in self._order[:count]]


@lru_cache(_KEPT)
def _ranking(decoder: Decoder, prompt: Ids, depth: int) -> tuple[Ids, tuple[_Ranked, ...]]:
    """The most probable continuation, and all prefixes of each length.

    A prefix is as probable as all continuations that begin with it are together.
    """
    n_vocab = decoder.model.n_vocab
    continuations, ranked = rank_continuations(decoder.model, prompt, depth)
    scores = np.empty(len(ranked))  # (V**depth,)
    scores[continuations @ n_vocab ** np.arange(depth)[::-1]] = ranked
    levels: list[_Ranked] = []
    for length in range(depth, 0, -1):
        levels.insert(0, _Ranked(scores, length, n_vocab))
        scores = np.logaddexp.reduce(scores.reshape(-1, n_vocab), axis=1)  # (V**(length - 1),)
    return tuple(continuations[0].tolist()), tuple(levels)


@lru_cache(_KEPT)
def _beams(decoder: Decoder, prompt: Ids, depth: int, beam_width: int) -> tuple[tuple[Ids, ...], ...]:
    """The continuations that the beam holds after each token, most probable first."""
    rounds = (beam_search(decoder.model, prompt, made, beam_width) for made in range(1, depth + 1))
    return tuple(tuple(beam.token_ids for beam in beams) for beams in rounds)


def _rows(drawn: list[Ids]) -> dict[Ids, int]:
    """A row for each node; on each level, nodes that come earlier in `drawn` are higher."""
    children: dict[Ids, list[Ids]] = {}
    for token_ids in drawn:
        children.setdefault(token_ids[:-1], []).append(token_ids)
    rows: dict[Ids, int] = {}
    used = 0

    def lay_out(token_ids: Ids) -> None:
        nonlocal used
        below = children.get(token_ids, [])
        rows[token_ids] = used
        used += not below  # a node with children shares the row of the first
        for child in below:
            lay_out(child)

    lay_out(())
    return rows
