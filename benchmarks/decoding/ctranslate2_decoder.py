"""The same weights in CTranslate2, by its converter from transformers."""

import tempfile
from pathlib import Path

import ctranslate2
import numpy as np
from ctranslate2.converters import TransformersConverter
from numpy.typing import NDArray

from benchmarks.decoding.shapes import Weights
from benchmarks.decoding.threads import threads
from benchmarks.decoding.transformers_decoder import gpt2
from decoder_lib.parameters import Config


class _Converter(TransformersConverter):
    """Takes a model in memory, and ids for tokens, where a checkpoint's files would be read."""

    def __init__(self, folder: Path, weights: Weights, config: Config) -> None:
        self.model = gpt2(weights, config)
        self.model.config.save_pretrained(folder)  # the one file that it insists on
        super().__init__(str(folder))

    def load_model(self, *_: object, **__: object) -> object:
        return self.model

    def load_tokenizer(self, *_: object, **__: object) -> object:
        return _Ids(self.model.config.vocab_size)


class _Ids:
    """A tokenizer as far as the converter asks: every token is its id, written out."""

    bos_token = eos_token = unk_token = "0"

    def __init__(self, n_vocab: int) -> None:
        self.n_vocab = n_vocab

    def get_vocab(self) -> dict[str, int]:
        return {str(token_id): token_id for token_id in range(self.n_vocab)}


class CTranslate2:
    """`Generator.generate_batch` with a beam of one, in float32."""

    def __init__(self, weights: Weights, config: Config) -> None:
        self.no_end = [config.n_vocab]  # an id that no token has: it never ends early
        with tempfile.TemporaryDirectory() as name:
            converted = _Converter(Path(name), weights, config).convert(str(Path(name) / "converted"))
            self.generator = ctranslate2.Generator(
                converted, device="cpu", compute_type="float32", inter_threads=1, intra_threads=threads()
            )

    def logits(self, ids: list[int], given: int) -> NDArray[np.floating]:
        """As `Contender.logits`, but from one pass: it shows no logits of the passes with its cache."""
        rows = self.generator.forward_batch([_written(ids)])  # (1, T, V)
        return np.array(rows)[0, given - 1 :]

    def generate(self, prompt: list[int], new_tokens: int) -> list[int]:
        """As `Contender.generate`."""
        found = self.generator.generate_batch(
            [_written(prompt)],
            max_length=new_tokens,
            end_token=self.no_end,
            beam_size=1,
            include_prompt_in_result=False,  # so that the prompt is read in one pass
        )
        return list(found[0].sequences_ids[0])


def _written(ids: list[int]) -> list[str]:
    return [str(token_id) for token_id in ids]
