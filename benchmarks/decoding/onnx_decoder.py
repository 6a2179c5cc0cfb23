"""The same weights in onnxruntime."""

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from benchmarks.decoding.contenders import Stepwise
from benchmarks.decoding.onnx_graph import decoder_graph
from benchmarks.decoding.shapes import Weights
from benchmarks.decoding.threads import threads
from decoder_lib.parameters import Config


class OnnxRuntime(Stepwise):
    """A graph with past keys and values, all of them bound to memory that is allocated once."""

    def __init__(self, weights: Weights, config: Config) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads()
        options.inter_op_num_threads = 1
        graph = decoder_graph(weights, config).SerializeToString()
        self.session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        shape = (1, config.n_heads, config.context_length, config.d_model // config.n_heads)
        for layer in range(config.n_layers):
            for kind in ("keys", "values"):
                held = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(shape, np.float32))
                self.binding.bind_ortvalue_input(f"past_{kind}.{layer}", held)
                self.binding.bind_ortvalue_output(f"{kind}.{layer}", held)
        self.row = onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros((1, config.n_vocab), np.float32))
        self.binding.bind_ortvalue_output("logits", self.row)
        self.held = 0

    def begin(self) -> None:
        """As `Stepwise.begin`."""
        self.held = 0

    def read(self, ids: list[int]) -> NDArray[np.float32]:
        """As `Stepwise.read`."""
        start, self.held = self.held, self.held + len(ids)
        bind = self.binding.bind_cpu_input
        bind("ids", np.array(ids))
        bind("positions", np.arange(start, self.held))
        bind("last", np.array([self.held - 1], np.int32))
        bind("length", np.array(self.held, np.int32))
        self.session.run_with_iobinding(self.binding)
        return self.row.numpy()[0]
