"""The registry of machines: command-line name → class, fixed parameters, summary, reference and grid.

Nothing heavy is imported here: a class is loaded when it is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mcls.errors import McLsError, unknown_name

#: The grid of honeine2013, Sec. 8.
_PAPER_GRID = {"gamma": "2^-4..2^4", "sigma": "2^-4..2^4"}

#: The same for the SVMs, whose C is the price of an error: the smaller, the smoother.
_SVM_GRID = {"C": "2^-4..2^4", "sigma": "2^-4..2^4"}
_SVM_SMOOTHER = {"C": -1, "sigma": 1}


@dataclass(frozen=True)
class Machine:
    """One line of the registry.

    ``grid`` gives the default values of what a grid search tunes; ``smoother`` says for each of those
    parameters whether larger (+1) or smaller (−1) is the smoother model, to break ties in a grid.
    """

    name: str
    target: str  # "module:Class"
    summary: str
    reference: str
    params: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, str] = field(default_factory=lambda: dict(_PAPER_GRID))
    smoother: Mapping[str, int] = field(default_factory=lambda: {"gamma": 1, "sigma": 1})

    @property
    def cls(self) -> Any:
        """The estimator class (imports it)."""
        module, _, name = self.target.partition(":")
        return getattr(importlib.import_module(module), name)

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Every parameter with its default value, those that this line fixes included."""
        return self.cls(**self.params).get_params(deep=False)

    def create(self, **params: Any) -> Any:
        """Make an estimator; a parameter it does not have is refused with the valid ones listed."""
        for name in params:
            if name in self.params:
                raise McLsError(f"{self.name} fixes {name}={self.params[name]!r}; leave it out")
            if name not in self.defaults:
                valid = [known for known in self.defaults if known not in self.params]
                raise unknown_name(f"parameter of {self.name}", name, valid)
        return self.cls(**self.params, **params)


MACHINES: dict[str, Machine] = {}


def register(machine: Machine) -> None:
    """Add a machine; its name must be new, also in another case."""
    if machine.name.lower() in {known.lower() for known in MACHINES}:
        raise McLsError(f"a machine named '{machine.name}' is registered already")
    MACHINES[machine.name] = machine


def get_machine(name: str) -> Machine:
    """Look a machine up by its name, case-insensitively; a typo gets the nearest known name.

    ``sk:RidgeClassifier`` is any classifier of scikit-learn (see :mod:`mcls.machines.external`).
    """
    if name.lower().startswith("sk:"):
        from mcls.machines.external import sklearn_machine

        return sklearn_machine(name)
    for known, machine in MACHINES.items():
        if known.lower() == name.lower():
            return machine
    raise unknown_name("machine", name, MACHINES)


