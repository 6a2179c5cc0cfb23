"""Find the lesson decoder's parameters: a random draw, moved until every printed figure comes out.

`python -m parameters.lesson` makes the shipped file again, from its recorded seed; with `--search 12` it
tries the draws of twelve seeds and reports each. Needs torch and SciPy.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize

from decoder_lib.parameters import (
    DATA,
    Config,
    Parameters,
    draw_parameters,
    fingerprint,
    save_parameters,
)
from parameters.acceptance import Check, Decoder, check_lesson, count_early_stops, seed_runs
from parameters.constraints import Lesson
from parameters.early_stops import Pin, pin_draws
from parameters.torch_decoder import flatten, unflatten

SEED = 0  # the draw that the shipped file was moved from
FIGURES = Path(__file__).with_name("figures.json")

# Weight of the pull to the draw, and most iterations: reach the figures, then come back towards the draw.
STAGES = ((1e-5, 160), (1e-4, 600))
PINNED = (1e-6, 300)  # the same for each round with the draws pinned
PIN_ROUNDS = 4


@dataclass(frozen=True)
class Fit:
    """A draw that was moved: its parameters, how far, and what the acceptance test says of it."""

    seed: int
    parameters: Parameters
    moved: float  # norm of the move over the norm of the draw
    unpinned_stops: int  # early stops before the draws were pinned
    early_stops: int
    checks: list[Check]
    seconds: float

    @property
    def accepted(self) -> bool:
        return all(check.holds for check in self.checks)


def fit(seed: int, scale: float, config: Config, figures: dict[str, Any]) -> Fit:
    """Move the draw of `seed` until the lesson's figures hold, keeping as near to it as the figures allow."""
    began = time.perf_counter()
    lesson = Lesson(figures, config)
    start = flatten(draw_parameters(config, seed, scale), config)
    anchor = torch.from_numpy(start)

    def objective(
        x: NDArray[np.float64], pull: float, pins: Sequence[Pin]
    ) -> tuple[float, NDArray[np.float64]]:
        vector = torch.from_numpy(x.copy()).requires_grad_()
        # Scaled, because L-BFGS-B's tests of convergence are absolute.
        loss = 1e3 * (lesson.loss(vector, pins) + pull * (vector - anchor).square().sum())
        loss.backward()
        assert vector.grad is not None
        return loss.item(), vector.grad.numpy()

    def descend(
        x: NDArray[np.float64], pull: float, iterations: int, pins: Sequence[Pin] = ()
    ) -> NDArray[np.float64]:
        options = {
            "maxiter": iterations,
            "maxfun": 2 * iterations,
            "maxcor": 30,
            "ftol": 1e-15,
            "gtol": 1e-12,
        }
        found: NDArray[np.float64] = minimize(
            objective, x, (pull, pins), "L-BFGS-B", jac=True, options=options
        ).x
        return found

    def count(parameters: Parameters) -> int:
        return count_early_stops(seed_runs(Decoder(parameters, config), figures), figures)

    x = start
    for pull, iterations in STAGES:
        x = descend(x, pull, iterations)
    unpinned = count(unflatten(x, config))
    for _ in range(PIN_ROUNDS):
        parameters = unflatten(x, config)
        checks = check_lesson(parameters, config, figures)
        if all(check.holds for check in checks):
            break
        x = descend(x, *PINNED, pin_draws(Decoder(parameters, config), figures))
    parameters = unflatten(x, config)
    checks = check_lesson(parameters, config, figures)
    moved = float(np.linalg.norm(x - start) / np.linalg.norm(start))
    return Fit(seed, parameters, moved, unpinned, count(parameters), checks, time.perf_counter() - began)


def summary(fitted: Fit) -> str:
    """One line of the search."""
    failed = [check.name for check in fitted.checks if not check.holds]
    held = f"{len(fitted.checks) - len(failed)} of {len(fitted.checks)} hold"
    verdict = "accepted" if fitted.accepted else f"not: {', '.join(failed[:4])}"
    return (
        f"seed {fitted.seed:4d}  moved {100 * fitted.moved:5.2f} %  "
        f"early stops {fitted.unpinned_stops:2d}, pinned {fitted.early_stops:2d}  {held}  "
        f"{fitted.seconds:4.0f} s  {verdict}"
    )


def report(fitted: Fit) -> str:
    """Every check of one draw, with its margin."""
    lines = [summary(fitted), ""]
    for check in fitted.checks:
        mark = "holds" if check.holds else "FAILS"
        lines.append(
            f"{mark}  {check.name:<38} {check.found!s:<24} wanted {check.wanted!s:<24} "
            f"margin {check.margin:.2g} (at least {check.required:g})"
        )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=SEED, help="the draw to move, or the first of a search")
    parser.add_argument("--scale", type=float, default=0.3, help="standard deviation of the draw")
    parser.add_argument("--search", type=int, metavar="N", help="try N draws; write nothing")
    parser.add_argument("--output", type=Path, default=DATA / "lesson.npz")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)  # the order of the sums, and so the last bits, stay the same
    figures = json.loads(FIGURES.read_text())
    config = Config(n_vocab=len(figures["vocabulary"]))
    if options.search:
        for seed in range(options.seed, options.seed + options.search):
            print(summary(fit(seed, options.scale, config, figures)), flush=True)
        return 0
    fitted = fit(options.seed, options.scale, config, figures)
    print(report(fitted))
    if not fitted.accepted:
        print(f"\n{options.output} not written: a figure does not hold with its margin", file=sys.stderr)
        return 1
    save_parameters(options.output, fitted.parameters, config)
    print(f"\nwrote {options.output}, fingerprint {fingerprint(fitted.parameters)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
