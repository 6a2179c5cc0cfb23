"""GPT-2 checkpoints as Hugging Face stores them: their parameters, and the vocabulary of their tokenizer.

Nothing here downloads anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from decoder_lib.internal.arguments import check_integer
from decoder_lib.internal.checkpoint import read_checkpoint
from decoder_lib.vocabulary import Vocabulary

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["TokenizerVocabulary", "read_checkpoint", "read_vocabulary"]


@dataclass(frozen=True)
class TokenizerVocabulary(Vocabulary):
    """The parts of words that a checkpoint's tokenizer knows.

    `tokens` spells them as the tokenizer does: in GPT-2's, `Ġ` stands for a space before the word. `encode`
    splits text and `decode` gives it back, including its spaces.
    """

    tokenizer: Tokenizer = field(repr=False, compare=False)

    def id(self, token: str) -> int:
        """The id of one token, in the tokenizer's spelling; ValueError where it has no such token."""
        found: int | None = self.tokenizer.token_to_id(token)
        if found is None:
            raise ValueError(f"{token!r} is none of the tokenizer's {len(self)} tokens")
        return found

    def encode(self, text: str) -> list[int]:
        """The ids of the parts of `text`; ValueError where the tokenizer has no tokens for some of it."""
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        if self.decode(ids) != text:
            raise ValueError(
                f"the tokenizer has no tokens for a part of {text!r}: {self.decode(ids)!r} is left"
            )
        return ids

    def decode(self, token_ids: Iterable[int | np.integer]) -> str:
        """The text that `token_ids` stand for; ValueError names an id outside the vocabulary."""
        ids = [check_integer("a token id", token_id, 0, len(self) - 1) for token_id in token_ids]
        text: str = self.tokenizer.decode(ids, skip_special_tokens=False)
        return text


def read_vocabulary(directory: str | PathLike[str]) -> TokenizerVocabulary:
    """The vocabulary of a checkpoint's `tokenizer.json`.

    Raises ImportError where the tokenizers package is missing, FileNotFoundError where the file is,
    ValueError where the file holds no tokenizer.
    """
    path = Path(directory) / "tokenizer.json"
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ImportError(
            "reading a tokenizer needs the extra gpt2: pip install 'autoregressive-generation[gpt2]'"
        ) from error
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing; the vocabulary is read from it alone, not from vocab.json"
        )
    try:
        tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except Exception as error:  # the package raises bare Exceptions
        raise ValueError(f"{path} is no tokenizer: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ids = tokenizer.get_vocab(with_added_tokens=True)
    tokens = sorted(ids, key=ids.__getitem__)
    if [ids[token] for token in tokens] != list(range(len(tokens))):
        raise ValueError(
            f"{path} leaves ids out; its {len(tokens)} tokens must have those from 0 on, each once"
        )
    return TokenizerVocabulary(tuple(tokens), tokenizer)
