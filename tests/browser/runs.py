"""What the live views should show of a run: the library's own answers, written as a reader sees them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from live import Reader

from decoder_lib import LESSON_VOCABULARY as WORDS
from decoder_lib import CausalLanguageModel, Generation, Step, generate, load

MODELS = {"untrained": load("lesson"), "trained": load("trained")}
END = WORDS.id("<end>")
UNKNOWN = f"'bird' is not among the 7 words of the vocabulary: {' '.join(WORDS.tokens)}."
# A decoder with more words than a view can list: what a notebook says, and the same here.
LARGE = """from decoder_lib import CausalLanguageModel, Vocabulary
from decoder_lib.views.situation import Decoder
from decoder_lib.views.state import State

words = Vocabulary(tuple(f"word{number}" for number in range(300)))
large = State((Decoder("large", CausalLanguageModel(300, seed=1), words, 5),), prompt=(3, 4))"""
LARGE_MODEL = CausalLanguageModel(300, seed=1)


@dataclass(frozen=True)
class Setting:
    """What the controls of a run say; the lesson's situation at first."""

    prompt: str = "<start> the cat"
    parameters: str = "untrained"
    greedy: bool = False
    seed: int = 0
    temperature: float = 1.0
    new_tokens: int = 5
    context: int = 16
    end: bool = True

    @property
    def model(self) -> CausalLanguageModel:
        """The decoder."""
        return MODELS[self.parameters]

    @property
    def ids(self) -> list[int]:
        """Of the prompt."""
        return WORDS.encode(self.prompt)

    def run(self, **changed: Any) -> Generation:
        """What the library makes of it; `changed` are arguments of `generate` that differ."""
        arguments: dict[str, Any] = {
            "prompt": self.ids,
            "max_new_tokens": self.new_tokens,
            "end_id": END if self.end else None,
            "seed": self.seed,
            "greedy": self.greedy,
            "temperature": self.temperature,
            "context_length": self.context,
        }
        return generate(self.model, **arguments | changed)

    def finish(self, run: Generation) -> str:
        """Why a run ended, as the views say it."""
        return {
            "stop": "it selected the end token <end> (stop)",
            "length": f"it has made the {len(run)} token{'s' * (len(run) > 1)} asked for (length)",
            "context": f"the prefix fills the context of {self.context} positions (context)",
        }[run.finish_reason]


def change_every_setting(hand: Reader, now: Setting, prompt: str = "") -> Iterator[Setting]:
    """Use each control of a run, and say each time what is set now. `prompt` is left alone where empty."""
    if prompt:
        hand.write("Prompt", prompt)
        yield (now := replace(now, prompt=prompt))
    other = "untrained" if now.parameters == "trained" else "trained"
    hand.choose("Parameters", other)
    yield (now := replace(now, parameters=other))
    hand.count("Seed", now.seed + 2)
    yield (now := replace(now, seed=now.seed + 2))
    hand.count("Temperature", 1.3, step=0.1)
    yield (now := replace(now, temperature=1.3))
    hand.tick("<end> ends the run")
    yield (now := replace(now, end=False))
    hand.count("New tokens", now.new_tokens + 1)
    yield (now := replace(now, new_tokens=now.new_tokens + 1))
    hand.choose("Selection", "greedy")
    yield (now := replace(now, greedy=True))
    hand.choose("Selection", "sampling")
    yield (now := replace(now, greedy=False))
    hand.write("Context bound", "7")
    yield replace(now, context=7)


def small(value: float) -> str:
    """A product."""
    return f"{value:.6f}" if value >= 1e-4 else f"{value:.2e}"


def log(value: float) -> str:
    """A logarithm."""
    return f"{value:.4f}".replace("-", "\u2212")


def products(steps: Sequence[Step]) -> list[float]:
    """The product of the probabilities after each step."""
    return [math.prod(step.probability for step in steps[: made + 1]) for made in range(len(steps))]


def word(step: Step) -> str:
    """The token that a step selected."""
    return WORDS.tokens[step.token_id]
