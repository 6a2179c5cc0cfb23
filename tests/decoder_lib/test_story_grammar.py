"""The grammar that writes the story model's stories."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import islice
from zlib import crc32

import pytest

from parameters.story_grammar import HELD_OUT, LONGEST, Story, stories
from parameters.story_words import PEOPLE

FIRST_THOUSAND = 413313218  # CRC-32 of the first thousand stories that the shipped model learned from


@pytest.fixture(scope="module")
def written() -> list[Story]:
    return list(islice(stories(3), 5000))


def test_a_seed_writes_the_same_stories() -> None:
    """Bug: the grammar was changed, and the shipped model has learned from another one."""
    first = [story.text for story in islice(stories(0), 1000)]
    assert crc32("\n".join(first).encode()) == FIRST_THOUSAND
    assert first != [story.text for story in islice(stories(1), 1000)]


def test_stories_are_sentences_of_plain_words(written: list[Story]) -> None:
    """Bug: a story is empty, breaks off, outgrows the context, or has a word with something stuck to it."""
    for story in written:
        assert re.fullmatch(r"([a-z]+( [a-z]+)+ \.( (?=[a-z])|$))+", story.text)
        assert len(story.text.split()) <= LONGEST


def test_articles_fit_the_next_word(written: list[Story]) -> None:
    """Bug: "a owl", or "an cat"."""
    for story in written:
        for article, letter in re.findall(r"\b(an?) (.)", story.text):
            assert (article == "an") == (letter in "aeiou"), story.text


def test_who_searches_is_who_lost(written: list[Story]) -> None:
    """Bug: a pronoun, or the thing that is found, does not fit what came before."""
    lost = re.compile(r"(?:a|the) (\w+) lost (\w+) (\w+) \. (.*)")
    found = [match for story in written if (match := lost.fullmatch(story.text))]
    assert len(found) > 100
    for match in found:
        who, her, thing, rest = match.groups()
        she, hers = PEOPLE[who]
        assert her == hers
        assert {"she", "he"} & set(rest.split()) == {she}
        searched = re.findall(r"looked (.*?) \.", rest)
        assert len(set(searched)) == len(searched)
        assert set(re.findall(r"took the (\w+)", rest)) <= {thing}
        assert f"the {who} " in rest


def test_a_story_s_probability_is_its_share() -> None:
    """Bug: a choice is left out of the log-probability, or weighed otherwise than it is drawn."""
    drawn = list(islice(stories(4), 20_000))
    shares = {story.text: math.exp(story.log_probability) for story in drawn}
    for text, count in Counter(story.text for story in drawn).most_common(10):
        expected = shares[text] * len(drawn)
        assert abs(count - expected) < 5 * math.sqrt(expected), text


def test_a_part_is_held_out(written: list[Story]) -> None:
    """Bug: nothing is held out, or a copy of what is held out is trained on."""
    share = sum(story.held_out for story in written) / len(written)
    assert share == pytest.approx(1 / HELD_OUT, rel=0.3)
    held_out = {story.text for story in written if story.held_out}
    assert not any(story.text in held_out for story in written if not story.held_out)
