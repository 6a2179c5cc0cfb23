"""The forward pass once more, one position and one head at a time, sharing no code with the library."""

from __future__ import annotations

import math

import numpy as np

from decoder_lib.parameters import Config, Parameters, parameter_shapes


def random_parameters(config: Config, seed: int = 0) -> dict[str, np.ndarray]:
    """Every parameter random, gains and biases too, so that none can be left out unnoticed."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(0.2, 0.5, shape) for name, shape in parameter_shapes(config).items()}


def naive_logits(
    token_ids: list[int], parameters: Parameters, config: Config, first_position: int = 0
) -> np.ndarray:
    """Scores (T, V) after each position."""
    p = parameters
    stream = [p["wte"][token] + p["wpe"][first_position + place] for place, token in enumerate(token_ids)]
    for layer in range(config.n_layers):
        block = f"h.{layer}."
        projected = [_linear(_norm(x, p, block + "ln_1"), p, block + "attn.c_attn") for x in stream]
        mixed = [_attend(place, projected, config) for place in range(len(stream))]
        stream = [x + _linear(m, p, block + "attn.c_proj") for x, m in zip(stream, mixed, strict=True)]
        for place, x in enumerate(stream):
            hidden = [_gelu(h) for h in _linear(_norm(x, p, block + "ln_2"), p, block + "mlp.c_fc")]
            stream[place] = x + _linear(np.array(hidden), p, block + "mlp.c_proj")
    final = [_norm(x, p, "ln_f") for x in stream]
    return np.array([[sum(x * row) for row in p["wte"]] for x in final])


def _linear(x: np.ndarray, p: Parameters, name: str) -> np.ndarray:
    weight, bias = p[f"{name}.weight"], p[f"{name}.bias"]
    return np.array([bias[j] + sum(x * weight[:, j]) for j in range(len(bias))])


def _norm(x: np.ndarray, p: Parameters, name: str) -> np.ndarray:
    mean = sum(x) / len(x)
    variance = sum((value - mean) ** 2 for value in x) / len(x)
    return (
        np.array([(value - mean) / math.sqrt(variance + 1e-5) for value in x]) * p[f"{name}.weight"]
        + (p[f"{name}.bias"])
    )


def _attend(place: int, projected: list[np.ndarray], config: Config) -> np.ndarray:
    d, d_head = config.d_model, config.d_model // config.n_heads
    heads = []
    for head in range(config.n_heads):
        own = slice(head * d_head, (head + 1) * d_head)
        query = projected[place][:d][own]
        keys = [row[d : 2 * d][own] for row in projected[: place + 1]]
        values = [row[2 * d :][own] for row in projected[: place + 1]]
        scores = [sum(query * key) / math.sqrt(d_head) for key in keys]
        weights = [math.exp(score - max(scores)) for score in scores]
        heads.append(sum(w * value for w, value in zip(weights, values, strict=True)) / sum(weights))
    return np.concatenate(heads)


def _gelu(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
