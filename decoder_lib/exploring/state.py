"""Holds the situation that all views of a page look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from decoder_lib.exploring.runs import branch_of, followed, run_of
from decoder_lib.exploring.situation import (
    Decoder,
    Situation,
    lesson_decoders,
    prompt_from,
    shipped_decoders,
)


class State:
    """One situation after the other; whoever looks at it is told of each.

    decoders : those that a reader can choose from; the lesson's two unless others are given. One that is set
        and not among them is added.
    settings : fields of the first `Situation`. The prompt may be given in words, the decoder by its name: one
        of `decoders`, or of those shipped, "untrained", "trained" and "story". The context bound is that
        decoder's own unless given.

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
        """The current one."""
        return self._situation

    def observe(self, observer: Callable[[Situation], None]) -> None:
        """Call `observer` with each situation from now on."""
        self._observers.append(observer)

    def change(self, **fields: Any) -> None:
        """Set something else. ValueError, and nothing changed, for what cannot be.

        A branch and an edit are dropped where the run is another one. The step stays within the run that is
        followed: the branch where `on_branch` is set, else the run itself. With another decoder the context
        bound stays where it can, unless it is set too; one that used all of the context goes on to do so.
        """
        there = self._situation
        fields = self._read(fields)
        if "decoder" in fields:
            bound = fields["decoder"].model.context_length
            whole = there.context_length == there.decoder.model.context_length
            fields.setdefault("context_length", bound if whole else min(bound, there.context_length))
        now = replace(there, **fields)
        if run_of(now) is not run_of(there):
            now = replace(now, branch=fields.get("branch"), edit=fields.get("edit"))
        if now.on_branch and branch_of(now) is None:
            now = replace(now, on_branch=False)
        now = replace(now, step=min(now.step, len(followed(now))))
        if now != there:
            self._situation = now
            self._add(now.decoder)
            for observer in self._observers:
                observer(now)

    def choose(self, decoder: Decoder) -> None:
        """Look at another decoder, with the same words as prompt. ValueError where it does not know one."""
        there = self._situation
        self.change(
            decoder=decoder,
            prompt=tuple(decoder.words.id(there.words.tokens[token_id]) for token_id in there.prompt),
            branch=None,
            edit=None,
        )

    def _read(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The same fields, a decoder's name and a prompt's words read as what they stand for."""
        fields = fields.copy()
        if isinstance(fields.get("decoder"), str):
            fields["decoder"] = self._named(fields["decoder"])
        if isinstance(fields.get("prompt"), str):
            decoder = fields.get("decoder") or self._situation.decoder
            fields["prompt"] = prompt_from(fields["prompt"], decoder.words)
        return fields

    def _named(self, name: str) -> Decoder:
        """A decoder by its name: one of this state's own first, else one of those shipped."""
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
