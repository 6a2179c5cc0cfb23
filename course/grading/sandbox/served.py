"""The models and caches that stay on the trusted side while a student's function works with them."""

from typing import Any

from course.checks.candidate import Served
from course.grading.inside.codec import UndecodableError, decode, encode


class Registry:
    """What one worker may ask for, each object by a number that stays its own.

    Nothing but what `offers` names can be reached from outside.
    """

    def __init__(self) -> None:
        self._objects: list[Served] = []
        self._numbers: dict[int, int] = {}  # by identity, which lasts as long as the list above

    def refer(self, value: object) -> dict[str, Any] | None:
        """What to send for an object that stays here; None for any other."""
        if not isinstance(value, Served):
            return None
        if (number := self._numbers.get(id(value))) is not None:
            return {"$": "served", "number": number}
        number = self._numbers[id(value)] = len(self._objects)
        self._objects.append(value)
        offers = value.offers
        return {
            "$": "served",
            "number": number,
            "type": type(value).__name__,
            "constants": {name: encode(getattr(value, name), self.refer) for name in offers.constants},
            "methods": list(offers.methods),
        }

    def resolve(self, data: dict[str, Any]) -> Served:
        """The object of a number. UndecodableError where none was sent."""
        number = data.get("number")
        if type(number) is not int or not 0 <= number < len(self._objects):
            raise UndecodableError("a number that was never given")
        return self._objects[number]

    def answer(self, question: object) -> dict[str, Any]:
        """What a model or a cache answers: {"value": ...}, or {"raised": ...} for its own error.

        Raises UndecodableError for what is no question.
        """
        if not isinstance(question, dict) or not isinstance(question.get("name"), str):
            raise UndecodableError("no question")
        asked, name = self.resolve(question), question["name"]
        offers = asked.offers
        try:
            if "arguments" in question and name in offers.methods:
                arguments, keywords = question["arguments"], question.get("keywords", {})
                if not isinstance(arguments, list) or not isinstance(keywords, dict):
                    raise UndecodableError("no arguments")
                value = getattr(asked, name)(
                    *[decode(item, self.resolve) for item in arguments],
                    **{key: decode(item, self.resolve) for key, item in keywords.items()},
                )
            elif "arguments" not in question and name in (*offers.constants, *offers.values):
                value = getattr(asked, name)
            else:
                value = asked.__getattr__(name)  # it says itself that there is no such name
        except UndecodableError:
            raise
        except Exception as error:
            kinds = [kind.__name__ for kind in type(error).__mro__]
            return {"raised": {"kinds": kinds, "message": str(error)}}
        return {"value": encode(value, self.refer)}
