"""Every figure that the lesson prints, recomputed from the shipped decoder.

Each function below recomputes one section of figures.json, whole. A section is compared by equality,
so a key that nothing recomputes is a failure, and so is a section without a function.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_models import ScriptedModel, emit

from decoder_lib import (
    LESSON_VOCABULARY,
    CausalLanguageModel,
    Generation,
    generate_batch,
    rank_continuations,
    sequence_log_probability,
)
from decoder_lib.selection import Selection

FIGURES: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "parameters" / "figures.json").read_text(encoding="utf-8")
)
# Nothing to recompute: a description of the file, and a lesson whose numbers are assigned, not computed.
ILLUSTRATIVE = {"about", "second_lesson"}
PROSE = {"reading"}  # a sentence that explains the figure beside it

WORDS = FIGURES["vocabulary"]
PROMPT, END = FIGURES["prompt"], FIGURES["end_id"]
SNIPPET = """\
import numpy as np
from decoder_lib import CausalLanguageModel

model = CausalLanguageModel(n_vocab=7)
steps = model.generate(
    np.array([0, 1, 2]), max_new_tokens=5,
    seed=0, end_id=6,
)
for step in steps:
    print(step.context, step.token_id)
"""

recomputed: dict[str, Callable[[CausalLanguageModel], object]] = {}


def figure(function: Callable[[CausalLanguageModel], object]) -> Callable[[CausalLanguageModel], object]:
    recomputed[function.__name__] = function
    return function


def words(token_ids: Iterable[int]) -> list[str]:
    return [WORDS[token_id] for token_id in token_ids]


def shown(value: float, decimals: int = 4) -> float:
    """As the lesson prints it."""
    return float(f"{value:.{decimals}f}")


def probabilities(run: Generation) -> list[float]:
    return [shown(step.probability) for step in run]


@figure
def vocabulary(lesson: CausalLanguageModel) -> object:
    assert lesson.n_vocab == len(LESSON_VOCABULARY)
    return list(LESSON_VOCABULARY.tokens)


@figure
def end_id(lesson: CausalLanguageModel) -> object:
    return LESSON_VOCABULARY.id("<end>")


@figure
def prompt(lesson: CausalLanguageModel) -> object:
    return LESSON_VOCABULARY.encode("<start> the cat")


@figure
def first_distribution(lesson: CausalLanguageModel) -> object:
    return [shown(share) for share in lesson.generate(PROMPT, 1)[0].distribution]


@figure
def first_distribution_dog_at_temperature_05(lesson: CausalLanguageModel) -> object:
    distribution = lesson.generate(PROMPT, 1, temperature=0.5)[0].distribution
    return shown(distribution[LESSON_VOCABULARY.id("dog")])


recomputed["first_distribution_dog_at_temperature_0.5"] = recomputed.pop(
    "first_distribution_dog_at_temperature_05"
)


@figure
def sampled_seed_0(lesson: CausalLanguageModel) -> object:
    run = lesson.generate(PROMPT, 5, seed=0, end_id=END)
    again = lesson.generate(PROMPT, 5, seed=0, end_id=END)
    return {
        "max_new_tokens": 5,
        "tokens": words(run.token_ids),
        "probabilities": probabilities(run),
        "product": shown(run.probability, 6),
        "same_run_twice_gives_the_same_tokens": run.token_ids == again.token_ids,
    }


@figure
def greedy(lesson: CausalLanguageModel) -> object:
    run = lesson.generate(PROMPT, 5, greedy=True, end_id=END)
    others = [lesson.generate(PROMPT, 5, greedy=True, seed=seed, end_id=END) for seed in range(101)]
    sampled = lesson.generate(PROMPT, 5, seed=0, end_id=END)
    return {
        "max_new_tokens": 5,
        "tokens": words(run.token_ids),
        "probabilities": probabilities(run),
        "product": shown(run.probability, 6),
        "ignores_the_seed": all(other.token_ids == run.token_ids for other in others),
        "times_as_probable_as_the_sampled_run_roughly": round(run.probability / sampled.probability),
    }


@figure
def greedy_twelve(lesson: CausalLanguageModel) -> object:
    run = lesson.generate(PROMPT, 12, greedy=True, end_id=END)
    return {
        "max_new_tokens": 12,
        "tokens": words(run.token_ids),
        "finish": run.finish_reason,
        "end_token_never_has_the_largest_share": all(np.argmax(step.distribution) != END for step in run),
    }


@figure
def four_token_continuations(lesson: CausalLanguageModel) -> object:
    ids, scores = rank_continuations(lesson, PROMPT, 4)
    ranked = [tuple(row) for row in ids.tolist()]
    greedy_ids = tuple(lesson.generate(PROMPT, 4, greedy=True).token_ids)
    rank = ranked.index(greedy_ids) + 1
    best = ranked[0]
    factors = [lesson.generate([*PROMPT, *best[:made]], 1)[0].distribution[best[made]] for made in range(4)]
    third = lesson.generate([*PROMPT, *LESSON_VOCABULARY.encode("dog dog")], 1)[0].distribution
    return {
        "count": len(ranked),
        "after_dog_dog": {
            word: shown(third[LESSON_VOCABULARY.id(word)])
            for word in FIGURES["four_token_continuations"]["after_dog_dog"]
        },
        "greedy": {
            "tokens": words(greedy_ids),
            "product": shown(np.exp(scores[rank - 1]), 6),
            "rank": rank,
        },
        "best": {
            "tokens": words(best),
            "probabilities": [shown(factor) for factor in factors],
            "product": shown(np.exp(scores[0]), 6),
            "rank": 1,
        },
        "greedy_is_most_probable_at_lengths": [
            length
            for length in (2, 3, 4)
            if tuple(rank_continuations(lesson, PROMPT, length)[0][0]) == greedy_ids[:length]
        ],
    }


@figure
def stopping_runs(lesson: CausalLanguageModel) -> object:
    rows = []
    for asked in FIGURES["stopping_runs"]:
        budget, by_greed = asked["max_new_tokens"], asked["selection"] == "greedy"
        run = lesson.generate(PROMPT, budget, greedy=by_greed, seed=asked.get("seed", 0), end_id=END)
        ended = run.finish_reason == "stop"
        inputs = {key: asked[key] for key in ("selection", "seed", "max_new_tokens") if key in asked}
        rows.append(
            inputs
            | {"tokens": words(run.token_ids)}
            | {"finish": f"end token at step {len(run)}" if ended else run.finish_reason}
        )
    return rows


@figure
def seeds_0_to_100(lesson: CausalLanguageModel) -> object:
    runs = [lesson.generate(PROMPT, 5, seed=seed, end_id=END, temperature=1.0) for seed in range(101)]
    return {
        "runs": len(runs),
        "max_new_tokens": 5,
        "temperature": 1.0,
        "stop_early_on_the_end_token": sum(len(run) < 5 and run.finish_reason == "stop" for run in runs),
    }


@figure
def context_bound_five(lesson: CausalLanguageModel) -> object:
    for_any_request = {
        (len(run), run.finish_reason)
        for budget in (3, 5, 12, 1000)
        for run in [lesson.generate(PROMPT, budget, seed=0, end_id=END, context_length=5)]
    }
    assert len(for_any_request) == 1
    made, finish = for_any_request.pop()
    return {"context_length": 5, "seed": 0, "new_tokens_returned": made, "finish": finish}


@figure
def positions_read(lesson: CausalLanguageModel) -> object:
    plain = lesson.generate(PROMPT, 5, seed=0, end_id=END)
    cached = lesson.generate(PROMPT, 5, seed=0, end_id=END, use_cache=True)
    assert cached.token_ids == plain.token_ids
    return {
        "prefix_lengths": [len(step.context) for step in plain],
        "without_a_cache": plain.positions_read,
        "distinct_positions": cached.positions_read,
    }


@figure
def stop_mask_example(lesson: CausalLanguageModel) -> object:
    rounds, end = FIGURES["stop_mask_example"]["rounds"], FIGURES["stop_mask_example"]["end_id"]
    model = ScriptedModel(lambda prefix: emit(rounds[len(prefix) - 1][prefix[0]], 5), n_vocab=5)
    batch = generate_batch(model, [[0], [1]], len(rounds), end_id=end, greedy=True)
    # A row that has ended is not asked again, so its later choices are read off the model's script.
    selected = [
        [row[made] if made < len(row) else rounds[made][b] for b, row in enumerate(batch.continuations)]
        for made in range(len(rounds))
    ]
    return {
        "rounds": selected,
        "end_id": end,
        "lengths": batch.lengths.tolist(),
        "finished": batch.finished.tolist(),
    }


@figure
def chain_rule_example(lesson: CausalLanguageModel) -> object:
    the, cat, sat, end = range(4)
    rows = {(the, cat): [0.2, 0.1, 0.5, 0.2], (the, cat, sat): [0.3, 0.2, 0.1, 0.4]}
    model = ScriptedModel(lambda prefix: np.log(rows.get(tuple(prefix), [0.25] * 4)), n_vocab=4)

    def probability(before: list[int], after: list[int]) -> float:
        return shown(np.exp(sequence_log_probability(model, before, after)), 12)

    return {
        "p_sat_given_the_cat": probability([the, cat], [sat]),
        "p_end_given_the_cat_sat": probability([the, cat, sat], [end]),
        "product": probability([the, cat], [sat, end]),
    }


@figure
def random_draws(lesson: CausalLanguageModel) -> object:
    for seed in range(101):
        run = lesson.generate(PROMPT, 5, seed=seed, end_id=END)
        rng = np.random.default_rng(seed)
        drawn = [int(rng.choice(lesson.n_vocab, p=step.distribution)) for step in run]
        assert drawn == run.token_ids
    return FIGURES["random_draws"]


@pytest.fixture(scope="module")
def lesson() -> CausalLanguageModel:
    return CausalLanguageModel(n_vocab=7)


@pytest.mark.parametrize("key", sorted(FIGURES.keys() - ILLUSTRATIVE))
def test_figure(key: str, lesson: CausalLanguageModel) -> None:
    """Bug: the shipped parameters, the loop or the scoring give another digit than the lesson prints."""
    printed = FIGURES[key]
    if isinstance(printed, dict):
        printed = {name: value for name, value in printed.items() if name not in PROSE}
    assert recomputed[key](lesson) == printed


def test_illustrations_are_marked_as_such() -> None:
    """Bug: a computed figure is filed among the illustrations, where nothing checks it."""
    assert FIGURES["second_lesson"]["illustrative"] is True
    assert not recomputed.keys() & ILLUSTRATIVE


def test_snippet_prints_the_table_of_the_default_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Bug: the lesson's own program, with only its import line changed, fails or prints another run."""
    exec(SNIPPET, {})
    selected = LESSON_VOCABULARY.encode(" ".join(FIGURES["sampled_seed_0"]["tokens"]))
    expected = [f"{np.array([*PROMPT, *selected[:made]])} {token}" for made, token in enumerate(selected)]
    assert capsys.readouterr().out.splitlines() == expected


