"""Machines named ``sk:…``: any classifier of the installed scikit-learn, by its import name.

``sk:RidgeClassifier``, ``sk:svm.SVC`` and ``sk:linear_model.LogisticRegression`` are looked up among the classifiers
that scikit-learn itself lists; beside them stand three with its interface, ``sk:LGBMClassifier``, ``sk:XGBClassifier``
and ``sk:TableClassifier``, the default of ``mcls fit``. Nothing else can be named, for a config is data and imports no
code of its own; plug-ins do (:mod:`mcls.machines.plugged`). The common ones
have a grid here, the others have the grid that the user gives or are not tuned. Such a machine works on the features,
not on a kernel matrix: it is refitted in every fold.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from sklearn.utils import all_estimators

from mcls.errors import McLsError, unknown_name
from mcls.machines.registry import Machine, Tuned

PREFIX = "sk:"

_TREES = {"max_features": Tuned((0.25, 0.5, 0.75), -1)}
#: Class → what is tuned: for features in [−1, 1], and few enough points to be quick. NuSVC has none: a nu that suits
#: one table is infeasible for another with rarer classes.
_TUNED = {
    "SVC": {"gamma": Tuned((2.0**-6, 2.0**-4, 2.0**-2, 1.0, 4.0), -1), "C": Tuned((0.25, 2.0, 16.0, 128.0), -1)},
    "LinearSVC": {"C": Tuned((2.0**-4, 2.0**-2, 1.0, 4.0, 16.0, 64.0, 256.0), -1)},
    "LogisticRegression": {"C": Tuned((0.01, 0.1, 1.0, 10.0, 100.0, 1000.0), -1)},
    "RidgeClassifier": {"alpha": Tuned((0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0))},
    "KNeighborsClassifier": {"n_neighbors": Tuned((1, 3, 5, 9, 15))},
    "GaussianNB": {"var_smoothing": Tuned((1e-9, 1e-6, 1e-3, 1e-2, 1e-1, 1.0))},
    "DecisionTreeClassifier": {"min_samples_leaf": Tuned((1, 2, 4, 8, 16))},
    "RandomForestClassifier": _TREES,
    "ExtraTreesClassifier": _TREES,
    "GradientBoostingClassifier": {"learning_rate": Tuned((0.05, 0.2), -1), "max_depth": Tuned((2, 4), -1)},
    "HistGradientBoostingClassifier": {
        "learning_rate": Tuned((0.05, 0.2), -1),
        "max_leaf_nodes": Tuned((4, 15), -1),
    },
    "MLPClassifier": {"alpha": Tuned((1e-4, 1e-1)), "learning_rate_init": Tuned((0.001, 0.01), -1)},
}
#: With scikit-learn's own limits these often stop before they have converged, at the ends of the grids above.
_ITERATIONS = {"LinearSVC": 10_000, "LogisticRegression": 1000, "MLPClassifier": 500}


#: What a few boosted trees of other libraries tune; a cell is computed on one thread.
_BOOSTED = {"n_estimators": Tuned((25, 100), -1)}


@dataclass(frozen=True)
class _Other:
    """A classifier with scikit-learn's interface: where it is, what is fixed, what is tuned, and what installs it.

    One that chooses its own parameters by cross-validation (``tunes_itself``) needs no grid.
    """

    module: str
    params: Mapping[str, Any] = field(default_factory=dict)
    tuned: Mapping[str, Tuned] = field(default_factory=dict)
    extra: str = ""
    tunes_itself: bool = False

    def machine(self, name: str) -> Machine:
        """Its registry entry, where the library is installed."""
        if self.extra:
            try:
                version(self.module)
            except PackageNotFoundError:
                raise McLsError(f"{PREFIX}{name} needs {self.module}: pip install 'mcls[{self.extra}]'") from None
        return OtherMachine(
            f"{PREFIX}{name}",
            f"{self.module}:{name}",
            f"{name} of {self.module}",
            f"{self.module}.{name}",
            params=self.params,
            tuned=self.tuned,
        )


_OTHERS = {
    "LGBMClassifier": _Other("lightgbm", {"n_jobs": 1, "verbose": -1}, _BOOSTED, "boosting"),
    "XGBClassifier": _Other("xgboost", {"n_jobs": 1}, _BOOSTED, "boosting"),
    "TableClassifier": _Other("mcls", tunes_itself=True),
}


def tunes_itself(name: str) -> bool:
    """Whether a machine chooses its parameters in each fit; asked by name, for a plan may name what is not installed.

    >>> tunes_itself("sk:TableClassifier"), tunes_itself("sk:LGBMClassifier")
    (True, False)
    """
    other = _OTHERS.get(name.removeprefix(PREFIX))
    return other is not None and other.tunes_itself


class OtherMachine(Machine):
    """The registry entry of a classifier of another library, whose version decides results too."""

    @property
    def versions(self) -> dict[str, str]:
        """Version of the library; ours is in every cell."""
        module = self.target.partition(":")[0]
        return {} if module == "mcls" else {module: version(module)}


class SklearnMachine(Machine):
    """A registry entry whose values scikit-learn checks when the classifier is made, not first when it is fitted."""

    def create(self, **params: Any) -> Any:
        """Make the classifier; unknown parameters and impossible values are refused."""
        short = self.name.removeprefix(PREFIX)
        longer = {"max_iter": _ITERATIONS[short]} if short in _ITERATIONS else {}
        classifier = super().create(**{**longer, **params})
        try:
            classifier._validate_params()
        except ValueError as error:
            raise McLsError(f"{self.name}: {error}") from None
        return classifier

    def grid_value(self, name: str, value: Any) -> Any:
        """A value as the classifier takes it: 2^3 is 8, also where only a whole number is allowed."""
        try:
            self.create(**{name: value})
        except McLsError:
            if not isinstance(value, float) or not value.is_integer():
                raise
            value = int(value)
            self.create(**{name: value})
        return value


def sklearn_machine(name: str) -> Machine:
    """Make the registry entry of a scikit-learn classifier, or of one of the few others.

    >>> sklearn_machine("sk:linear_model.RidgeClassifier").name
    'sk:RidgeClassifier'
    """
    path = name[len(PREFIX) :].strip()
    module, _, short = path.rpartition(".")
    for other, entry in _OTHERS.items():
        if short.lower() == other.lower() and module in ("", entry.module):
            return entry.machine(other)
    classifiers = _classifiers()
    cls = {known.lower(): c for known, c in classifiers.items()}.get(short.lower())
    if cls is None:
        known = [*_OTHERS, *(other for other, c in classifiers.items() if not _required(c))]
        raise unknown_name("scikit-learn classifier", path, known)
    # "svm", "sklearn.svm" and the full private path all name sklearn.svm._classes.
    if module and not f"{cls.__module__}.".startswith(f"sklearn.{module.removeprefix('sklearn').lstrip('.')}."):
        raise McLsError(f"'{name}': {cls.__name__} is in {_public_module(cls)}; write {PREFIX}{cls.__name__}")
    missing = _required(cls)
    if missing:
        raise McLsError(
            f"{PREFIX}{cls.__name__} is made from other estimators ({', '.join(missing)}), which a name cannot give; "
            "use it from Python"
        )
    return SklearnMachine(
        f"{PREFIX}{cls.__name__}",
        f"{cls.__module__}:{cls.__name__}",
        f"scikit-learn's {cls.__name__}",
        f"{_public_module(cls)}.{cls.__name__}",
        tuned=_TUNED.get(cls.__name__, {}),
    )


@cache
def _classifiers() -> dict[str, Any]:
    return dict(all_estimators(type_filter="classifier"))


def _public_module(cls: Any) -> str:
    return ".".join(part for part in cls.__module__.split(".") if not part.startswith("_"))


def _required(cls: Any) -> list[str]:
    """Parameters without a default."""
    parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
    return [p.name for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
