"""Machines named ``sk:…``: any classifier of the installed scikit-learn, by its import name.

``sk:RidgeClassifier``, ``sk:svm.SVC`` and ``sk:linear_model.LogisticRegression`` are looked up among the classifiers
that scikit-learn itself lists; nothing else can be named, for a config is data and imports no code. Options and grid
come from the config. Such a machine works on the features, not on a kernel matrix: it is refitted in every fold.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from sklearn.utils import all_estimators

from mcls.errors import McLsError, unknown_name
from mcls.machines.registry import Machine

PREFIX = "sk:"


class SklearnMachine(Machine):
    """A registry entry whose values scikit-learn checks when the classifier is made, not first when it is fitted."""

    def create(self, **params: Any) -> Any:
        """Make the classifier; unknown parameters and impossible values are refused."""
        classifier = super().create(**params)
        try:
            classifier._validate_params()
        except ValueError as error:
            raise McLsError(f"{self.name}: {error}") from None
        return classifier


def sklearn_machine(name: str) -> SklearnMachine:
    """Make the registry entry of a scikit-learn classifier.

    >>> sklearn_machine("sk:linear_model.RidgeClassifier").name
    'sk:RidgeClassifier'
    """
    path = name[len(PREFIX) :].strip()
    module, _, short = path.rpartition(".")
    classifiers = _classifiers()
    cls = {known.lower(): c for known, c in classifiers.items()}.get(short.lower())
    if cls is None:
        known = [other for other, c in classifiers.items() if not _required(c)]
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
        tuned={},
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
