"""The decoder's forward pass in torch, for gradients; it computes what `decoder_lib.model` computes."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  torch's own abbreviation
from numpy.typing import NDArray
from torch import Tensor

from decoder_lib.parameters import Config, parameter_shapes


def flatten(parameters: Mapping[str, NDArray[np.floating]], config: Config) -> NDArray[np.float64]:
    """All parameters as one float64 vector, in the order of `parameter_shapes`."""
    return np.concatenate([parameters[name].ravel() for name in parameter_shapes(config)]).astype(np.float64)


def unflatten(vector: NDArray[np.float64], config: Config) -> dict[str, NDArray[np.floating]]:
    """The inverse of `flatten`."""
    return {name: part.numpy().copy() for name, part in split(torch.from_numpy(vector), config).items()}


def split(vector: Tensor, config: Config) -> dict[str, Tensor]:
    """The parameters as views of one vector, so that its gradient is theirs."""
    shapes = parameter_shapes(config)
    parts = torch.split(vector, [math.prod(shape) for shape in shapes.values()])
    return {name: part.view(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}


def log_probabilities(parameters: Mapping[str, Tensor], ids: Tensor, config: Config) -> Tensor:
    """Log-probabilities of the next token after every prefix: ids (B, T) to (B, T, V)."""
    length = ids.shape[1]
    visible = torch.ones(length, length, dtype=torch.bool).tril()  # (T, T)
    x = parameters["wte"][ids] + parameters["wpe"][:length]  # (B, T, d)
    for layer in range(config.n_layers):
        prefix = f"h.{layer}"
        x = x + _attention(
            parameters, f"{prefix}.attn", _norm(parameters, f"{prefix}.ln_1", x), visible, config
        )
        x = x + _mlp(parameters, f"{prefix}.mlp", _norm(parameters, f"{prefix}.ln_2", x))
    logits = _norm(parameters, "ln_f", x) @ parameters["wte"].T  # (B, T, V)
    return torch.log_softmax(logits, dim=-1)  # (B, T, V)


def _norm(parameters: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    weight, bias = parameters[f"{name}.weight"], parameters[f"{name}.bias"]  # (d,)
    return F.layer_norm(x, weight.shape, weight, bias, eps=1e-5)  # (B, T, d)


def _linear(parameters: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    return x @ parameters[f"{name}.weight"] + parameters[f"{name}.bias"]  # (B, T, out)


def _attention(
    parameters: Mapping[str, Tensor], name: str, x: Tensor, visible: Tensor, config: Config
) -> Tensor:
    batch, length, width = x.shape
    qkv = _linear(parameters, f"{name}.c_attn", x)  # (B, T, 3 d)
    heads = qkv.view(batch, length, 3, config.n_heads, width // config.n_heads)  # (B, T, 3, H, d/H)
    q, k, v = heads.permute(2, 0, 3, 1, 4)  # each (B, H, T, d/H)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, T)
    shares = scores.masked_fill(~visible, -torch.inf).softmax(dim=-1)  # (B, H, T, T)
    merged = (shares @ v).transpose(1, 2).reshape(batch, length, width)  # (B, T, d)
    return _linear(parameters, f"{name}.c_proj", merged)  # (B, T, d)


def _mlp(parameters: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    hidden = F.gelu(_linear(parameters, f"{name}.c_fc", x), approximate="tanh")  # (B, T, 4 d)
    return _linear(parameters, f"{name}.c_proj", hidden)  # (B, T, d)
