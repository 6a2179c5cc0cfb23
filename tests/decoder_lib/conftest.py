"""What the decoder's tests share."""

import pytest

from decoder_lib import CausalLanguageModel


@pytest.fixture(scope="session")
def model() -> CausalLanguageModel:
    """A random draw of the lesson's shape: 7 entries, context 16. It can't be changed, so tests share it."""
    return CausalLanguageModel(n_vocab=7, seed=0)
