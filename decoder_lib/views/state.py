"""The situation that all views of one state look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from decoder_lib.views.runs import branch_of, followed
from decoder_lib.views.situation import (
    Decoder,
    Situation,
    lesson_decoders,
    prompt_from,
    shipped_decoders,
)


class State:
    """The current situation, which observers are told of whenever it changes.

    decoders : those that a reader can choose from; the lesson's two unless others are given. A decoder that
        is set and not among them is added.
    settings : fields of the first `Situation`. The prompt may be given in words, and the decoder by its name:
        one of `decoders`, or "untrained", "trained" or "story". The context bound is the decoder's own unless
        another is given.

    Raises ValueError for settings outside the controls' ranges, and for unknown names and words.
    """

    def __init__(self, decoders: tuple[Decoder, ...] = (), **settings: Any) -> None:
        self.decoders = decoders or lesson_decoders()
        settings = self._read({"decoder": self.decoders[0]} | settings)
        settings.setdefault("context_length", settings["decoder"].model.context_length)
        self._situation = Situation(**settings)
        self._add(self._situation.decoder)
        self._observers: list[Callable[[Situation], None]] = []

    @property
    def situation(self) -> Situation:
        """The current situation."""
        return self._situation

    def observe(self, observer: Callable[[Situation], None]) -> None:
        """Call `observer` with every new situation."""
        self._observers.append(observer)

    def change(self, **fields: Any) -> None:
        """Change some fields. Raises ValueError, and changes nothing, if a value is not allowed.

        Other settings drop what belonged to the old run, such as a branch and an edit. The step stays within
        the run that is followed: the branch if `on_branch` is set, else the run itself. Another decoder keeps
        the context bound if it can; a bound that was the whole context of the old decoder becomes that of the
        new one.
        """
        there = self._situation
        fields = self._read(fields)
        if "decoder" in fields:
            bound = fields["decoder"].model.context_length
            whole = there.context_length == there.decoder.model.context_length
            fields.setdefault("context_length", bound if whole else min(bound, there.context_length))
        now = there.changed(**fields)
        if now.on_branch and branch_of(now) is None:
            now = replace(now, on_branch=False)
        now = replace(now, step=min(now.step, len(followed(now))))
        if now != there:
            self._situation = now
            self._add(now.decoder)
            for observer in self._observers:
                observer(now)

    def choose(self, decoder: Decoder) -> None:
        """Look at another decoder, with the same words as prompt. ValueError if it does not know one."""
        words = [self._situation.words.tokens[token_id] for token_id in self._situation.prompt]
        self.change(decoder=decoder, prompt=tuple(map(decoder.words.id, words)))

    def _read(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The same fields, with the decoder in place of its name and ids in place of the prompt's words."""
        fields = fields.copy()
        if isinstance(fields.get("decoder"), str):
            fields["decoder"] = self._named(fields["decoder"])
        if isinstance(fields.get("prompt"), str):
            decoder = fields.get("decoder") or self._situation.decoder
            fields["prompt"] = prompt_from(fields["prompt"], decoder.words)
        return fields

    def _named(self, name: str) -> Decoder:
        """The decoder of this name: one of this state's own, or else one of those shipped."""
        named = {decoder.name: decoder for decoder in self.decoders}
        if name not in named:
            named = {decoder.name: decoder for decoder in shipped_decoders()} | named
        if name not in named:
            raise ValueError(f"decoder is {name!r}; there are {', '.join(named)}")
        return named[name]

    def _add(self, decoder: Decoder) -> None:
        if decoder not in self.decoders:
            self.decoders = (*self.decoders, decoder)

    def forward(self) -> None:
        """Show one step more, if there is one."""
        self.change(step=self._situation.step + 1)

    def back(self) -> None:
        """Show one step less, if there is one."""
        self.change(step=max(0, self._situation.step - 1))
