"""The same weights in transformers' GPT-2."""

import os
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"  # read at import; nothing is to be fetched
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import GPT2Config, GPT2LMHeadModel, LogitsProcessor, LogitsProcessorList

from benchmarks.decoding.shapes import Weights
from benchmarks.decoding.threads import threads
from decoder_lib.parameters import Config

torch.set_num_threads(threads())


def gpt2(weights: Weights, config: Config) -> GPT2LMHeadModel:
    """The model, without an end token, so that it makes every token it is asked for."""
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=config.n_vocab,
            n_positions=config.context_length,
            n_embd=config.d_model,
            n_layer=config.n_layers,
            n_head=config.n_heads,
            bos_token_id=None,
            eos_token_id=None,
        )
    )
    named = {
        name if "." in name else f"{name}.weight": torch.from_numpy(value) for name, value in weights.items()
    }
    model.transformer.load_state_dict(named)  # the unembedding is wte itself
    return model.eval()


class _Forced(LogitsProcessor):
    """Selects the tokens that are given, whatever the model says; the one after them is token 0."""

    def __init__(self, ids: list[int]) -> None:
        self.ids = [*ids, 0]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        forced = torch.full_like(scores, -torch.inf)
        forced[:, self.ids[input_ids.shape[1]]] = 0.0
        return forced


class Transformers:
    """`GPT2LMHeadModel.generate` with its cache."""

    def __init__(self, weights: Weights, config: Config) -> None:
        self.model = gpt2(weights, config)

    def logits(self, ids: list[int], given: int) -> NDArray[np.floating]:
        """As `Contender.logits`."""
        found = self._generate(
            torch.tensor([ids[:given]]),
            len(ids) - given + 1,
            logits_processor=LogitsProcessorList([_Forced(ids)]),
            output_logits=True,  # those of the model, before the tokens are forced
            return_dict_in_generate=True,
        )
        return torch.cat(found.logits).numpy()

    def generate(self, prompt: list[int], new_tokens: int) -> list[int]:
        """As `Contender.generate`."""
        return self.generate_batch([prompt], new_tokens)[0]

    def generate_batch(self, prompts: list[list[int]], new_tokens: int) -> list[list[int]]:
        """As `generate`, for B prompts of one length."""
        ids = torch.tensor(prompts)  # (B, T)
        return self._generate(ids, new_tokens)[:, ids.shape[1] :].tolist()

    @torch.inference_mode()
    def _generate(self, ids: torch.Tensor, new_tokens: int, **options: object) -> Any:
        return self.model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=new_tokens,
            do_sample=False,
            use_cache=True,
            pad_token_id=0,  # never used; without one, each call would warn
            **options,
        )
