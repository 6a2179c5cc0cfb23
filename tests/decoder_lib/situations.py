"""Situations that readers can set, for properties that hold in all of them."""

from collections.abc import Callable, Sequence

from fake_models import ScriptedModel
from hypothesis import settings
from hypothesis import strategies as st

from decoder_lib import CausalLanguageModel, Vocabulary
from decoder_lib.views.situation import Decoder, Situation, lesson_decoders

often = settings(deadline=None, derandomize=True, max_examples=40)
SITUATIONS = st.builds(
    Situation,
    decoder=st.sampled_from(lesson_decoders()),
    prompt=st.lists(st.integers(0, 6), min_size=1, max_size=4).map(tuple),
    greedy=st.booleans(),
    seed=st.integers(0, 100),
    temperature=st.floats(0.1, 3.0),
    max_new_tokens=st.integers(1, 12),
    end=st.booleans(),
    context_length=st.integers(4, 16),
)


def scripted(row: Callable[[list[int]], Sequence[float]], words: str, end_id: int | None = None) -> Decoder:
    """A decoder whose scores a test dictates; its cache stays empty, so each pass reads the whole prefix."""
    vocabulary = Vocabulary(tuple(words.split()))
    model = ScriptedModel(row, len(vocabulary), context_length=16)
    model.new_cache = CausalLanguageModel(len(vocabulary)).new_cache
    return Decoder("scripted", model, vocabulary, end_id)
