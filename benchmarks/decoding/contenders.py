"""What every contender offers, and which there are."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.decoding.shapes import Weights
from benchmarks.decoding.timing import say
from decoder_lib.parameters import Config

OURS = "ours"

# The name in the tables, its module here, its class there.
_PLACES = {
    OURS: ("ours", "Ours"),
    "NumPy without a cache": ("numpy_reference", "NumpyWithoutCache"),
    "torch without a cache": ("torch_decoders", "TorchWithoutCache"),
    "torch with a cache": ("torch_decoders", "TorchWithCache"),
    "transformers": ("transformers_decoder", "Transformers"),
    "onnxruntime": ("onnx_decoder", "OnnxRuntime"),
    "CTranslate2": ("ctranslate2_decoder", "CTranslate2"),
}


class Contender(Protocol):
    """One way to run a decoder's weights, in float32."""

    def logits(self, ids: list[int], given: int) -> NDArray[np.floating]:
        """The rows that predict `ids[given:]` and the token after them: (len(ids) - given + 1, V).

        They come from the passes that `generate` would make after a prompt of `given` tokens.
        """

    def generate(self, prompt: list[int], new_tokens: int) -> list[int]:
        """`new_tokens` tokens after the prompt, each the most probable one."""


class Stepwise:
    """A contender that reads the prompt in one pass, and each further token in one more."""

    def begin(self) -> None:
        """Forget what was read."""
        raise NotImplementedError

    def read(self, ids: list[int]) -> Any:
        """The logits after `ids`, which follow what was read before: (V,)."""
        raise NotImplementedError

    def logits(self, ids: list[int], given: int) -> NDArray[np.floating]:
        """As `Contender.logits`."""
        self.begin()
        passes = [ids[:given], *([token] for token in ids[given:])]
        return np.stack([np.array(self.read(fed)) for fed in passes])

    def generate(self, prompt: list[int], new_tokens: int) -> list[int]:
        """As `Contender.generate`."""
        self.begin()
        fed, made = prompt, []
        for _ in range(new_tokens):
            token = int(self.read(fed).argmax())
            made.append(token)
            fed = [token]
        return made


def contenders(weights: Weights, config: Config) -> Iterator[tuple[str, Contender]]:
    """Each with these weights, ours first; a line says which one's packages are missing."""
    for name in _PLACES:
        make = find(name)
        if make is not None:
            say(f"  preparing {name}")
            yield name, make(weights, config)


def find(name: str) -> Callable[[Weights, Config], Any] | None:
    """The contender's class, or None, with a line that says so, where a package of its is missing."""
    module, kind = _PLACES[name]
    try:
        found = getattr(import_module(f"benchmarks.decoding.{module}"), kind)
    except ImportError as error:
        print(f"left out: {name} ({error})", flush=True)
        return None
    return found
