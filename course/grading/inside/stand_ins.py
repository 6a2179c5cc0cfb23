"""Stand-ins for the models and caches, which stay on the trusted side and are asked from here."""

import builtins
from collections.abc import Callable
from typing import Any

import decoder_lib.errors


class StandIn:
    """Looks to a student's code like the object it stands for.

    number : what the trusted side knows it by.
    kind : the name of its type there.
    constants : attributes that never change, sent along.
    methods : names of its methods.
    ask : asks the trusted side for an attribute (without arguments) or a method's result (with them).
    """

    def __init__(
        self,
        number: int,
        kind: str,
        constants: dict[str, Any],
        methods: list[str],
        ask: Callable[["StandIn", str, tuple[Any, ...] | None, dict[str, Any]], Any],
    ) -> None:
        vars(self).update(_number=number, _kind=kind, _constants=constants, _methods=methods, _ask=ask)

    def __getattr__(self, name: str) -> Any:
        own = vars(self)
        if name.startswith("__") or "_ask" not in own:
            raise AttributeError(name)
        if name in own["_constants"]:
            return own["_constants"][name]
        if name not in own["_methods"]:
            return own["_ask"](self, name, None, {})

        def method(*arguments: Any, **keywords: Any) -> Any:
            return own["_ask"](self, name, arguments, keywords)

        method.__name__ = name
        return method

    def __setattr__(self, name: str, value: object) -> None:
        if name in vars(self)["_constants"] or name in vars(self)["_methods"]:
            raise AttributeError(f"property {name!r} of {vars(self)['_kind']!r} object has no setter")
        vars(self)[name] = value

    def __repr__(self) -> str:
        return f"<{vars(self)['_kind']}>"

    def __copy__(self) -> "StandIn":
        return self

    def __deepcopy__(self, memo: object) -> "StandIn":
        return self


def raised(kinds: list[str], message: str) -> BaseException:
    """The exception that was raised on the trusted side, as far as its type is known here."""
    for name in kinds:
        kind = getattr(decoder_lib.errors, name, None) or getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            try:
                return kind(message)
            except Exception:  # one that wants other arguments
                continue
    return RuntimeError(message)
