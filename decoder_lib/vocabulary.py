"""Between text and token ids, for a vocabulary of whole words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from decoder_lib.parameters import DATA

_NAMED = 10  # words of a vocabulary that an error names


@dataclass(frozen=True)
class Vocabulary:
    """Words and their ids: `tokens[i]` is the word of id i.

    A real tokenizer splits words into parts; here an entry is a word, so that a prefix is easy to read.
    """

    tokens: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(set(self.tokens)) != len(self.tokens):
            raise ValueError(f"tokens are {self.tokens}; each may occur only once")

    def __len__(self) -> int:
        return len(self.tokens)

    def id(self, token: str) -> int:
        """The id of one token; ValueError where the vocabulary has no such token."""
        if token not in self.tokens:
            some = " ".join(self.tokens[:_NAMED]) + (" ..." if len(self) > _NAMED else "")
            raise ValueError(f"{token!r} is not among the {len(self)} words of the vocabulary: {some}")
        return self.tokens.index(token)

    def encode(self, text: str) -> list[int]:
        """The ids of the words of `text`, split at white space; ValueError names an unknown word."""
        return [self.id(token) for token in text.split()]

    def decode(self, token_ids: Iterable[int | np.integer]) -> str:
        """The words of `token_ids`, joined by spaces; ValueError names an id outside the vocabulary."""
        words = []
        for token_id in token_ids:
            if not isinstance(token_id, int | np.integer) or not 0 <= token_id < len(self.tokens):
                raise ValueError(f"{token_id} is no token id; ids go from 0 to {len(self.tokens) - 1}")
            words.append(self.tokens[token_id])
        return " ".join(words)


LESSON_VOCABULARY = Vocabulary(("<start>", "the", "cat", "dog", "sat", "slept", "<end>"))

# The story model's: the lesson's words keep their ids, except for `<end>`, which comes last here too.
STORY_VOCABULARY = Vocabulary(tuple((DATA / "story.txt").read_text(encoding="utf-8").split()))
