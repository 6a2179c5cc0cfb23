"""The lesson's figures as a loss that gradients can follow.

Its constraints are tighter than `parameters.acceptance` asks for, so that what satisfies them passes there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from decoder_lib.parameters import Config
from parameters.early_stops import Pin
from parameters.torch_decoder import log_probabilities, split

BAND = 0.4  # a figure may be this far from its printed value, in units of the last digit; 0.5 rounds away
GAP = 2e-3  # least difference between the logarithms of two probabilities whose order is printed
EDGE = 5e-4  # least distance from a draw to an edge of its token's interval, in probability
EARLY_BAND = 0.005  # the probability of an early stop may be this far from the printed share of runs
PIN_EDGE = 1e-4  # least distance from a pinned draw to an edge of its token's interval, in probability


class Lesson:
    """The lesson's figures as a loss: zero where every constraint holds with its margin."""

    def __init__(self, figures: dict[str, Any], config: Config) -> None:
        self.config, self.figures = config, figures
        self.words: list[str] = figures["vocabulary"]
        self.prompt: list[int] = figures["prompt"]
        triples = list(product(range(config.n_vocab), repeat=3))
        self.tree = torch.tensor([[*self.prompt, *triple] for triple in triples])  # (343, 6)
        self.greedy = self._ids(figures["greedy_twelve"]["tokens"])  # 12 ids
        self.sampled = self._ids(figures["sampled_seed_0"]["tokens"])  # 5 ids
        self.best = self._ids(figures["four_token_continuations"]["best"]["tokens"])  # 4 ids

    def _ids(self, tokens: list[str]) -> list[int]:
        return [self.words.index(token) for token in tokens]

    def _after_prompt(self, parameters: dict[str, Tensor], selected: list[int]) -> Tensor:
        """Log-probabilities that the selections of one run were made from: (steps, V)."""
        ids = torch.tensor([self.prompt + selected[:-1]])  # (1, T)
        return log_probabilities(parameters, ids, self.config)[0, len(self.prompt) - 1 :]

    def loss(self, vector: Tensor, pins: Sequence[Pin] = ()) -> Tensor:
        """The sum of squared violations, in logarithms of probabilities, at one parameter vector."""
        parameters = split(vector, self.config)
        greedy = self._after_prompt(parameters, self.greedy)  # (12, V)
        sampled = self._after_prompt(parameters, self.sampled)  # (5, V)
        best = self._after_prompt(parameters, self.best)  # (4, V)
        terms = [
            self._figures(greedy, sampled, best),
            self._argmaxes(greedy),
            *self._draws(greedy, sampled),
            *self._tree(parameters, pins),
        ]
        return torch.stack([term.square().sum() for term in terms]).sum()

    def _figures(self, greedy: Tensor, sampled: Tensor, best: Tensor) -> Tensor:
        """Distance of every printed number from the band around it."""
        figures, four = self.figures, self.figures["four_token_continuations"]
        g, s, b = (
            log.gather(1, torch.tensor(ids)[:, None])[:, 0]  # log-probabilities of the selections
            for log, ids in ((greedy, self.greedy), (sampled, self.sampled), (best, self.best))
        )
        cold = torch.log_softmax(greedy[0] / 0.5, dim=-1)[self.greedy[0]]
        four_decimals = torch.cat([greedy[0], s[1:], g[1:5], b[2:], cold[None]])
        printed = [
            *figures["first_distribution"],
            *figures["sampled_seed_0"]["probabilities"][1:],
            *figures["greedy"]["probabilities"][1:],
            *four["best"]["probabilities"][2:],
            figures["first_distribution_dog_at_temperature_0.5"],
        ]
        products = torch.stack([s.sum(), g[:5].sum(), g[:4].sum(), b.sum()])
        printed_products = [
            figures["sampled_seed_0"]["product"],
            figures["greedy"]["product"],
            four["greedy"]["product"],
            four["best"]["product"],
        ]
        found = torch.cat([four_decimals, products])
        wanted = torch.tensor([*printed, *printed_products], dtype=torch.float64)
        unit = torch.tensor([1e-4] * len(printed) + [1e-6] * len(printed_products), dtype=torch.float64)
        return torch.relu((found - wanted.log()).abs() - BAND * unit / wanted)

    def _argmaxes(self, greedy: Tensor) -> Tensor:
        """How far every other token comes within the gap below each greedy selection."""
        chosen = torch.tensor(self.greedy)[:, None]  # (12, 1)
        others = greedy.scatter(1, chosen, -torch.inf)  # (12, V)
        return torch.relu(others + GAP - greedy.gather(1, chosen))

    def _draws(self, greedy: Tensor, sampled: Tensor) -> list[Tensor]:
        """How far each uniform of the printed runs lies outside its token's interval."""
        end = self.figures["end_id"]
        after = {0: (self.sampled, sampled), 1: ([self.greedy[0], end], greedy), 4: ([end], greedy)}
        return [
            _outside(
                torch.from_numpy(np.random.default_rng(seed).random(len(tokens))),
                log[: len(tokens)].exp(),
                torch.tensor(tokens),
                end,
                EDGE,
            )
            for seed, (tokens, log) in after.items()
        ]

    def _tree(self, parameters: dict[str, Tensor], pins: Sequence[Pin]) -> list[Tensor]:
        """The terms that need every continuation of three tokens and the distribution after it."""
        log = log_probabilities(parameters, self.tree, self.config)  # (343, 6, V)
        first = len(self.prompt) - 1
        steps = log[:, first : first + 3].gather(2, self.tree[:, -3:, None])[..., 0]  # (343, 3)
        early = self._pinned(log[:, first:], pins) if pins else self._early_stops(steps, log[:, -1])
        return [early, self._ranks(steps, log[:, -1])]

    def _pinned(self, log: Tensor, pins: Sequence[Pin]) -> Tensor:
        """How far each pinned draw lies outside its token's interval; log is (343, 4, V)."""
        n, end = self.config.n_vocab, self.figures["end_id"]
        rows = [int(np.ravel_multi_index([*p.prefix, 0, 0, 0][:3], (n,) * 3)) for p in pins]
        shares = log[rows, [len(p.prefix) for p in pins]].exp()  # (pins, V)
        tokens = torch.tensor([p.token for p in pins])
        uniforms = torch.tensor([p.uniform for p in pins], dtype=torch.float64)
        return _outside(uniforms, shares, tokens, end, PIN_EDGE)

    def _early_stops(self, steps: Tensor, last: Tensor) -> Tensor:
        """Distance of the probability that a run stops early from the printed share of runs that did.

        It brings the count, which has no gradient, near the printed one; the pins then settle it.
        """
        end, wanted = self.figures["end_id"], self.figures["seeds_0_to_100"]
        goes_on = (self.tree[:, -3:] != end).all(1)  # (343,)
        stays = steps.sum(1).exp() * (1 - last[:, end].exp())  # (343,)
        share = wanted["stop_early_on_the_end_token"] / wanted["runs"]
        return torch.relu((1 - stays[goes_on].sum() - share).abs() - EARLY_BAND)

    def _ranks(self, steps: Tensor, last: Tensor) -> Tensor:
        """Violations of the printed ranks among all continuations of two, three and four tokens."""
        n = self.config.n_vocab
        two = steps[::n, :2].sum(1)  # (49,)
        three = steps.sum(1)  # (343,)
        four = (three[:, None] + last).flatten()  # (2401,)
        greedy = [int(np.ravel_multi_index(self.greedy[:k], (n,) * k)) for k in (2, 3, 4)]
        best = int(np.ravel_multi_index(self.best, (n,) * 4))
        terms = [self._below(scores, index) for scores, index in zip((two, three), greedy, strict=False)]
        rank = self.figures["four_token_continuations"]["greedy"]["rank"]
        rest = torch.ones(n**4, dtype=torch.bool)
        rest[[greedy[2], best]] = False
        ordered = four[rest].sort(descending=True).values
        between, below = ordered[: rank - 2], ordered[rank - 2 :]
        terms += [
            torch.relu(between + GAP - four[best]),
            torch.relu(four[greedy[2]] + GAP - between),
            torch.relu(below + GAP - four[greedy[2]]),
        ]
        return torch.cat(terms)

    @staticmethod
    def _below(scores: Tensor, index: int) -> Tensor:
        others = torch.cat([scores[:index], scores[index + 1 :]])
        return torch.relu(others + GAP - scores[index])


def _outside(uniforms: Tensor, shares: Tensor, tokens: Tensor, end: int, edge: float) -> Tensor:
    """How far each uniform (N,) comes within `edge` of leaving its token's interval of shares (N, V)."""
    upper = shares.cumsum(1).gather(1, tokens[:, None])[:, 0]  # (N,)
    lower = upper - shares.gather(1, tokens[:, None])[:, 0]  # (N,)
    # The last interval ends at one and the first begins at zero, whatever the shares.
    above = torch.relu(uniforms + edge - upper)[tokens != end]
    below = torch.relu(lower + edge - uniforms)[tokens != 0]
    return torch.cat([above, below])
