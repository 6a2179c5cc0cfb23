"""The cache side of scripted models: `new_cache()`, `logits(token_ids, cache=cache)`, the cache itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from numpy.typing import ArrayLike

from course.checks.candidate import Offers
from course.checks.models import MOST_CALLS, ModelCall, Prefix, Rows, Script, ScriptedModel, plain_ids
from decoder_lib.errors import ContextOverflowError, StaleCacheError
from decoder_lib.internal.arguments import as_prompt, check_integer

# A cached pass adds in another order than a whole one, so its rows differ in the last bits: by this factor
# here, which keeps every tie and every order. Bit equality is nothing to rely on.
ROUNDING = 1.0 + 2.0**-42


@dataclass(frozen=True)
class Pass:
    """One request to a model with caches, a refused one among them.

    token_ids : the ids that were handed over.
    held : what the cache stood for before; None without a cache.
    """

    token_ids: Prefix
    held: Prefix | None

    @property
    def before(self) -> Prefix:
        """What the new ids follow; nothing without a cache."""
        return self.held or ()

    @property
    def read(self) -> Prefix:
        """The whole prefix that its last row has read."""
        return (*self.before, *self.token_ids)


class ScriptedCache:
    """A cache that offers the contract's names only, and stays with the model that made it."""

    offers = Offers(values=("length", "token_ids"), methods=("crop",))

    def __init__(self, model: CachingModel) -> None:
        self._model = model
        self._token_ids: Prefix = ()

    @property
    def length(self) -> int:
        """How many positions it holds."""
        return len(self._token_ids)

    @property
    def token_ids(self) -> list[int]:
        """The prefix that it stands for, as a new list."""
        return list(self._token_ids)

    def crop(self, length: int) -> None:
        """Keep only the first `length` positions; ValueError where it holds fewer."""
        self._token_ids = self._token_ids[: check_integer("length", length, 0, self.length)]

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"this cache has no `{name}`: only the names in the challenge may be used, "
            "length, token_ids and crop(length)"
        )

    def __deepcopy__(self, memo: object) -> ScriptedCache:
        return self  # like its model it stays on this side: the function that it is handed to may change it


class CachingModel(ScriptedModel):
    """A scripted model whose passes may go on from a cache.

    The rows of a cached pass follow from all that its cache stands for, so a stale prefix or a wrong offset
    changes the answer.

    passes : every request of `logits` so far, in order, with what its cache stood for.
    """

    offers = Offers(constants=("n_vocab", "context_length"), methods=("logits", "next_logits", "new_cache"))

    def __init__(self, script: Script, context_length: int, most_calls: int = MOST_CALLS) -> None:
        super().__init__(script, context_length, most_calls)
        self.passes: list[Pass] = []

    def new_cache(self) -> ScriptedCache:
        """An empty cache for this model."""
        return ScriptedCache(self)

    def logits(self, token_ids: ArrayLike, cache: ScriptedCache | None = None) -> Rows:
        """One pass over what follows the cached prefix, which then joins it: float64 (len(token_ids), V).

        Raises as `ScriptedModel.logits` does, and StaleCacheError for a cache of another model. The cache is
        then as it was.
        """
        self._count()
        held = cache._token_ids if isinstance(cache, ScriptedCache) else None
        self.passes.append(Pass(plain_ids(token_ids), held))
        self.calls.append(ModelCall(self.passes[-1].token_ids, len(held or ())))
        if cache is None:
            return self._script.rows(self._readable("token_ids", token_ids))
        if not isinstance(cache, ScriptedCache):
            raise TypeError(f"cache is of type {type(cache).__name__}; a cache comes from model.new_cache()")
        if cache._model is not self:
            raise StaleCacheError(
                "the parameters differ: this cache was filled by another model; make a new one with "
                "model.new_cache()"
            )
        ids = tuple(as_prompt("token_ids", token_ids, self.n_vocab).tolist())
        end = cache.length + len(ids)
        if end > self._context_length:
            raise ContextOverflowError(
                f"the prefix would fill {end} positions; this model reads at most {self._context_length}"
            )
        rows = self._script.rows((*cache._token_ids, *ids))[cache.length :] * ROUNDING
        cache._token_ids = (*cache._token_ids, *ids)
        return rows

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"this model has no `{name}`: only the names in the challenge may be used, n_vocab, "
            "context_length, new_cache() and logits(token_ids, cache=cache)"
        )


def model_of(cache: ScriptedCache) -> CachingModel:
    """The model that made a cache."""
    return cache._model


def filled(model: CachingModel, token_ids: Prefix) -> ScriptedCache:
    """A cache of `model` that stands for `token_ids`, left over from passes that are not on record."""
    cache = model.new_cache()
    cache._token_ids = tuple(token_ids)
    return cache
