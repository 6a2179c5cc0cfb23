"""Everything a reader can set in the live views, in one value that never changes."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, Self

from decoder_lib.internal.arguments import as_prompt, check_integer, check_number, check_switch
from decoder_lib.internal.interface import LanguageModel
from decoder_lib.model import load
from decoder_lib.vocabulary import LESSON_VOCABULARY, STORY_VOCABULARY, Vocabulary

LARGEST_SEED = 100
MOST_NEW_TOKENS = 12
TEMPERATURES = (0.1, 3.0)  # what the slider offers
POLICIES = ("stop", "drop oldest", "keep first")
_OUTLIVES_A_RUN = ("step", "on_branch", "beam_width", "policy")  # what a reader sees of the next run too


@dataclass(frozen=True, eq=False)
class Decoder:
    """A model to look at, and the vocabulary that its ids belong to.

    name : what readers call it.
    end_id : the token that ends a run, if it has one.

    Raises ValueError if there is not one word for each id.
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
    """The decoders that can be asked for by name."""
    return (*lesson_decoders(), story_decoder())


@dataclass(frozen=True)
class Settings:
    """What a run depends on, and nothing else.

    decoder : the model that predicts.
    prompt : token ids, kept as a tuple whatever sequence was given.
    end : whether the end token ends a run.
    context_length : the context bound, in positions.

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

    def __post_init__(self) -> None:
        check_switch("greedy", self.greedy)
        check_switch("end", self.end)
        check_integer("seed", self.seed, 0, LARGEST_SEED)
        check_number("temperature", self.temperature, above=0.0)
        check_integer("max_new_tokens", self.max_new_tokens, 1, MOST_NEW_TOKENS)
        check_integer("context_length", self.context_length, 1, self.decoder.model.context_length)
        ids = as_prompt("prompt", self.prompt, self.decoder.model.n_vocab)
        if ids.size > self.context_length:
            raise ValueError(
                f"the prompt has {ids.size} tokens; the context bound is {self.context_length}: "
                "shorten the prompt or raise the bound"
            )
        object.__setattr__(self, "prompt", tuple(ids.tolist()))  # a list or an array has no hash

    @property
    def settings(self) -> Settings:
        """The settings alone: two situations with equal settings have the same run."""
        return Settings(**{each.name: getattr(self, each.name) for each in fields(Settings)})

    @property
    def words(self) -> Vocabulary:
        """The vocabulary that the ids belong to."""
        return self.decoder.words

    @property
    def end_id(self) -> int | None:
        """The end token, if it ends a run."""
        return self.decoder.end_id if self.end else None

    @property
    def selection(self) -> dict[str, Any]:
        """The selection rule, as `generate` takes it."""
        return {"greedy": self.greedy, "temperature": self.temperature}


@dataclass(frozen=True)
class Situation(Settings):
    """The settings, and what a reader looks at under them.

    step : how many steps of the run are shown.
    branch : the number of a step, from 0, and the token taken there instead of the one that was selected.
    on_branch : whether the steps shown are those of the branch, once there is one.
    beam_width : how many continuations the search keeps.
    edit : a position of the prefix and the token put there, in the cache view.
    policy : what the truncation view does when the context is full.

    Raises ValueError as `Settings` does.
    """

    step: int = 0
    branch: tuple[int, int] | None = None
    on_branch: bool = False
    beam_width: int = 1
    edit: tuple[int, int] | None = None
    policy: str = "drop oldest"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.policy not in POLICIES:
            raise ValueError(f"policy is {self.policy!r}; it must be one of {', '.join(POLICIES)}")
        check_switch("on_branch", self.on_branch)
        check_integer("step", self.step, 0)
        check_integer("beam_width", self.beam_width, 1)
        for name, pair in (("branch", self.branch), ("edit", self.edit)):
            if pair is not None:
                check_integer(f"the place of {name}", pair[0], 0)
                check_integer(f"the token of {name}", pair[1], 0, self.decoder.model.n_vocab - 1)

    def changed(self, **fields: Any) -> Self:
        """The same with these fields. Other settings drop what belonged to the old run."""
        settings = replace(
            self.settings, **{name: fields.pop(name) for name in vars(self.settings) if name in fields}
        )
        looking = vars(self) if settings == self.settings else {n: getattr(self, n) for n in _OUTLIVES_A_RUN}
        return type(self)(**looking | vars(settings) | fields)

    def afresh(self, *keep: str) -> Self:
        """The same settings looked at from the start: every other field but those named is as at first."""
        return type(self)(**vars(self.settings), **{name: getattr(self, name) for name in keep})


def prompt_from(text: str, words: Vocabulary) -> tuple[int, ...]:
    """The ids of a prompt that a reader typed, as its vocabulary encodes it.

    Raises ValueError if there is no word, or one that the vocabulary does not know.
    """
    if not text.split():
        raise ValueError("the prompt is empty; it must hold at least one word")
    return tuple(words.encode(text))
