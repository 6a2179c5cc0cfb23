"""The decoder that the notebooks import."""

from __future__ import annotations

from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from decoder_lib import generation
from decoder_lib.cache import BatchCache, CacheOrigin, KVCache
from decoder_lib.errors import ContextOverflowError
from decoder_lib.internal.arguments import (
    TokenIds,
    TokenRows,
    as_padded_rows,
    as_prompt,
    check_integer,
    check_room,
)
from decoder_lib.internal.arrays import copied
from decoder_lib.internal.step import TokenStep
from decoder_lib.parameters import (
    DATA,
    Config,
    Parameters,
    draw_parameters,
    fingerprint,
    load_parameters,
    parameter_shapes,
)
from decoder_lib.pretrained import read_checkpoint
from decoder_lib.transformer import forward, unembed


class CausalLanguageModel:
    """A small GPT-2 style decoder: token ids in, scores for the next token out.

    `CausalLanguageModel(n_vocab=7)` is the lesson's untrained decoder, with the parameters shipped in
    `decoder_lib/data/lesson.npz`. Any other shape, or any `seed`, is an untrained decoder drawn afresh
    (`decoder_lib.parameters.draw_parameters`).

    n_vocab : number of vocabulary entries, V.
    context_length : longest prefix it can read, in positions.
    n_layers, n_heads, d_model : blocks, heads per block, width.
    seed : of the draw; None means the lesson's parameters where the shape is the lesson's, and else seed 0.
    dtype : float64, or float32 for larger decoders. Logits are float64 either way.

    Its parameters can be read but not written, so that no cache becomes stale unnoticed.
    Raises ValueError naming the size of which no decoder can be made.
    """

    def __init__(
        self,
        n_vocab: int,
        *,
        context_length: int = 16,
        n_layers: int = 2,
        n_heads: int = 2,
        d_model: int = 16,
        seed: int | None = None,
        dtype: DTypeLike = np.float64,
    ) -> None:
        config = Config(n_vocab, context_length, n_layers, n_heads, d_model)
        if seed is None and config == Config(n_vocab=7):
            parameters, _ = load_parameters(DATA / "lesson.npz")
        else:
            parameters = draw_parameters(config, 0 if seed is None else check_integer("seed", seed, 0))
        self._set(parameters, config, dtype)

    @classmethod
    def from_parameters(cls, parameters: Parameters, config: Config, dtype: DTypeLike = np.float64) -> Self:
        """A decoder with a copy of the given parameters; ValueError names one that does not fit `config`."""
        model = cls.__new__(cls)
        model._set(parameters, config, dtype)
        return model

    @classmethod
    def from_pretrained(cls, directory: str | PathLike[str]) -> Self:
        """The GPT-2 checkpoint in a folder, as Hugging Face stores it, in float32; nothing is downloaded.

        Raises as `decoder_lib.pretrained.read_checkpoint` does, naming the tensor or the key that is wrong.
        """
        model = cls.__new__(cls)
        model._keep(*read_checkpoint(directory))  # checked, and mapped rather than copied
        return model

    def _set(self, parameters: Parameters, config: Config, dtype: DTypeLike) -> None:
        self._keep(copied(parameters, parameter_shapes(config), dtype), config)

    def _keep(self, own: dict[str, NDArray[np.floating]], config: Config) -> None:
        for value in own.values():
            value.setflags(write=False)
        self.config = config
        self.parameters: Parameters = MappingProxyType(own)
        self._step = TokenStep(self.parameters, config)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy or an unpickled decoder is as read-only as this one.
        return type(self).from_parameters, (dict(self.parameters), self.config, self.parameters["wte"].dtype)

    def __repr__(self) -> str:
        return f"CausalLanguageModel({self.config}, parameters {self.fingerprint})"

    @property
    def n_vocab(self) -> int:
        """Number of vocabulary entries, V."""
        return self.config.n_vocab

    @property
    def context_length(self) -> int:
        """Longest prefix it can read, in positions."""
        return self.config.context_length

    @cached_property
    def fingerprint(self) -> str:
        """A short digest of shape and parameters: decoders with the same digest compute the same."""
        return fingerprint(self.parameters, self.config)

    @cached_property
    def _unembedding(self) -> NDArray[np.floating]:
        """The token embedding as a projection, (d, V): by its transposed view a product takes longer."""
        return np.ascontiguousarray(self.parameters["wte"].T)

    def new_cache(self, *, first_position: int = 0) -> KVCache:
        """An empty key/value cache for this decoder, whose first token is read at `first_position`."""
        check_integer("first_position", first_position, 0, self.context_length - 1)
        origin = CacheOrigin(self.fingerprint, first_position)
        return KVCache(self.config, origin, self.parameters["wte"].dtype)

    def logits(
        self,
        token_ids: TokenIds,
        cache: KVCache | None = None,
        *,
        first_position: int = 0,
        prefix: TokenIds | None = None,
    ) -> NDArray[np.float64]:
        """One forward pass: float64 (len(token_ids), V); row i scores the token after position i.

        cache : holds a prefix, which `token_ids` then follow. Their keys and values are appended to it, and
            the rows are for these positions only.
        first_position : position of the sequence's first token; a token's position is part of what is read.
        prefix : the tokens that `token_ids` are meant to follow, compared with what the cache holds.

        Raises ValueError for an empty sequence or an id outside the vocabulary, ContextOverflowError past
        `context_length`, StaleCacheError where the cache belongs to other parameters, another position
        convention or another prefix. The cache is then as it was.
        """
        ids = as_prompt("token_ids", token_ids, self.n_vocab)
        check_integer("first_position", first_position, 0, self.context_length - 1)
        if cache is not None:
            cache.check(CacheOrigin(self.fingerprint, first_position), prefix)
        elif prefix is not None:
            raise ValueError("prefix is given without a cache; it says what the cache must stand for")
        end = first_position + (0 if cache is None else cache.length) + ids.size
        if end > self.context_length:
            raise ContextOverflowError(
                f"the prefix would fill {end} positions; this decoder reads at most {self.context_length}"
            )
        if cache is not None and ids.size == 1:
            hidden = self._step(ids[0], end - 1, cache)[None]  # (1, d)
        else:
            hidden = forward(ids, self.parameters, self.config, first_position, cache)  # (T, d)
        if cache is not None:
            cache.advance(ids)
        return unembed(hidden, self._unembedding)

    def new_batch_cache(self, n_rows: int, capacity: int | None = None) -> BatchCache:
        """An empty cache for `n_rows` prefixes of up to `capacity` positions each (default: the context)."""
        check_integer("n_rows", n_rows, 0)
        if capacity is None:
            capacity = self.context_length
        check_integer("capacity", capacity, 1, self.context_length)
        origin = CacheOrigin(self.fingerprint)
        return BatchCache(self.config, origin, n_rows, capacity, self.parameters["wte"].dtype)

    def next_logits(self, prefixes: TokenRows, cache: BatchCache | None = None) -> NDArray[np.float64]:
        """The last row for each of B prefixes, of any lengths, in one batched pass: float64 (B, V).

        Shorter prefixes are padded behind their last token, where the causal mask keeps every row that is
        used from reading the padding.

        cache : holds B prefixes, which `prefixes` then follow, each with the same number of tokens unless the
            cache is empty. Their keys and values are appended to it.

        Raises as `logits` does, naming the prefix; B = 0 gives (0, V). The cache is then as it was.
        """
        padded, lengths = as_padded_rows("prefixes", prefixes, self.n_vocab)  # (B, n), (B,)
        if not lengths.size:
            return np.empty((0, self.n_vocab))
        room, held = self.context_length, np.zeros_like(lengths)  # (B,)
        if cache is not None:
            cache.check(CacheOrigin(self.fingerprint), lengths)
            room, held = cache.capacity, cache.lengths
        check_room(lengths, held, room, self.context_length)
        hidden = forward(padded, self.parameters, self.config, cache=cache)  # (B n, d)
        if cache is not None:
            cache.advance(lengths)
        last = np.arange(lengths.size) * padded.shape[1] + lengths - 1  # (B,)
        return unembed(hidden[last], self._unembedding)  # (B, V)

    generate = generation.generate


def load(name: Literal["lesson", "trained", "story"]) -> CausalLanguageModel:
    """A decoder shipped with the package.

    "lesson" is the lesson's untrained decoder, "trained" its twin of the same shape and vocabulary that has
    read a few dozen sentences. "story" is larger, knows the words of `STORY_VOCABULARY` and has read short
    stories. `parameters/README.md` explains how each was made. Raises ValueError for another name.
    """
    names = sorted(path.stem for path in DATA.glob("*.npz"))
    if name not in names:
        raise ValueError(f"name is {name!r}; the decoders shipped are {', '.join(names)}")
    return CausalLanguageModel.from_parameters(*load_parameters(DATA / f"{name}.npz"))
