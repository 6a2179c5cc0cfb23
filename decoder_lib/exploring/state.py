"""Holds the situation that all views of a page look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from decoder_lib.exploring.runs import branch_of, followed, run_of
from decoder_lib.exploring.situation import Decoder, Situation, lesson_decoders, prompt_from


class State:
    """One situation after the other; whoever looks at it is told of each.

    decoders : those that a reader can choose from; the lesson's two unless others are given.
    settings : fields of the first `Situation`. The decoder may be given by its name, the prompt in words.

    Raises ValueError for settings outside the controls' ranges, and for unknown names and words.
    """

    def __init__(self, decoders: tuple[Decoder, ...] = (), **settings: Any) -> None:
        self.decoders = decoders or lesson_decoders()
        self._situation = Situation(**self._read({"decoder": self.decoders[0]} | settings))
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
        followed: the branch where `on_branch` is set, else the run itself.
        """
        there = self._situation
        fields = self._read(fields)
        now = replace(there, **fields)
        if run_of(now) is not run_of(there):
            now = replace(now, branch=fields.get("branch"), edit=fields.get("edit"))
        if now.on_branch and branch_of(now) is None:
            now = replace(now, on_branch=False)
        now = replace(now, step=min(now.step, len(followed(now))))
        if now != there:
            self._situation = now
            for observer in self._observers:
                observer(now)

    def choose(self, decoder: Decoder) -> None:
        """Look at another decoder, with the same words for a prompt. ValueError where it does not know one.

        The context bound stays where it can; one that used all of the context goes on to do so.
        """
        there = self._situation
        whole = there.context_length == there.decoder.model.context_length
        bound = decoder.model.context_length
        self.change(
            decoder=decoder,
            prompt=tuple(decoder.words.id(there.words.tokens[token_id]) for token_id in there.prompt),
            context_length=bound if whole else min(bound, there.context_length),
            branch=None,
            edit=None,
        )

    def _read(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The same fields, a decoder's name and a prompt's words read as what they stand for."""
        fields = fields.copy()
        if isinstance(fields.get("decoder"), str):
            named = {decoder.name: decoder for decoder in self.decoders}
            if fields["decoder"] not in named:
                raise ValueError(f"decoder is {fields['decoder']!r}; there are {', '.join(named)}")
            fields["decoder"] = named[fields["decoder"]]
        if isinstance(fields.get("prompt"), str):
            decoder = fields.get("decoder") or self._situation.decoder
            fields["prompt"] = prompt_from(fields["prompt"], decoder.words)
        return fields

    def forward(self) -> None:
        """Show one step more, if there is one."""
        self.change(step=self._situation.step + 1)

    def back(self) -> None:
        """Show one step less, if there is one."""
        self.change(step=max(0, self._situation.step - 1))
