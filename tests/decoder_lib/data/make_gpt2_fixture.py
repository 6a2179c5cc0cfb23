"""Writes a small random GPT-2 checkpoint, and what transformers computes with it, into the folder gpt2.

    python tests/decoder_lib/data/make_gpt2_fixture.py

needs torch and transformers, which no other part of the repository does. What it wrote is committed, so that
the tests can hold decoder_lib against transformers where neither is installed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

PROMPTS = {"one": [5], "some": [3, 60, 0, 0, 17, 9], "full": [(7 * i + 3) % 64 for i in range(32)]}


def random_gpt2(seed: int = 0) -> GPT2LMHeadModel:
    """A GPT-2 of two narrow blocks with every parameter random, gains and biases too."""
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=64, n_positions=32, n_embd=16, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0
    )
    model = GPT2LMHeadModel(config)
    with torch.no_grad():
        for name, value in model.named_parameters():
            value.normal_(1.0 if name.endswith(("ln_1.weight", "ln_2.weight", "ln_f.weight")) else 0.0, 0.3)
    return model.eval()


def logits(model: GPT2LMHeadModel, token_ids: list[int]) -> np.ndarray:
    """A row for each position, (T, V), float32."""
    with torch.no_grad():
        return model(torch.tensor([token_ids])).logits[0].float().numpy()


def greedy(model: GPT2LMHeadModel, prompt: list[int], max_new_tokens: int) -> list[int]:
    """The tokens that `generate` of transformers puts behind the prompt, with its own cache."""
    ids = torch.tensor([prompt])
    with torch.no_grad():
        run = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=max_new_tokens,
            do_sample=False,
            use_cache=True,
            eos_token_id=None,
            pad_token_id=0,
        )
    return run[0, len(prompt) :].tolist()


if __name__ == "__main__":
    folder = Path(__file__).parent / "gpt2"
    model = random_gpt2()
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink()
    expected = {f"logits_{name}": logits(model, token_ids) for name, token_ids in PROMPTS.items()}
    prompts = {f"prompt_{name}": np.array(token_ids) for name, token_ids in PROMPTS.items()}
    np.savez(
        folder / "expected.npz", greedy=np.array(greedy(model, PROMPTS["some"], 20)), **prompts, **expected
    )