for _machine in (
    Machine(
        "oneLSM",
        "mcls.machines.lsm:OneLSM",
        "all one-against-all least-squares classifiers from one matrix inverse",
        "honeine2013, Sec. 5, eq. (24)-(25)",
    ),
    Machine(
        "ovA",
        "mcls.machines.lsm:OvALSM",
        "one least-squares classifier a class, each solved on its own",
        "honeine2013, Sec. 2 and 5.1, eq. (23)",
    ),
    Machine(
        "ovO",
        "mcls.machines.lsm:OvOLSM",
        "one least-squares classifier a pair of classes, and a vote",
        "honeine2013, Sec. 2",
    ),
    Machine(
        "voRLS-beta",
        "mcls.machines.vector:VoRLS",
        "vector-output regularised least squares, penalty on beta",
        "honeine2013, Sec. 4.1, eq. (12)-(14)",
        params={"regularizer": "beta"},
    ),
    Machine(
        "voRLS-f",
        "mcls.machines.vector:VoRLS",
        "vector-output regularised least squares, penalty on the function",
        "honeine2013, Sec. 4.1, eq. (15)-(17); noumir2011, eq. (3)-(5)",
        params={"regularizer": "f"},
    ),
    Machine(
        "voLSSVM",
        "mcls.machines.vector:VoLSSVM",
        "vector-output least-squares SVM: one linear system for all classes",
        "honeine2013, Sec. 4.2 and 4.4",
        smoother={"gamma": -1, "sigma": 1},
    ),
    Machine(
        "voSVM",
        "mcls.machines.vector:VoSVM",
        "vector-output SVM: one sparse quadratic program for all classes",
        "honeine2013, Sec. 4.3, eq. (18)-(20)",
        params={"bias": False},
        smoother={"gamma": -1, "sigma": 1},
    ),
    Machine(
        "szedmak",
        "mcls.machines.vector:VoSVM",
        "vector-output SVM with a bias, the model of Szedmak et al.",
        "honeine2013, Sec. 4.4, and its reference [26]",
        params={"bias": True},
        smoother={"gamma": -1, "sigma": 1},
    ),
    Machine(
        "rlsc",
        "mcls.machines.olc:RLSC",
        "regularised least-squares classifier, orthogonal codewords, no bias",
        "xue2013, eq. (2)-(5) with lambda2 = 0",
        grid={"lambda1": "2^-10..2^10", "sigma": "2^-10..2^10"},
        smoother={"lambda1": 1, "sigma": 1},
    ),
    Machine(
        "olc-rlsc",
        "mcls.machines.olc:OLCRLSC",
        "RLSC with orthogonality-based label correction",
        "xue2013, eq. (2)-(5)",
        grid={"lambda1": "2^-10..2^10", "lambda2": "2^-10..2^10", "sigma": "2^-10..2^10"},
        smoother={"lambda1": 1, "lambda2": 1, "sigma": 1},
    ),
    Machine(
        "lssvm",
        "mcls.machines.olc:LSSVM",
        "least-squares SVM of each class against the others, with a bias",
        "xue2013, eq. (6)-(9) with lambda2 = 0",
        grid={"lambda1": "2^-10..2^10", "sigma": "2^-10..2^10"},
        smoother={"lambda1": -1, "sigma": 1},
    ),
    Machine(
        "olc-lssvm",
        "mcls.machines.olc:OLCLSSVM",
        "LSSVM with orthogonality-based label correction",
        "xue2013, eq. (6)-(9)",
        grid={"lambda1": "2^-10..2^10", "lambda2": "2^-10..2^10", "sigma": "2^-10..2^10"},
        smoother={"lambda1": -1, "lambda2": 1, "sigma": 1},
    ),
    Machine(
        "olc-oneLSM",
        "mcls.machines.olc_lsm:OLCOneLSM",
        "oneLSM with label correction: class means pulled to the labels, any labelbook",
        "extends xue2013, eq. (2), to honeine2013, Sec. 5",
        grid={"gamma": "2^-4..2^4", "lambda2": "2^-10..2^4 step 2", "sigma": "2^-4..2^4"},
        smoother={"gamma": 1, "lambda2": 1, "sigma": 1},
    ),
    Machine(
        "ecoc",
        "mcls.machines.ecoc:ECOC",
        "error-correcting output codes: any code, any decoder, any binary machine",
        "keshet2014, Sec. 1.3; Allwein et al. 2000",
    ),
    Machine(
        "decoc",
        "mcls.machines.ecoc:DECOC",
        "discriminant ECOC: a tree of dichotomies found by floating search",
        "arvanitopoulos, Sec. 2, Algorithm 1",
        grid={"C": "2^-4..2^4", "sigma": "2^-4..2^4"},
        smoother={"C": -1, "sigma": 1},
    ),
    Machine(
        "sub-ecoc",
        "mcls.machines.ecoc:SubECOC",
        "DECOC with hard classes split into subclasses by K-means",
        "arvanitopoulos, Sec. 2; Escalera et al. 2008",
        grid={"C": "2^-4..2^4", "sigma": "2^-4..2^4"},
        smoother={"C": -1, "sigma": 1},
    ),
    Machine(
        "svm-ovA",
        "mcls.machines.svm:SVMOvA",
        "one C-SVC a class, against all the others",
        "Hsu & Lin 2002; honeine2013, Table 4",
        grid=_SVM_GRID,
        smoother=_SVM_SMOOTHER,
    ),
    Machine(
        "svm-ovO",
        "mcls.machines.svm:SVMOvO",
        "one C-SVC a pair of classes, and max-wins voting",
        "Hsu & Lin 2002; honeine2013, Table 4",
        grid=_SVM_GRID,
        smoother=_SVM_SMOOTHER,
    ),
    Machine(
        "svm-dag",
        "mcls.machines.svm:SVMDAG",
        "the pairwise C-SVCs along a decision DAG",
        "Platt et al. 2000; honeine2013, Table 4",
        grid=_SVM_GRID,
        smoother=_SVM_SMOOTHER,
    ),
    Machine(
        "weston-watkins",
        "mcls.machines.svm:WestonWatkins",
        "one SVM for all classes, every wrong class pays its own slack",
        "Weston & Watkins 1999; honeine2013, Table 4",
        grid=_SVM_GRID,
        smoother=_SVM_SMOOTHER,
    ),
    Machine(
        "crammer-singer",
        "mcls.machines.svm:CrammerSinger",
        "one SVM for all classes, the worst wrong class pays",
        "Crammer & Singer 2002; honeine2013, Table 4",
        grid=_SVM_GRID,
        smoother=_SVM_SMOOTHER,
    ),
    Machine(
        "elm",
        "mcls.machines.elm:ELM",
        "extreme learning machine: random hidden layer, ridge outputs",
        "Huang et al. 2012; honeine2013, Table 4",
        grid={"C": "2^-24..2^25"},
        smoother={"C": -1},
    ),
    Machine(
        "perceptron",
        "mcls.machines.online:MulticlassPerceptron",
        "multiclass perceptron, two-class or spread update",
        "keshet2014, Sec. 2.1",
        grid={"sigma": "2^-4..2^4"},
        smoother={"sigma": 1},
    ),
    Machine(
        "svm-sgd",
        "mcls.machines.online:SVMSGD",
        "multiclass SVM by stochastic subgradient steps",
        "keshet2014, Sec. 2.2",
        grid=_SVM_GRID,
        smoother=_SVM_SMOOTHER,
    ),
):
    register(_machine)
