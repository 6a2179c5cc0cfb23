"""Softmax and its logarithm, computed so that no score is too large or too small for them."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Float = TypeVar("Float", bound=np.floating)


def softmax(scores: NDArray[Float]) -> NDArray[Float]:
    """Shares along the last axis: `exp(scores)` over its sum; same shape and dtype as `scores`.

    The largest score is taken off first: that changes no share, and no `exp` can overflow.
    A score of minus infinity gets a share of zero.
    """
    shares: NDArray[Float] = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares


def log_softmax(scores: NDArray[Float]) -> NDArray[Float]:
    """Natural logarithm of `softmax(scores)`, finite even where the share itself would underflow to zero."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    logarithms: NDArray[Float] = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return logarithms
