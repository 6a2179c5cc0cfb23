"""Everything a reader can set in the live views, in one value that never changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from decoder_lib.internal.arguments import as_prompt, check_integer, check_number, check_switch
from decoder_lib.internal.interface import LanguageModel
from decoder_lib.model import load
from decoder_lib.vocabulary import LESSON_VOCABULARY, STORY_VOCABULARY, Vocabulary

LARGEST_SEED = 100
MOST_NEW_TOKENS = 12
TEMPERATURES = (0.1, 3.0)  # what the slider offers
POLICIES = ("stop", "drop oldest", "keep first")


@dataclass(frozen=True, eq=False)
class Decoder:
    """A model to look at, with the words its ids stand for.

    name : what readers call it.
    end_id : the token that ends a run, if it has one.

    Raises ValueError where there is not one word for each id.
    """

    name: str
    model: LanguageModel
    words: Vocabulary
    end_id: int | None = None

    def __post_init__(self) -> None:
        if len(self.words) != self.model.n_vocab:
            raise ValueError(
                f"the vocabulary has {len(self.words)} words; the model has {self.model.n_vocab} ids"
            )


@cache
def lesson_decoders() -> tuple[Decoder, ...]:
    """The lesson's untrained decoder and its trained twin."""
    end = LESSON_VOCABULARY.id("<end>")
    return (
        Decoder("untrained", load("lesson"), LESSON_VOCABULARY, end),
        Decoder("trained", load("trained"), LESSON_VOCABULARY, end),
    )


@cache
def story_decoder() -> Decoder:
    """The story model, which has read little stories and knows a few hundred words."""
    return Decoder("story", load("story"), STORY_VOCABULARY, STORY_VOCABULARY.id("<end>"))


def shipped_decoders() -> tuple[Decoder, ...]:
    """All decoders that can be asked for by name."""
    return (*lesson_decoders(), story_decoder())


@dataclass(frozen=True)
class Situation:
    """What is set, and where the reader stands.

    decoder : which model.
    prompt : token ids; a tuple, whatever sequence was given.
    end : whether the end token ends a run.
    context_length : the context bound, in positions.
    step : how many steps of the run are shown.
    branch : the number of a step, from 0, and the token taken there instead of the one that was selected.
    on_branch : whether the steps shown are those of the branch, once there is one.
    beam_width : of the search view.
    edit : a position of the prefix, and the token put there, in the cache view.
    policy : what the window view does when the context is full.

    Raises ValueError, naming what is wrong, for values outside the controls' ranges.
    """

    decoder: Decoder = field(default_factory=lambda: lesson_decoders()[0])
    prompt: tuple[int, ...] = (0, 1, 2)
    greedy: bool = False
    seed: int = 0
    temperature: float = 1.0
    max_new_tokens: int = 5
    end: bool = True
    context_length: int = 16
    step: int = 0
    branch: tuple[int, int] | None = None
    on_branch: bool = False
    beam_width: int = 1
    edit: tuple[int, int] | None = None
    policy: str = "drop oldest"

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise ValueError(f"policy is {self.policy!r}; it must be one of {', '.join(POLICIES)}")
        check_switch("greedy", self.greedy)
        check_switch("end", self.end)
        check_switch("on_branch", self.on_branch)
        check_integer("seed", self.seed, 0, LARGEST_SEED)
        check_number("temperature", self.temperature, above=0.0)
        check_integer("max_new_tokens", self.max_new_tokens, 1, MOST_NEW_TOKENS)
        check_integer("context_length", self.context_length, 1, self.decoder.model.context_length)
        check_integer("step", self.step, 0)
        check_integer("beam_width", self.beam_width, 1)
        n_vocab = self.decoder.model.n_vocab
        ids = as_prompt("prompt", self.prompt, n_vocab)
        if ids.size > self.context_length:
            raise ValueError(
                f"the prompt has {ids.size} tokens; the context bound is {self.context_length}: "
                "shorten the prompt or raise the bound"
            )
        object.__setattr__(self, "prompt", tuple(ids.tolist()))  # a list or an array has no hash
        for name, pair in (("branch", self.branch), ("edit", self.edit)):
            if pair is not None:
                check_integer(f"the place of {name}", pair[0], 0)
                check_integer(f"the token of {name}", pair[1], 0, n_vocab - 1)

    @property
    def words(self) -> Vocabulary:
        """What the ids stand for."""
        return self.decoder.words

    @property
    def end_id(self) -> int | None:
        """The end token, if it ends a run."""
        return self.decoder.end_id if self.end else None

    @property
    def selection(self) -> dict[str, Any]:
        """The selection rule, as `generate` takes it."""
        return {"greedy": self.greedy, "temperature": self.temperature}


def prompt_from(text: str, words: Vocabulary) -> tuple[int, ...]:
    """The ids of a prompt that a reader typed, as its vocabulary encodes it.

    Raises ValueError where there is no word, or something that the vocabulary does not know.
    """
    if not text.split():
        raise ValueError("the prompt is empty; it must hold at least one word")
    return tuple(words.encode(text))
