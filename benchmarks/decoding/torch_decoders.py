"""Two plain decoders in torch: functions over tensors, with a cache and without."""

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (as torch's users write it)
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.decoding.contenders import Stepwise
from benchmarks.decoding.shapes import Weights
from benchmarks.decoding.threads import threads
from decoder_lib.parameters import Config

torch.set_num_threads(threads())


class Projection:
    """A matrix with its bias, stored the way round that torch reads faster for a single row."""

    def __init__(self, weight: NDArray[np.float32], bias: NDArray[np.float32] | None) -> None:
        rows, columns = weight.shape
        self.turned = rows > columns
        self.weight = torch.from_numpy(np.ascontiguousarray(weight.T if self.turned else weight))
        self.bias = None if bias is None else torch.from_numpy(bias)

    def __call__(self, x: Tensor) -> Tensor:
        """(n, in) -> (n, out)."""
        if self.turned:
            return F.linear(x, self.weight, self.bias)
        return x @ self.weight if self.bias is None else torch.addmm(self.bias, x, self.weight)


class Norm:
    """Layer normalisation."""

    def __init__(self, gain: NDArray[np.float32], bias: NDArray[np.float32]) -> None:
        self.gain, self.bias = torch.from_numpy(gain), torch.from_numpy(bias)
        self.shape = gain.shape

    def __call__(self, x: Tensor) -> Tensor:
        """(n, d) -> (n, d)."""
        return F.layer_norm(x, self.shape, self.gain, self.bias, 1e-5)


class Layer:
    """The parts of one block that have parameters."""

    def __init__(self, weights: Weights, block: str) -> None:
        def projection(name: str) -> Projection:
            return Projection(weights[f"{block}.{name}.weight"], weights[f"{block}.{name}.bias"])

        def norm(name: str) -> Norm:
            return Norm(weights[f"{block}.{name}.weight"], weights[f"{block}.{name}.bias"])

        self.norm_1, self.norm_2 = norm("ln_1"), norm("ln_2")
        self.attention_in, self.attention_out = projection("attn.c_attn"), projection("attn.c_proj")
        self.inner, self.outer = projection("mlp.c_fc"), projection("mlp.c_proj")


class TorchDecoder(Stepwise):
    """What both have in common: the blocks, and a loop whose tokens stay tensors until the end."""

    def __init__(self, weights: Weights, config: Config) -> None:
        self.n_heads = config.n_heads
        self.wte, self.wpe = (torch.from_numpy(weights[name]) for name in ("wte", "wpe"))
        self.layers = [Layer(weights, f"h.{layer}") for layer in range(config.n_layers)]
        self.norm = Norm(weights["ln_f.weight"], weights["ln_f.bias"])
        self.unembedding = Projection(weights["wte"].T, None)

    def read_tensor(self, ids: Tensor) -> Tensor:
        """The logits after `ids` (n,), which follow what was read before: (1, V)."""
        raise NotImplementedError

    @torch.inference_mode()
    def read(self, ids: list[int]) -> Tensor:
        """As `Stepwise.read`."""
        return self.read_tensor(torch.tensor(ids))[0]

    @torch.inference_mode()
    def generate(self, prompt: list[int], new_tokens: int) -> list[int]:
        """As `Contender.generate`."""
        self.begin()
        fed, made = torch.tensor(prompt), []
        for _ in range(new_tokens):
            fed = self.read_tensor(fed).argmax(dim=-1)  # (1,)
            made.append(fed)
        return torch.cat(made).tolist()

    def forward(self, ids: Tensor, start: int) -> Tensor:
        """The last position's logits after `ids` (n,), the first of them at position `start`: (1, V)."""
        n = len(ids)
        x = self.wte[ids] + self.wpe[start : start + n]  # (n, d)
        for number, layer in enumerate(self.layers):
            joined = layer.attention_in(layer.norm_1(x))  # (n, 3d)
            queries, keys, values = joined.view(n, 3, self.n_heads, -1).permute(1, 2, 0, 3)  # (H, n, d_head)
            keys, values = self.remember(number, keys, values, start)  # (H, T, d_head)
            # A batch axis, for which torch has a fused kernel. Several tokens come at the start only.
            mixed = F.scaled_dot_product_attention(queries[None], keys[None], values[None], is_causal=n > 1)
            x = x + layer.attention_out(mixed[0].transpose(0, 1).reshape(n, -1))
            x = x + layer.outer(F.gelu(layer.inner(layer.norm_2(x)), approximate="tanh"))
        return self.unembedding(self.norm(x[-1:]))

    def remember(self, number: int, keys: Tensor, values: Tensor, start: int) -> tuple[Tensor, Tensor]:
        """The keys and values that a layer's queries read, with the new ones (H, n, d_head) at their end."""
        raise NotImplementedError


class TorchWithoutCache(TorchDecoder):
    """All of the prefix through every layer for each token; logits for the last position only."""

    def begin(self) -> None:
        """As `Stepwise.begin`."""
        self.ids = torch.empty(0, dtype=torch.int64)

    def read_tensor(self, ids: Tensor) -> Tensor:
        """As `TorchDecoder.read_tensor`."""
        self.ids = torch.cat([self.ids, ids])
        return self.forward(self.ids, 0)

    def remember(self, number: int, keys: Tensor, values: Tensor, start: int) -> tuple[Tensor, Tensor]:
        """Nothing is kept."""
        return keys, values


class TorchWithCache(TorchDecoder):
    """Each position once; its keys and values are written into tensors allocated for the whole context."""

    def __init__(self, weights: Weights, config: Config) -> None:
        super().__init__(weights, config)
        shape = (config.n_layers, config.n_heads, config.context_length, config.d_model // config.n_heads)
        keys, values = torch.empty(shape), torch.empty(shape)
        self.keys, self.values = list(keys), list(values)  # L of (H, capacity, d_head)
        self.held = 0

    def begin(self) -> None:
        """As `Stepwise.begin`."""
        self.held = 0

    def read_tensor(self, ids: Tensor) -> Tensor:
        """As `TorchDecoder.read_tensor`."""
        row = self.forward(ids, self.held)
        self.held += len(ids)
        return row

    def remember(self, number: int, keys: Tensor, values: Tensor, start: int) -> tuple[Tensor, Tensor]:
        """Those of all positions so far."""
        end = start + keys.shape[1]
        self.keys[number][:, start:end] = keys
        self.values[number][:, start:end] = values
        return self.keys[number][:, :end], self.values[number][:, :end]
