"""Words and ids."""

from __future__ import annotations

import numpy as np
import pytest

from decoder_lib import LESSON_VOCABULARY, Vocabulary


def test_encode_and_decode_are_each_other_s_inverse() -> None:
    """Bug: ids are counted from 1, or one direction uses another order."""
    text = "<start> the cat slept <end>"
    ids = LESSON_VOCABULARY.encode(text)
    assert ids == [0, 1, 2, 5, 6]
    assert LESSON_VOCABULARY.decode(ids) == text
    assert LESSON_VOCABULARY.decode(np.array(ids)) == text
    assert len(LESSON_VOCABULARY) == 7


def test_white_space_only_separates() -> None:
    """Bug: a line break or a double space makes an empty word."""
    assert LESSON_VOCABULARY.encode("  the\n cat\t") == [1, 2]
    assert LESSON_VOCABULARY.encode("") == []
    assert LESSON_VOCABULARY.decode([]) == ""


def test_an_unknown_word_is_named() -> None:
    """Bug: an unknown word is skipped, or fails without saying which of many."""
    with pytest.raises(ValueError, match=r"'bird' is not among the 7 words .*: <start> the cat"):
        LESSON_VOCABULARY.encode("the bird sat")
    with pytest.raises(ValueError, match="'The'"):
        LESSON_VOCABULARY.id("The")


@pytest.mark.parametrize("token_id", [7, -1])
def test_an_unknown_id_is_named(token_id: int) -> None:
    """Bug: -1 is read from the end of the list."""
    with pytest.raises(ValueError, match=f"{token_id} is no token id; ids go from 0 to 6"):
        LESSON_VOCABULARY.decode([0, token_id])


@pytest.mark.parametrize("token_id", [1.0, "1", None])
def test_what_is_no_id_is_refused(token_id: object) -> None:
    """Bug: a float reaches the tuple's index and fails as a TypeError about slices."""
    with pytest.raises(ValueError, match="is no token id"):
        LESSON_VOCABULARY.decode([token_id])  # type: ignore[list-item]


def test_a_word_may_occur_once() -> None:
    """Bug: of two equal words only the first can ever be encoded."""
    with pytest.raises(ValueError, match="only once"):
        Vocabulary(("the", "the"))
