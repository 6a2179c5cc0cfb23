"""A decoder with past keys and values as an ONNX graph."""

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from benchmarks.decoding.shapes import Weights
from decoder_lib.parameters import Config

_CONTRIB = "com.microsoft"  # onnxruntime's own operators


def decoder_graph(weights: Weights, config: Config) -> onnx.ModelProto:
    """One pass over n tokens.

    Inputs: `ids` and `positions` int64 (n,), `last` int32 (1,), the last position, `length` int32 (), how
    many positions are in use then, and a layer's `past_keys.0` and `past_values.0` float32
    (1, H, capacity, d_head). Outputs: `logits` float32 (1, V) of the last position, `keys.0` and `values.0`,
    to be bound to the memory of the past ones, which are then added to in place.

    Attention is onnxruntime's GroupQueryAttention with one key head a query head: its one operator that
    appends in place on the CPU. The rest are standard operators.
    """
    return _Graph(weights, config).model()


class _Graph:
    def __init__(self, weights: Weights, config: Config) -> None:
        self.weights, self.config = weights, config
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.names: set[str] = set()

    def model(self) -> onnx.ModelProto:
        config = self.config
        past = (1, config.n_heads, "capacity", config.d_model // config.n_heads)
        inputs = [
            helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"]),
            helper.make_tensor_value_info("positions", TensorProto.INT64, ["n"]),
            helper.make_tensor_value_info("last", TensorProto.INT32, [1]),
            helper.make_tensor_value_info("length", TensorProto.INT32, []),
        ]
        outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, config.n_vocab])]
        for layer in range(config.n_layers):
            for kind in ("keys", "values"):
                inputs.append(helper.make_tensor_value_info(f"past_{kind}.{layer}", TensorProto.FLOAT, past))
                outputs.append(helper.make_tensor_value_info(f"{kind}.{layer}", TensorProto.FLOAT, past))
        self._decoder()
        graph = helper.make_graph(self.nodes, "decoder", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid(_CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def _decoder(self) -> None:
        tokens = self._add("Gather", self._weight("wte"), "ids")  # (n, d)
        x = self._add("Add", tokens, self._add("Gather", self._weight("wpe"), "positions"))  # (n, d)
        for layer in range(self.config.n_layers):
            block = f"h.{layer}"
            mixed = self._attention(self._norm(x, f"{block}.ln_1"), layer)  # (n, d)
            x = self._add("Add", x, self._linear(mixed, f"{block}.attn.c_proj"))
            inner = self._linear(self._norm(x, f"{block}.ln_2"), f"{block}.mlp.c_fc")  # (n, 4d)
            inner = self._add("Gelu", inner, approximate="tanh")
            x = self._add("Add", x, self._linear(inner, f"{block}.mlp.c_proj"))
        end = self._constant("end", np.array([np.iinfo(np.int64).max]))
        x = self._add(
            "Slice", x, self._constant("minus_one", np.array([-1])), end, self._first_axis()
        )  # (1, d)
        self._add("Gemm", self._norm(x, "ln_f"), self._weight("wte"), outputs=["logits"], transB=1)

    def _attention(self, x: str, layer: int) -> str:
        joined = self._linear(x, f"h.{layer}.attn.c_attn")  # (n, 3d)
        mixed = self._add(
            "GroupQueryAttention",
            self._add("Unsqueeze", joined, self._first_axis()),  # (1, n, 3d): queries, keys and values
            "",
            "",
            f"past_keys.{layer}",
            f"past_values.{layer}",
            "last",
            "length",
            outputs=[f"mixed.{layer}", f"keys.{layer}", f"values.{layer}"],
            domain=_CONTRIB,
            num_heads=self.config.n_heads,
            kv_num_heads=self.config.n_heads,
        )  # (1, n, d)
        return self._add("Squeeze", mixed, self._first_axis())

    def _linear(self, x: str, name: str) -> str:
        return self._add("Gemm", x, self._weight(f"{name}.weight"), self._weight(f"{name}.bias"))

    def _norm(self, x: str, name: str) -> str:
        gain, bias = self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        return self._add("LayerNormalization", x, gain, bias, epsilon=1e-5)

    def _add(
        self,
        operator: str,
        *inputs: str,
        outputs: list[str] | None = None,
        domain: str = "",
        **attributes: object,
    ) -> str:
        """Another node; the name of its first output."""
        outputs = outputs or [f"{operator}.{len(self.nodes)}"]
        self.nodes.append(helper.make_node(operator, inputs, outputs, domain=domain, **attributes))
        return outputs[0]

    def _weight(self, name: str) -> str:
        return self._constant(name, self.weights[name])

    def _first_axis(self) -> str:
        return self._constant("first_axis", np.array([0]))

    def _constant(self, name: str, value: NDArray[np.generic]) -> str:
        if name not in self.names:
            self.names.add(name)
            self.constants.append(numpy_helper.from_array(value, name))
        return name
