"""mcls: multiclass kernel least-squares classification and its relatives.

>>> from mcls import OneLSM
>>> OneLSM(sigma=0.5).fit([[0.0], [1.0], [2.0]], ["a", "b", "c"]).predict([[1.9]])
array(['c'], dtype='<U1')
"""

from __future__ import annotations

import importlib
from typing import Any

# Public names are imported when first used, so that the command line starts without numpy.
_EXPORTS = {
    "DECOC": "mcls.machines.ecoc",
    "ECOC": "mcls.machines.ecoc",
    "LSSVM": "mcls.machines.olc",
    "OLCLSSVM": "mcls.machines.olc",
    "OLCOneLSM": "mcls.machines.olc_lsm",
    "OLCRLSC": "mcls.machines.olc",
    "RLSC": "mcls.machines.olc",
    "OneLSM": "mcls.machines.lsm",
    "OvALSM": "mcls.machines.lsm",
    "OvOLSM": "mcls.machines.lsm",
    "SubECOC": "mcls.machines.ecoc",
    "VoLSSVM": "mcls.machines.vector",
    "VoRLS": "mcls.machines.vector",
    "VoSVM": "mcls.machines.vector",
    "CrammerSinger": "mcls.machines.svm",
    "ELM": "mcls.machines.elm",
    "MulticlassPerceptron": "mcls.machines.online",
    "PrecisionWarning": "mcls.errors",
    "SVMDAG": "mcls.machines.svm",
    "SVMSGD": "mcls.machines.online",
    "SVMOvA": "mcls.machines.svm",
    "SVMOvO": "mcls.machines.svm",
    "WestonWatkins": "mcls.machines.svm",
    "load": "mcls.models.saving",
    "save": "mcls.models.saving",
    "select": "mcls.models.selection",
}

__all__ = [
    "DECOC",
    "ECOC",
    "ELM",
    "LSSVM",
    "OLCLSSVM",
    "OLCRLSC",
    "RLSC",
    "SVMDAG",
    "SVMSGD",
    "CrammerSinger",
    "MulticlassPerceptron",
    "OLCOneLSM",
    "OneLSM",
    "OvALSM",
    "OvOLSM",
    "PrecisionWarning",
    "SVMOvA",
    "SVMOvO",
    "SubECOC",
    "VoLSSVM",
    "VoRLS",
    "VoSVM",
    "WestonWatkins",
    "load",
    "save",
    "select",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("mcls")
    if name in _EXPORTS:
        return getattr(importlib.import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'mcls' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_EXPORTS])
