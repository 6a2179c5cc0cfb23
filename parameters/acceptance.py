"""The acceptance test of the lesson decoder: every printed figure, with the room it has.

A figure that came out only just would hang on the last bits, which differ from one BLAS to another;
so each check measures its margin and asks for a minimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decoder_lib.model import CausalLanguageModel
from decoder_lib.parameters import Config, Parameters

ROUNDING_MARGIN = 0.02  # units of the last printed digit: 2e-6 for four decimals
RELATIVE_MARGIN = 1e-5  # between two probabilities that are compared
DRAW_MARGIN = 1e-6  # from a draw's uniform to the nearest edge of its token's interval


@dataclass(frozen=True)
class Check:
    """One property: what was found and wanted, and the margin it has against the margin required."""

    name: str
    found: object
    wanted: object
    margin: float
    required: float

    @property
    def holds(self) -> bool:
        return self.margin >= self.required


@dataclass(frozen=True)
class Run:
    """One run: selected ids, their probabilities, the draws' uniforms, why it ended, and its least margin.

    The margin is a relative gap between the two largest shares (greedy) or the distance between a
    draw and the nearest edge of its interval (sampling).
    """

    tokens: list[int]
    probabilities: list[float]
    uniforms: list[float]
    finish: str
    margin: float


class Decoder:
    """Next-token distributions, each computed once: `decoder(prefix)` is (V,) float64."""

    def __init__(self, parameters: Parameters, config: Config) -> None:
        self.config = config
        self._model = CausalLanguageModel.from_parameters(parameters, config)
        self._known: dict[tuple[int, ...], NDArray[np.float64]] = {}

    def __call__(self, prefix: tuple[int, ...]) -> NDArray[np.float64]:
        if prefix not in self._known:
            logits = self._model.logits(np.array(prefix))[-1]
            shares = np.exp(logits - logits.max())
            self._known[prefix] = shares / shares.sum()
        return self._known[prefix]


def run(
    decoder: Decoder,
    prompt: tuple[int, ...],
    max_new_tokens: int,
    end_id: int,
    seed: int | None = None,
    context_length: int | None = None,
) -> Run:
    """Generate greedily (`seed` None) or by one draw per token from `default_rng(seed)`."""
    context_length = context_length or decoder.config.context_length
    rng, uniforms = np.random.default_rng(seed), np.random.default_rng(seed)
    tokens: list[int] = []
    probabilities: list[float] = []
    drawn: list[float] = []
    finish, margin = "length", np.inf
    for step in range(1, max_new_tokens + 1):
        prefix = prompt + tuple(tokens)
        if len(prefix) >= context_length:
            finish = "context"
            break
        shares = decoder(prefix)
        if seed is None:
            second, first = np.sort(shares)[-2:]
            token = int(shares.argmax())
            margin = min(margin, float(first / second - 1))
        else:
            token = int(rng.choice(len(shares), p=shares))
            # Generator.choice compares one uniform with the normalised cumulative shares.
            edges = np.concatenate([[0.0], shares.cumsum() / shares.sum()])
            uniform = uniforms.random()
            drawn.append(uniform)
            margin = min(margin, float(uniform - edges[token]), float(edges[token + 1] - uniform))
        tokens.append(token)
        probabilities.append(float(shares[token]))
        if token == end_id:
            finish = f"end token at step {step}"
            break
    return Run(tokens, probabilities, drawn, finish, margin)


def seed_runs(decoder: Decoder, figures: dict[str, Any]) -> list[Run]:
    """The runs of the seeds 0 to 100 that the lesson counts, in order."""
    steps = figures["seeds_0_to_100"]["max_new_tokens"]
    seeds = range(figures["seeds_0_to_100"]["runs"])
    return [run(decoder, tuple(figures["prompt"]), steps, figures["end_id"], seed) for seed in seeds]


def count_early_stops(runs: list[Run], figures: dict[str, Any]) -> int:
    """How many runs returned fewer tokens than were requested."""
    return sum(len(one.tokens) < figures["seeds_0_to_100"]["max_new_tokens"] for one in runs)


def _rounded(name: str, found: float, printed: float, decimals: int = 4) -> Check:
    unit = 10.0**-decimals
    margin = 0.5 - abs(found - printed) / unit
    return Check(name, f"{found:.{decimals + 3}f}", f"{printed:.{decimals}f}", margin, ROUNDING_MARGIN)


def _exactly(name: str, found: object, wanted: object, margin: float, required: float) -> Check:
    return Check(name, found, wanted, margin if found == wanted else -np.inf, required)


def _run_checks(
    name: str, found: Run, wanted: dict[str, Any], words: list[str], required: float
) -> list[Check]:
    """Tokens, and whichever of finish, probabilities and product the lesson prints for this run."""
    tokens = [words[token] for token in found.tokens]
    checks = [_exactly(f"{name}: tokens", tokens, wanted["tokens"], found.margin, required)]
    if "finish" in wanted:
        checks.append(_exactly(f"{name}: finish", found.finish, wanted["finish"], np.inf, 0))
    pairs = zip(found.probabilities, wanted.get("probabilities", []), strict=False)
    checks += [_rounded(f"{name}: step {step}", p, printed) for step, (p, printed) in enumerate(pairs, 1)]
    if "product" in wanted:
        product_ = float(np.prod(found.probabilities))
        checks.append(_rounded(f"{name}: product", product_, wanted["product"], 6))
    return checks


def _ranking_checks(decoder: Decoder, prompt: tuple[int, ...], figures: dict[str, Any]) -> list[Check]:
    """All continuations of four tokens, scored; and of two and three, for the most probable."""
    wanted, words = figures["four_token_continuations"], figures["vocabulary"]
    scores: dict[tuple[int, ...], float] = {(): 1.0}
    tables: dict[int, dict[tuple[int, ...], float]] = {}
    for length in range(1, 5):
        scores = {
            (*start, token): score * float(decoder(prompt + start)[token])
            for (start, score), token in product(scores.items(), range(len(words)))
        }
        tables[length] = scores
    checks = [_exactly("four tokens: count", len(tables[4]), wanted["count"], np.inf, 0)]
    for name in ("greedy", "best"):
        ids = tuple(words.index(word) for word in wanted[name]["tokens"])
        ordered = sorted(tables[4].values(), reverse=True)
        rank = 1 + ordered.index(tables[4][ids])
        gaps = [ordered[i - 1] / ordered[i] - 1 for i in (rank - 1, rank) if i]
        checks.append(
            _exactly(f"four tokens: rank of {name}", rank, wanted[name]["rank"], min(gaps), RELATIVE_MARGIN)
        )
        checks.append(_rounded(f"four tokens: product of {name}", tables[4][ids], wanted[name]["product"], 6))
        for step, printed in enumerate(wanted[name].get("probabilities", [])):
            found = float(decoder(prompt + ids[:step])[ids[step]])
            checks.append(_rounded(f"four tokens: {name}, step {step + 1}", found, printed))
    greedy = tuple(words.index(word) for word in wanted["greedy"]["tokens"])
    for length in wanted["greedy_is_most_probable_at_lengths"]:
        first, second = sorted(tables[length], key=tables[length].__getitem__, reverse=True)[:2]
        gap = tables[length][first] / tables[length][second] - 1
        checks.append(
            _exactly(f"most probable of {length} tokens", first, greedy[:length], gap, RELATIVE_MARGIN)
        )
    third = decoder(prompt + greedy[:2])
    for word, printed in wanted["after_dog_dog"].items():
        checks.append(_rounded(f"after dog dog: {word}", float(third[words.index(word)]), printed))
    return checks


def check_lesson(parameters: Parameters, config: Config, figures: dict[str, Any]) -> list[Check]:
    """Every figure the lesson prints that depends on the parameters."""
    decoder = Decoder(parameters, config)
    words, end_id, prompt = figures["vocabulary"], figures["end_id"], tuple(figures["prompt"])
    first = decoder(prompt)
    checks = [
        _rounded(f"first distribution: {word}", float(share), printed)
        for word, share, printed in zip(words, first, figures["first_distribution"], strict=True)
    ]
    cold = first**2 / (first**2).sum()  # softmax(logits / 0.5)
    printed = figures["first_distribution_dog_at_temperature_0.5"]
    checks.append(_rounded("dog at temperature 0.5", float(cold[words.index("dog")]), printed))

    sampled = run(decoder, prompt, 5, end_id, seed=0)
    checks += _run_checks("seed 0", sampled, figures["sampled_seed_0"], words, DRAW_MARGIN)
    greedy = run(decoder, prompt, 5, end_id)
    checks += _run_checks("greedy", greedy, figures["greedy"], words, RELATIVE_MARGIN)
    ratio = float(np.prod(greedy.probabilities) / np.prod(sampled.probabilities))
    times = figures["greedy"]["times_as_probable_as_the_sampled_run_roughly"]
    checks.append(_rounded("greedy to sampled", ratio, times, 0))
    twelve = run(decoder, prompt, 12, end_id)
    checks += _run_checks("greedy, twelve", twelve, figures["greedy_twelve"], words, RELATIVE_MARGIN)
    checks += _ranking_checks(decoder, prompt, figures)

    for wanted in figures["stopping_runs"]:
        seed = wanted.get("seed")
        found = run(decoder, prompt, wanted["max_new_tokens"], end_id, seed)
        required = RELATIVE_MARGIN if seed is None else DRAW_MARGIN
        name = "stopping run, greedy" if seed is None else f"stopping run, seed {seed}"
        checks += _run_checks(name, found, wanted, words, required)

    wanted = figures["seeds_0_to_100"]
    runs = seed_runs(decoder, figures)
    count, margin = count_early_stops(runs, figures), min(one.margin for one in runs)
    checks.append(_exactly("early stops", count, wanted["stop_early_on_the_end_token"], margin, DRAW_MARGIN))
    wanted = figures["context_bound_five"]
    found = run(decoder, prompt, 5, end_id, wanted["seed"], wanted["context_length"])
    kept = figures["sampled_seed_0"]["tokens"][: wanted["new_tokens_returned"]]
    checks += _run_checks(
        "context bound", found, {"tokens": kept, "finish": wanted["finish"]}, words, DRAW_MARGIN
    )
    return checks
