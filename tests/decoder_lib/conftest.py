"""What the decoder's tests share."""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import pytest

from decoder_lib import CausalLanguageModel


@pytest.fixture(scope="session")
def model() -> CausalLanguageModel:
    """A random draw of the lesson's shape: 7 entries, context 16. It can't be changed, so tests share it."""
    return CausalLanguageModel(n_vocab=7, seed=0)


@pytest.fixture
def no_screen() -> Iterator[None]:
    """Pictures are drawn to memory, and closed."""
    plt.switch_backend("Agg")
    yield
    plt.close("all")
