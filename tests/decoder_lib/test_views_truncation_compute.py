"""The window view's numbers, against the library's own runs under each policy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from situations import SITUATIONS, often

from decoder_lib import CausalLanguageModel, KeepFirst, Vocabulary, drop_oldest, generate, stop
from decoder_lib.views.situation import POLICIES, Decoder, Situation
from decoder_lib.views.truncation.compute import WHOLE, Reading, Truncating, Windows, runs_of, windows_of

FULL = SITUATIONS.map(
    lambda situation: replace(situation, context_length=max(4, min(7, situation.context_length)))
)
SMALL = Situation(context_length=6, max_new_tokens=7, seed=2)


def reading(seen: Windows, name: str) -> Reading:
    (found,) = [each for each in seen.readings if each.name == name]
    return found


def read(seen: Reading) -> list[tuple[str, int]]:
    """The tokens that are read, with their positions."""
    return [(place.word, place.position) for place in seen.places if place.position is not None]


@often
@given(situation=FULL, policy=st.sampled_from(POLICIES), n_first=st.integers(1, 2))
def test_the_run_of_each_policy_is_the_librarys(situation: Situation, policy: str, n_first: int) -> None:
    """Bug: a step shows another window, distribution or token than the run with this policy has."""
    truncate = {"stop": stop, "drop oldest": drop_oldest, "keep first": KeepFirst(n_first)}[policy]
    run = generate(
        situation.decoder.model,
        situation.prompt,
        situation.max_new_tokens,
        end_id=situation.end_id,
        seed=situation.seed,
        context_length=situation.context_length,
        truncate=truncate,
        **situation.selection,
    )
    situation = replace(situation, policy=policy)
    refused = run.finish_reason == "context"
    for number in range(1, len(run) + refused + 1):
        seen = windows_of(situation, Truncating(n_first, number))
        assert (seen.policy, seen.step, seen.steps) == (policy, number, len(run) + refused)
        own = reading(seen, policy)
        if number > len(run):
            assert (own.distribution, own.selected, read(own)) == (None, None, [])
            continue
        step = run[number - 1]
        words = [situation.words.tokens[token_id] for token_id in step.context]
        assert read(own) == [(word, position) for position, word in enumerate(words)]
        assert own.distribution == pytest.approx(step.distribution, rel=1e-9)
        assert own.selected == step.token_id
        assert [place.newest for place in own.places] == [False] * (len(own.places) - 1) + [number > 1]
    assert runs_of(situation, Truncating(n_first))[policy].token_ids == run.token_ids


@often
@given(situation=FULL, policy=st.sampled_from(POLICIES), n_first=st.integers(1, 2), shown=st.integers(1, 13))
def test_what_each_policy_makes_of_the_same_text(
    situation: Situation, policy: str, n_first: int, shown: int
) -> None:
    """Bug: a policy is shown to drop other tokens than it does, or predicts from another window."""
    situation = replace(situation, policy=policy)
    seen = windows_of(situation, Truncating(n_first, shown))
    bound = situation.context_length
    text = [place.word for place in seen.readings[0].places]
    room = bound - 1
    full = len(text) >= bound
    kept = {
        "stop": [] if full else text,
        "drop oldest": text[-room:] if full else text,
        "keep first": text[:n_first] + text[n_first - room :] if full else text,
    }
    assert seen.full == full
    whole = None
    if len(text) <= situation.decoder.model.context_length:
        kept = {WHOLE: text} | kept
        whole = reading(seen, WHOLE).distribution
    assert [each.name for each in seen.readings] == list(kept)
    for name, window in kept.items():
        own = reading(seen, name)
        assert [word for word, _ in read(own)] == window
        assert [position for _, position in read(own)] == list(range(len(window)))
        assert [place.kept for place in own.places] == [
            name == "keep first" and place < n_first for place in range(len(text))
        ]
        if not window:
            assert own.distribution is None
            assert own.dropped == ()
            continue
        logits = situation.decoder.model.logits(situation.words.encode(" ".join(window)))[-1]
        scaled = logits / (1.0 if situation.greedy else situation.temperature)
        shares = np.exp(scaled - scaled.max())
        assert own.distribution == pytest.approx(shares / shares.sum(), rel=1e-9)
        if whole is None:
            assert own.moved is None
        else:
            gains = np.maximum(own.distribution - whole, 0.0)
            assert own.moved == pytest.approx(gains.sum(), abs=1e-12)


def test_the_first_step_shown_is_the_first_at_which_something_is_dropped() -> None:
    """Bug: the view opens on a step at which all policies do the same."""
    seen = windows_of(SMALL, Truncating())
    assert (seen.step, seen.full) == (4, True)
    assert reading(seen, "drop oldest").dropped == ("<start>",)
    assert reading(seen, "keep first").dropped == ("the",)
    assert not windows_of(SMALL, Truncating(shown=3)).full
    never = windows_of(replace(SMALL, context_length=16), Truncating())
    assert (never.step, never.full) == (never.steps, False)


def test_a_step_in_words() -> None:
    """Bug: the sentence that is announced leaves out a policy or names the wrong tokens."""
    assert windows_of(SMALL, Truncating(shown=1)).sentence == (
        "Step 1 of 6, in the run of 'drop oldest': the text does not fill the context of 6 yet, "
        "so all of it is read."
    )
    seen = windows_of(SMALL, Truncating(shown=5))
    moved = [reading(seen, name).moved for name in ("drop oldest", "keep first")]
    assert seen.sentence == (
        "Step 5 of 6, in the run of 'drop oldest': the context of 6 is full; 'stop' ends the run; "
        "'drop oldest' drops <start>, the; 'keep first' drops the, the. Of the share after the whole text, "
        f"'drop oldest' moves {moved[0]:.2f} and 'keep first' moves {moved[1]:.2f} to other tokens."
    )


@pytest.mark.parametrize(
    ("bound", "names"),
    [(1, ["stop"]), (2, ["stop", "drop oldest"]), (3, ["stop", "drop oldest", "keep first"])],
)
def test_a_policy_without_room_is_not_asked(bound: int, names: list[str]) -> None:
    """Bug: a small context makes a policy raise, or the run silently stands for another policy."""
    for policy in POLICIES:
        situation = replace(SMALL, prompt=(0,), context_length=bound, policy=policy)
        seen = windows_of(situation, Truncating(n_first=3))
        assert [each.name for each in seen.readings if each.name != WHOLE] == names
        assert seen.policy == (policy if policy in names else "stop")
        assert seen.without_room == ("" if policy in names else policy)
        assert (f"'{policy}' has no room" in seen.sentence) == (policy not in names)


def test_a_text_longer_than_the_decoders_own_context_is_compared_with_nothing() -> None:
    """Bug: the whole text is handed to a decoder that cannot read it."""
    situation = replace(SMALL, prompt=(0, 1, 2, 3, 4) * 3, context_length=16, max_new_tokens=4, end=False)
    seen = windows_of(situation, Truncating(shown=4))
    assert len(seen.readings[0].places) == 18
    assert [each.name for each in seen.readings] == list(POLICIES)
    assert all(each.moved is None for each in seen.readings)
    assert "moves" not in seen.sentence


def test_a_large_vocabulary_shows_the_largest_shares_and_those_selected() -> None:
    """Bug: hundreds of rows, or a selected token that is not among those shown."""
    words = Vocabulary(tuple(f"word{n}" for n in range(300)))
    large = Decoder("large", CausalLanguageModel(300, context_length=16), words, 0)
    for seed in range(10):
        situation = replace(SMALL, decoder=large, seed=seed)
        seen = windows_of(situation, Truncating())
        known = [each for each in seen.readings if each.distribution is not None]
        assert {each.selected for each in known} <= set(seen.shares)
        assert len(seen.shares) <= 10 + len(known)
        largest = max(range(300), key=lambda n: max(each.distribution[n] for each in known))
        assert largest in seen.shares
