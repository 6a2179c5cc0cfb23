"""Pins: what each draw of the 101 seeded runs must select for exactly the printed number to stop early.

A count has no gradient. So the draws are held where they are, except in the runs that are nearest to
ending the other way: as many of these as the count is off by are asked to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from parameters.acceptance import Decoder, count_early_stops, seed_runs


@dataclass(frozen=True)
class Pin:
    """One draw: after `prefix` (the selections so far), `uniform` must select `token`."""

    prefix: tuple[int, ...]
    uniform: float
    token: int


def pin_draws(decoder: Decoder, figures: dict[str, Any]) -> list[Pin]:
    """A pin for each draw that decides whether a run stops early."""
    end, prompt = figures["end_id"], tuple(figures["prompt"])
    wanted = figures["seeds_0_to_100"]
    printed = {one.get("seed") for one in figures["stopping_runs"]}  # these must end as printed
    steps = wanted["max_new_tokens"] - 1  # an end token at the last step is not early
    runs = [
        list(zip(one.tokens[:steps], one.uniforms[:steps], strict=True))
        for one in seed_runs(decoder, figures)
    ]
    off = count_early_stops(seed_runs(decoder, figures), figures) - wanted["stop_early_on_the_end_token"]

    # How far each draw is from selecting the end token where it did not, or the other way round. The
    # first distribution is printed and so has no room.
    distances: list[tuple[float, int, int]] = []
    for seed, draws in enumerate(runs):
        stops = draws[-1][0] == end
        if seed in printed or stops != (off > 0):
            continue
        candidates = [len(draws) - 1] if stops else range(len(draws))
        found = [
            (abs(draws[step][1] - (1 - decoder(prompt + _tokens(draws[:step]))[end])), seed, step)
            for step in candidates
            if step > 0
        ]
        distances += sorted(found)[:1]
    for _, seed, step in sorted(distances)[: abs(off)]:
        uniform = runs[seed][step][1]
        # The end token has the last interval; the one below it is its neighbour's.
        runs[seed] = [*runs[seed][:step], (end - 1 if off > 0 else end, uniform)]
    pins = (
        Pin(_tokens(draws[:step]), uniform, token)
        for draws in runs
        for step, (token, uniform) in enumerate(draws)
    )
    return list(dict.fromkeys(pins))


def _tokens(draws: Iterable[tuple[int, float]]) -> tuple[int, ...]:
    return tuple(token for token, _ in draws)