@pytest.mark.parametrize("key", ["sampled_seed_0", "greedy", "greedy_twelve"])
def test_figures_hold_with_a_cache(key: str, lesson: CausalLanguageModel) -> None:
    """Bug: a cached run of the lesson selects other tokens, or with other probabilities."""
    printed = FIGURES[key]
    run = lesson.generate(PROMPT, printed["max_new_tokens"], greedy=key != "sampled_seed_0", use_cache=True)
    assert words(run.token_ids) == printed["tokens"]
    assert probabilities(run)[: len(printed.get("probabilities", []))] == printed.get("probabilities", [])


def test_early_stops_are_the_same_with_a_cache(lesson: CausalLanguageModel) -> None:
    """Bug: a draw of the 101 runs sits so near an edge that the cache's last bits decide it."""
    for seed in range(101):
        plain = lesson.generate(PROMPT, 5, seed=seed, end_id=END)
        cached = lesson.generate(PROMPT, 5, seed=seed, end_id=END, use_cache=True)
        assert cached.token_ids == plain.token_ids


def test_every_figure_has_room_for_the_last_bits(lesson: CausalLanguageModel) -> None:
    """Bug: a draw of the 101 runs lies within rounding of an edge, so another BLAS gives another run."""
    for seed in range(101):
        for step in lesson.generate(PROMPT, 5, seed=seed, end_id=END):
            edges = np.cumsum(step.distribution)
            assert np.abs(edges - step.uniform).min() > 1e-7


def test_temperature_of_one_half_squares_the_shares(lesson: CausalLanguageModel) -> None:
    """Bug: temperature multiplies the logits, or is applied after the softmax."""
    shares = Selection().log_distribution(lesson.logits(PROMPT)[-1])
    cold = np.exp(Selection(temperature=0.5).log_distribution(lesson.logits(PROMPT)[-1]))
    assert cold == pytest.approx(np.exp(2 * shares) / np.exp(2 * shares).sum(), rel=1e-12)
