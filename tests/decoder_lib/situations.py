"""Situations that readers can set, for properties that hold in all of them."""

from hypothesis import settings
from hypothesis import strategies as st

from decoder_lib.views.situation import Situation, lesson_decoders

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
