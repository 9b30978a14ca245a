"""``mcls.register``: any scikit-learn compatible class, estimator or Pipeline becomes a machine with a grid."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import packages_distributions, version
from typing import Any

from sklearn.base import clone

from mcls import plugins
from mcls.errors import McLsError, unknown_name
from mcls.machines.foreign import parameters_of
from mcls.machines.registry import Machine, Tuned
from mcls.machines.registry import register as register_machine
from mcls.specs import parse_spec

_OURS = ("mcls", "sklearn", "builtins", "numpy", "scipy")


@dataclass(frozen=True)
class PluggedMachine(Machine):
    """A registry line that makes copies of an estimator; ``make`` is a class, a function or the estimator itself."""

    make: Callable[[], Any] = field(default=lambda: None, compare=False)

    @cached_property
    def prototype(self) -> Any:
        """An unfitted estimator with the parameters it has by default."""
        try:
            made = self.make()
        except Exception as error:
            raise McLsError(
                f"the estimator of '{self.name}' cannot be made: {type(error).__name__}: {error}"
            ) from error
        return check_estimator_like(self.name, made)

    @property
    def cls(self) -> Any:
        """The class of the estimator."""
        return type(self.prototype)

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Every parameter with its default value, those of the steps of a Pipeline too."""
        return parameters_of(self.prototype)

    def create(self, **params: Any) -> Any:
        """A copy of the estimator; a parameter it does not have is refused with the valid ones listed."""
        for name in params:
            if name not in self.defaults:
                raise unknown_name(f"parameter of {self.name}", name, self.defaults)
        return clone(self.prototype).set_params(**params)

    def grid_value(self, name: str, value: Any) -> Any:
        """A value of a grid: 2^3 is 8 where the default is a whole number."""
        if name not in self.defaults:
            raise unknown_name(f"parameter of {self.name}", name, self.defaults)
        default = self.defaults[name]
        whole = isinstance(default, int) and not isinstance(default, bool)
        return int(value) if whole and isinstance(value, float) and value.is_integer() else value

    @cached_property
    def versions(self) -> dict[str, str]:
        """Version of every library that the estimator comes from, beside those whose versions all cells record."""
        known = packages_distributions()
        found = {name: known[name][0] for name in _libraries(self.prototype) if name in known}
        return {package: version(package) for package in sorted(set(found.values()))}


def register(
    thing: Any,
    estimator: Any = None,
    *,
    grid: Mapping[str, Any] | None = None,
    smaller_is_smoother: tuple[str, ...] | list[str] = (),
    summary: str = "",
    reference: str = "",
) -> None:
    """Register a machine under a name; or a metric, labelbook, protocol, plot, data set or registry line as it is.

    Parameters
    ----------
    thing : str or object
        The name of the machine on the command line and in configs; or, without an estimator, a
        :class:`~mcls.evaluation.metrics.Metric`, a :class:`~mcls.labelbooks.Labelbook`, a
        :class:`~mcls.evaluation.protocols.Protocol`, a :class:`~mcls.reporting.plots.Plot`, a
        :class:`~mcls.data.plugged.PluggedData` or a :class:`~mcls.machines.registry.Machine`.
    estimator : class, estimator or function
        A scikit-learn compatible classifier class, an unfitted classifier or Pipeline, or a function that makes one.
    grid : dict, optional
        What a grid search tunes: values in a list, or a range such as ``"2^-4..2^4"``. Parameters of a Pipeline's
        steps are named as in scikit-learn (``svc__C``). Without a grid the machine is not tuned.
    smaller_is_smoother : tuple of str
        Tuned parameters of which smaller values give the smoother model; it breaks ties.
    summary, reference : str
        One line each for ``mcls machines``.

    Examples
    --------
    >>> import mcls
    >>> from sklearn.neighbors import NearestCentroid
    >>> mcls.register("centroid", NearestCentroid, grid={"shrink_threshold": [0.1, 1.0]})
    >>> mcls.machines.registry.get_machine("centroid").create(shrink_threshold=0.5)
    NearestCentroid(shrink_threshold=0.5)
    >>> forgotten = mcls.machines.registry.MACHINES.pop("centroid")  # for this example alone
    """
    if estimator is None:
        if isinstance(thing, str):
            raise McLsError(f"register('{thing}', …) needs an estimator: a class, an instance or a function")
        if not plugins.register_object(thing):
            raise McLsError(f"{thing!r:.80} cannot be registered; give a name and an estimator")
        return
    name = _name(thing)
    make = estimator if callable(estimator) and not _is_estimator(estimator) else lambda: estimator
    shown = estimator if inspect.isclass(estimator) or inspect.isfunction(estimator) else type(estimator)
    target = f"{shown.__module__}:{shown.__qualname__}"
    tuned = {
        key: Tuned(tuple(values) if isinstance(values, list) else values, -1 if key in smaller_is_smoother else 1)
        for key, values in (grid or {}).items()
    }
    for key in smaller_is_smoother:
        if key not in tuned:
            raise unknown_name(f"tuned parameter of {name}", key, tuned)
    machine = PluggedMachine(
        name, target, summary or f"{shown.__name__}, a plug-in", reference or target, tuned=tuned, make=make
    )
    for key, values in (grid or {}).items():
        for value in values if isinstance(values, list | tuple) else ():
            machine.grid_value(key, value)
        if isinstance(values, str):
            machine.grid_value(key, 1.0)
    register_machine(machine)


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name.strip() or parse_spec(name) != (name, {}) or ":" in name:
        raise McLsError(f"{name!r} cannot name a machine; use a word without ':', '=' or blanks around it")
    return name


def _is_estimator(thing: Any) -> bool:
    return not inspect.isclass(thing) and isinstance(getattr(thing, "get_params", None), Callable)  # type: ignore[arg-type]


def check_estimator_like(name: str, made: Any) -> Any:
    """Refuse what cannot be fitted and copied as scikit-learn's classifiers can."""
    for method in ("fit", "predict", "get_params", "set_params"):
        if not callable(getattr(made, method, None)):
            raise McLsError(
                f"the estimator of '{name}' is a {type(made).__name__} without '{method}'; "
                "a machine is a classifier as scikit-learn's are"
            )
    tags = getattr(made, "__sklearn_tags__", None)
    kind = getattr(made, "_estimator_type", None) if tags is None else tags().estimator_type
    if kind not in (None, "classifier"):
        raise McLsError(
            f"the estimator of '{name}' is a {type(made).__name__}, a {kind}; a machine is a classifier"
        )
    return made


def _libraries(estimator: Any) -> Iterator[str]:
    """Top-level modules of the classes of an estimator and its parts, other than ours and scikit-learn."""
    for thing in (estimator, *estimator.get_params(deep=True).values()):
        module = type(thing).__module__.partition(".")[0]
        if module not in _OURS and not module.startswith("mcls_plugin_"):
            yield module
