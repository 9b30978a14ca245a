"""What a parameter may be, declared once: machines, configs and model files ask the same checks.

A check is called with the parameter's name and a value, and raises an ``McLsError`` that says what is wanted.

>>> Positive()("gamma", 0.5)
>>> Choice("decision rule", ("max", "nearest"))("decision", "nearst")
Traceback (most recent call last):
mcls.errors.McLsError: unknown decision rule 'nearst'; did you mean 'nearest'? (known: max, nearest)
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Collection
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol, TypeVar, dataclass_transform

from mcls.errors import McLsError, unknown_name

Class = TypeVar("Class", bound=type)


@dataclass_transform(eq_default=False, kw_only_default=True)
def declares_parameters(cls: Class) -> Class:
    """Make the annotated fields of an estimator, and of its bases, the keyword arguments of its ``__init__``.

    That stores them unchanged, as scikit-learn wants, and ``get_params`` reads their names from it.

    >>> @declares_parameters
    ... class Ridge:
    ...     gamma: float = 1.0
    >>> Ridge(gamma=0.5).gamma
    0.5
    """
    return dataclass(eq=False, repr=False, kw_only=True)(cls)  # type: ignore[return-value]


class Check(Protocol):
    """Refuses a value that a parameter cannot have."""

    def __call__(self, name: str, value: Any) -> None:
        """Raise an ``McLsError`` unless ``value`` is one that the parameter ``name`` may have."""


def is_allowed(check: Check, name: str, value: Any) -> bool:
    """Whether a check lets a value pass.

    >>> is_allowed(Number(0.0, 1.0), "share", 2.0)
    False
    """
    try:
        check(name, value)
    except McLsError:
        return False
    return True


def is_finite(value: Any) -> bool:
    """Whether a number fits into a float."""
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that is too long
        return False


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and is_finite(value)


@dataclass(frozen=True)
class Number:
    """A finite number, at least and at most so much where that is said."""

    at_least: float = -math.inf
    at_most: float = math.inf
    wanted: str = "a finite number"

    def __call__(self, name: str, value: Any) -> None:
        if not _is_number(value) or not self.at_least <= float(value) <= self.at_most:
            raise McLsError(f"{name} must be {self.wanted}, got {reprlib.repr(value)}")


@dataclass(frozen=True)
class Positive:
    """A finite number above zero."""

    def __call__(self, name: str, value: Any) -> None:
        if not _is_number(value) or value <= 0:
            raise McLsError(f"{name} must be a positive number, got {reprlib.repr(value)}")


#: The width that fits the training rows (``mcls.kernels.scale_width``).
SCALE = "scale"


def width() -> Number:
    """The width of a Gaussian, whose square must be a number to divide by."""
    return Number(1e-150, 1e150, "a positive number between 1e-150 and 1e150")


@dataclass(frozen=True)
class WordOr:
    """One word, or what another check allows."""

    word: str
    check: Check

    def __call__(self, name: str, value: Any) -> None:
        if isinstance(value, str) and value == self.word:
            return
        try:
            self.check(name, value)
        except McLsError as error:
            raise McLsError(f"{error}; or '{self.word}'") from None


@dataclass(frozen=True)
class Whole:
    """A whole number, at least so much; ``as_float`` takes 2.0 for 2, as a range of powers gives it."""

    at_least: int = 1
    as_float: bool = False

    def __call__(self, name: str, value: Any) -> None:
        if self.as_float and isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, Integral) or isinstance(value, bool) or value < self.at_least:
            raise McLsError(
                f"{name} must be a whole number of at least {self.at_least}, got {reprlib.repr(value)}"
            )


@dataclass(frozen=True)
class Flag:
    """True or false."""

    def __call__(self, name: str, value: Any) -> None:
        if not isinstance(value, bool) and type(value).__name__ not in ("bool_", "bool"):
            raise McLsError(f"'{name}' is true or false, got {reprlib.repr(value)}")


@dataclass(frozen=True)
class Choice:
    """One of some words; ``or_else`` says which other values are allowed, such as a callable or an array."""

    what: str
    known: Collection[str]
    or_else: Callable[[Any], bool] | None = None

    def __call__(self, name: str, value: Any) -> None:
        if isinstance(value, str):
            if value not in self.known:
                raise unknown_name(self.what, value, self.known)
        elif self.or_else is None or not self.or_else(value):
            raise unknown_name(self.what, str(value), self.known)


@dataclass(frozen=True)
class OrNone:
    """None, or what another check allows."""

    check: Check

    def __call__(self, name: str, value: Any) -> None:
        if value is not None:
            self.check(name, value)


@dataclass(frozen=True)
class Anything:
    """Any value; the machine looks at it when it is fitted."""

    def __call__(self, name: str, value: Any) -> None:
        """Nothing is refused here."""
