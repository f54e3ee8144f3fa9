"""Settings: what a keyword of a class may be, the name that Rust has for it, and which class stands for which method."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

CLASSES: dict[str, Any] = {}
"""Every class whose models files can hold, by the name of its method."""


def as_threads(n_jobs: Any) -> int | None:
    """How many threads to use; None is as many as there are cores."""
    expected = "None or -1 for all cores, or a number from 1 on"
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral):
        raise TypeError(f"`n_jobs` must be {expected}, got {n_jobs!r}")
    if n_jobs != -1 and n_jobs < 1:
        raise ValueError(f"`n_jobs` must be {expected}, got {n_jobs!r}")
    return None if n_jobs == -1 else int(n_jobs)


class Threaded:
    """What runs on several threads."""

    n_jobs: int | None

    @property
    def threads(self) -> int | None:
        """How many threads to use; None is as many as there are cores."""
        return as_threads(self.n_jobs)


class Registered:
    """A class that stands for a method of Rust, by whose name it is found."""

    METHOD: ClassVar[str]
    """The name of the method, as on the command line and in model files."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "METHOD" in vars(cls):
            CLASSES.setdefault(cls.METHOD, cls)


# What a keyword may be: how it is checked and told to Rust, and how it comes back from a model file.


class Setting(NamedTuple):
    """A keyword of a class, and the setting of a method in Rust that it stands for."""

    name: str
    """The name in Rust."""
    tell: Callable[[str, Any], Any]
    """The value as Rust reads it; TypeError or ValueError where it cannot be meant."""
    told: Callable[[Any], Any] = lambda value: value
    """The keyword's value from Rust's."""


def whole(least: int = 1) -> Callable[[str, Any], int]:
    """A whole number."""

    def tell(keyword: str, value: Any) -> int:
        expected = f"a whole number from {least} on"
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise TypeError(f"`{keyword}` must be {expected}, got {value!r}")
        if value < least:
            raise ValueError(f"`{keyword}` must be {expected}, got {value!r}")
        return int(value)

    return tell


def number(*, zero: bool = False) -> Callable[[str, Any], float]:
    """A finite number above zero, or zero too."""

    def tell(keyword: str, value: Any) -> float:
        expected = "a number of 0 or more" if zero else "a number above 0"
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"`{keyword}` must be {expected}, got {value!r}")
        told = float(value)
        if not (np.isfinite(told) and (told > 0 or (zero and told == 0))):
            raise ValueError(f"`{keyword}` must be {expected}, got {value!r}")
        return told

    return tell


def truth(keyword: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"`{keyword}` must be True or False, got {value!r}")
    return bool(value)


def one_of(*names: str) -> Callable[[str, Any], str]:
    """One of a few words."""

    def tell(keyword: str, value: Any) -> str:
        expected = " or ".join(f"'{name}'" for name in names)
        if not isinstance(value, str):
            raise TypeError(f"`{keyword}` must be {expected}, got {value!r}")
        if value not in names:
            raise ValueError(f"`{keyword}` must be {expected}, got {value!r}")
        return value

    return tell


def maybe(tell: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """None, or what `tell` takes."""
    return lambda keyword, value: None if value is None else tell(keyword, value)


def _components(keyword: str, value: Any) -> Any:
    if isinstance(value, str) and value == "auto":
        return "auto"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"`{keyword}` must be 'auto' or a whole number from 1 on, got {value!r}")
    return whole()(keyword, value)


COMPONENTS = Setting("dim", _components)
NORMALIZE = Setting("normalize", one_of("unit", "none", "zscore"))
Normalize = Literal["unit", "none", "zscore"]
