"""The narrow door to a student's functions: plain arguments in, the result and the same arguments out."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NoReturn, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_MESSAGE = 300  # characters of a student's own error message that are passed on


@dataclass(frozen=True)
class Call:
    """One call of a student's function, as it stands after the call.

    result : what the function returned, not yet looked at.
    arguments, keywords : the arguments afterwards. A generator that a later call shares is passed on from
        here.
    warnings : what the call warned of, each as "RuntimeWarning: overflow encountered in exp".
    used_global_state : whether the state of NumPy's global generator changed.
    """

    result: object
    arguments: tuple[object, ...]
    keywords: Mapping[str, object]
    warnings: tuple[str, ...] = ()
    used_global_state: bool = False


class StudentError(Exception):
    """A student's function raised.

    kinds : names of the exception's type and of the types it derives from, so that `is_a` needs no class.
    message : its text, cut to a length that can be shown.
    warnings : what the call had warned of before.
    """

    def __init__(self, kinds: tuple[str, ...], message: str, warnings: tuple[str, ...] = ()) -> None:
        self.kinds = kinds
        self.message = message if len(message) <= LONGEST_MESSAGE else message[:LONGEST_MESSAGE] + " ..."
        self.warnings = warnings
        super().__init__(f"{self.kind}: {self.message}" if self.message else self.kind)

    @property
    def kind(self) -> str:
        """Name of the exception's own type."""
        return self.kinds[0]

    def is_a(self, name: str) -> bool:
        """Whether the exception is of the type called `name`, or of one derived from it."""
        return name in self.kinds

    @classmethod
    def from_exception(cls, error: BaseException, warnings: tuple[str, ...] = ()) -> StudentError:
        """The same in plain data; an exception whose text cannot be made has none."""
        try:
            message = str(error)
        except Exception:
            message = ""
        return cls(tuple(kind.__name__ for kind in type(error).__mro__), message, warnings)


class CandidateLostError(Exception):
    """A candidate that runs elsewhere cannot be called any more. No check knows it: it ends the check."""


@dataclass(frozen=True)
class Offers:
    """What a student's code may use of an object.

    constants : attributes that never change.
    values : attributes that do.
    methods : names of its methods.
    """

    constants: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()


@runtime_checkable
class Served(Protocol):
    """An object that stays with the checks, wherever the student's code runs: a model, a cache.

    For any name that it does not offer, `__getattr__` raises an AttributeError that says so.
    """

    offers: ClassVar[Offers]

    def __getattr__(self, name: str) -> NoReturn: ...


class Candidate(Protocol):
    """A student's solution, wherever it runs.

    Arguments are plain data, generators, models and their caches. The other side works on its own copies of
    all but the models and caches, so no check can rely on the identity of an argument. A cache that comes
    back in a result is the model's own.
    """

    def call(self, function: str, /, *arguments: object, **keywords: object) -> Call:
        """Call one of the solution's functions.

        Raises StudentError for whatever that function raises, CandidateLostError where it does not come back.
        """
        ...


class DirectCandidate:
    """A candidate in this process, for notebook cells and for tests of the checks.

    functions : the student's functions by name.

    What a function prints goes nowhere, its warnings are kept in the `Call`, and NumPy's global generator and
    floating-point settings are put back afterwards.
    """

    def __init__(self, functions: Mapping[str, Callable[..., object]]) -> None:
        self._functions = dict(functions)

    def call(self, function: str, /, *arguments: object, **keywords: object) -> Call:
        """See `Candidate.call`. KeyboardInterrupt goes through: that is how an endless loop is stopped."""
        solution = self._functions.get(function)
        if not callable(solution):
            what = "not defined" if solution is None else f"of type {type(solution).__name__}"
            raise StudentError(("TypeError",), f"`{function}` is {what}; a function is needed")
        arguments, keywords = copy.deepcopy(
            (arguments, keywords)
        )  # models and caches say that they are not to be copied
        with _apart() as notes:
            try:
                result = solution(*arguments, **keywords)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # `exit()` in a solution must not end a grading run
                raise StudentError.from_exception(error, notes.warnings()) from error
            return Call(result, arguments, keywords, notes.warnings(), notes.used_global_state())


_UNLIKELY = 1_964_271_803


class _Notes:
    """What happened around one call."""

    def __init__(self, caught: list[warnings.WarningMessage]) -> None:
        self._caught = caught
        self.global_state = np.random.get_state()  # noqa: NPY002
        # A state that no solution leaves behind, or `np.random.seed(0)` after another one would go unseen.
        np.random.seed(_UNLIKELY)  # noqa: NPY002
        self._at_start = np.random.get_state()  # noqa: NPY002

    def warnings(self) -> tuple[str, ...]:
        return tuple(f"{note.category.__name__}: {note.message}" for note in self._caught)

    def used_global_state(self) -> bool:
        now = np.random.get_state()  # noqa: NPY002
        return not all(np.array_equal(a, b) for a, b in zip(self._at_start, now, strict=True))


@contextmanager
def _apart() -> Iterator[_Notes]:
    """Keep a call's output, warnings and changes of NumPy's global settings away from the notebook."""
    with ExitStack() as stack:
        nowhere = stack.enter_context(Path(os.devnull).open("w"))
        stack.enter_context(redirect_stdout(nowhere))
        stack.enter_context(redirect_stderr(nowhere))
        caught = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        stack.enter_context(np.errstate())
        notes = _Notes(caught)
        stack.callback(np.random.set_state, notes.global_state)
        yield notes
