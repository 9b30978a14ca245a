"""The registry of machines: command-line name → class, fixed parameters, summary, reference and grid.

Nothing heavy is imported here: a class is loaded when it is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mcls import plugins
from mcls.errors import McLsError, unknown_name


@dataclass(frozen=True)
class Tuned:
    """A parameter that a grid search tunes: its default values, a range as text or a tuple.

    ``smoother`` says whether larger (+1) or smaller (−1) values give the smoother model, which breaks ties; 0: neither.
    ``mcls fit`` takes a tuple as it is; for a range with a smoother direction it has powers of two of its own.
    """

    values: str | tuple[Any, ...]
    smoother: int = 1


@dataclass(frozen=True)
class Entry:
    """Options with which ``mcls fit`` tries a machine by default.

    Where a search takes long, up to ``most_rows``. With more than ``as_guest_from`` it goes beyond the samples only
    where it is far ahead on them.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    most_rows: int | None = None
    as_guest_from: int | None = None


_POWERS, _WIDE = "2^-4..2^4", "2^-10..2^10"
_WIDTH = Tuned(_POWERS)
#: The grid of honeine2013, Sec. 8.
_PAPER = {"gamma": Tuned(_POWERS), "sigma": _WIDTH}
#: The same where γ, or C, is the price of an error: the smaller, the smoother.
_PRICED = {"gamma": Tuned(_POWERS, -1), "sigma": _WIDTH}
_SVM = {"C": Tuned(_POWERS, -1), "sigma": _WIDTH}


@dataclass(frozen=True)
class Machine:
    """One line of the registry: all that outsiders must know of a machine without loading it.

    ``params`` are fixed; ``tuned`` is what a grid search tunes by default; ``auto`` says whether ``mcls fit --machine
    auto`` tries it; ``entries`` are those by which ``mcls fit`` tries it by default, where it does; ``many_rows`` are
    the options by which it does without the kernel matrix of all rows, where it can. ``search_rows`` is on how many
    rows its parameters are chosen, where a search costs more than others; ``coarse`` says that its automatic grid is
    then of every second value, and ``near`` within how many standard errors losses of its points count as equal, and
    are told apart by log-loss: of very many points the smallest error is a matter of chance.
    ``draws_with`` gives values of parameters without which a machine that has a ``random_state`` draws nothing.
    What can be asked of the loaded class stands there (see :class:`~mcls.machines.base.BaseMachine`).
    """

    name: str
    target: str  # "module:Class"
    summary: str
    reference: str
    params: Mapping[str, Any] = field(default_factory=dict)
    tuned: Mapping[str, Tuned] = field(default_factory=lambda: _PAPER)
    auto: bool = False
    entries: tuple[Entry, ...] = ()
    many_rows: Mapping[str, Any] = field(default_factory=dict)
    search_rows: int | None = None
    coarse: bool = False
    near: float = 0.0
    draws_with: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def grid(self) -> dict[str, Any]:
        """Default values of what a grid search tunes."""
        return {name: tuned.values for name, tuned in self.tuned.items()}

    @property
    def smoother(self) -> dict[str, int]:
        """Direction of the smoother model of each tuned parameter that has one."""
        return {name: tuned.smoother for name, tuned in self.tuned.items() if tuned.smoother}

    @property
    def cls(self) -> Any:
        """The estimator class (imports it)."""
        module, _, name = self.target.partition(":")
        return getattr(importlib.import_module(module), name)

    def draws(self, estimator: Any) -> bool:
        """Whether an estimator of this machine draws random numbers."""
        parameters = estimator.get_params(deep=False)
        chosen = all(str(parameters[name]) in values for name, values in self.draws_with.items())
        return "random_state" in parameters and chosen

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Every parameter with its default value, those that this line fixes included."""
        own: dict[str, Any] = self.cls(**self.params).get_params(deep=False)
        # Features of experiments are scaled and σ is tuned; where it is not, 1 was always meant, not "scale".
        return {**own, "sigma": 1.0} if isinstance(own.get("sigma"), str) else own

    def create(self, **params: Any) -> Any:
        """Make an estimator; a parameter it does not have is refused with the valid ones listed."""
        for name in params:
            if name in self.params:
                raise McLsError(f"{self.name} fixes {name}={self.params[name]!r}; leave it out")
            if name not in self.defaults:
                valid = [known for known in self.defaults if known not in self.params]
                raise unknown_name(f"parameter of {self.name}", name, valid)
        width = {"sigma": self.defaults["sigma"]} if "sigma" in self.defaults else {}
        return self.cls(**{**width, **self.params, **params})

    def grid_value(self, name: str, value: Any) -> Any:
        """A value of a grid as the estimator takes it."""
        return value

    @property
    def versions(self) -> dict[str, str]:
        """Version of each library that a plug-in's estimator comes from."""
        return {}


MACHINES: dict[str, Machine] = {}


def register(machine: Machine) -> None:
    """Add a machine; its name must be new, also in another case."""
    if machine.name.lower() in {known.lower() for known in MACHINES}:
        raise McLsError(f"a machine named '{machine.name}' is registered already")
    MACHINES[machine.name] = machine
    plugins.note("machine", machine.name)


def class_targets() -> dict[str, str]:
    """Public class name → module, of every registered machine."""
    pairs = (machine.target.partition(":") for machine in MACHINES.values())
    return {name: module for module, _, name in pairs}


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
    if plugins.load_entry("machine", name, _accept):
        return get_machine(name)
    raise unknown_name("machine", name, [*MACHINES, *plugins.entry_names("machine")])


def _accept(name: str, thing: Any) -> None:
    from mcls.machines.plugged import register as register_estimator

    register_estimator(name, thing)


plugins.registers(Machine, register)


for _machine in (
    Machine(
        "oneLSM",
        "mcls.machines.lsm:OneLSM",
        "all one-against-all least-squares classifiers from one matrix inverse",
        "honeine2013, Sec. 5, eq. (24)-(25)",
        auto=True,
        entries=(
            Entry(),
            Entry({"kernel": "gaussian-standard"}, as_guest_from=800),
            Entry({"kernel": "laplace-l1-standard"}, as_guest_from=1000),
            Entry({"kernel": "laplace-l1-ranks"}, as_guest_from=2500),
        ),
        many_rows={"solver": "nystrom", "n_landmarks": 4000},
        draws_with={"solver": ("nystrom",)},
    ),
    Machine(
        "ovA",
        "mcls.machines.lsm:OvALSM",
        "one least-squares classifier per class, each solved on its own",
        "honeine2013, Sec. 2 and 5.1, eq. (23)",
    ),
    Machine(
        "ovO",
        "mcls.machines.pairwise:OvOLSM",
        "one least-squares classifier per pair of classes, and a vote",
        "honeine2013, Sec. 2",
        auto=True,
        entries=(Entry({"decision": "soft"}, 800),),  # the pairs of yeast (1484 rows) took 33 s, oneLSM 7
    ),
    Machine(
        "voRLS-beta",
        "mcls.machines.vector:VoRLS",
        "vector-output regularised least squares, penalty on beta",
        "honeine2013, Sec. 4.1, eq. (12)-(14)",
        auto=True,
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
        auto=True,
        tuned=_PRICED,
    ),
    Machine(
        "voSVM",
        "mcls.machines.vector:VoSVM",
        "vector-output SVM: one sparse quadratic program for all classes",
        "honeine2013, Sec. 4.3, eq. (18)-(20)",
        params={"bias": False},
        tuned=_PRICED,
    ),
    Machine(
        "szedmak",
        "mcls.machines.vector:VoSVM",
        "vector-output SVM with a bias, the model of Szedmak et al.",
        "honeine2013, Sec. 4.4, and its reference [26]",
        params={"bias": True},
        tuned=_PRICED,
    ),
    Machine(
        "rlsc",
        "mcls.machines.olc:RLSC",
        "regularised least-squares classifier, orthogonal codewords, no bias",
        "xue2013, eq. (2)-(5) with lambda2 = 0",
        tuned={"lambda1": Tuned(_WIDE), "sigma": Tuned(_WIDE)},
    ),
    Machine(
        "olc-rlsc",
        "mcls.machines.olc:OLCRLSC",
        "RLSC with orthogonality-based label correction",
        "xue2013, eq. (2)-(5)",
        tuned={"lambda1": Tuned(_WIDE), "lambda2": Tuned(_WIDE), "sigma": Tuned(_WIDE)},
    ),
    Machine(
        "lssvm",
        "mcls.machines.olc:LSSVM",
        "least-squares SVM of each class against the others, with a bias",
        "xue2013, eq. (6)-(9) with lambda2 = 0",
        auto=True,
        tuned={"lambda1": Tuned(_WIDE, -1), "sigma": Tuned(_WIDE)},
    ),
    Machine(
        "olc-lssvm",
        "mcls.machines.olc:OLCLSSVM",
        "LSSVM with orthogonality-based label correction",
        "xue2013, eq. (6)-(9)",
        tuned={"lambda1": Tuned(_WIDE, -1), "lambda2": Tuned(_WIDE), "sigma": Tuned(_WIDE)},
    ),
    Machine(
        "olc-oneLSM",
        "mcls.machines.olc_lsm:OLCOneLSM",
        "oneLSM with label correction: class means pulled to the labels, any labelbook",
        "extends xue2013, eq. (2), to honeine2013, Sec. 5",
        tuned={"gamma": Tuned(_POWERS), "lambda2": Tuned("2^-10..2^4 step 2"), "sigma": Tuned(_POWERS)},
    ),
    Machine(
        "rfm",
        "mcls.machines.rfm:RFM",
        "oneLSM with a metric learned from its gradients: a recursive feature machine",
        "Radhakrishnan et al. 2024; extends honeine2013, Sec. 5",
        tuned={
            **_PAPER,
            "n_rounds": Tuned((0, 1, 2), -1),
            "kernel": Tuned(("gaussian", "laplace-l1"), 0),
        },
        many_rows={"solver": "nystrom", "n_landmarks": 2000},
        draws_with={"solver": ("nystrom",)},
        search_rows=1000,
        coarse=True,
        near=0.25,
    ),
    Machine(
        "sparse-oneLSM",
        "mcls.machines.sparse:SparseLSM",
        "oneLSM on few rows, chosen by the exact decrease of its objective",
        "honeine2013, Sec. 9 (future work)",
        tuned={**_PAPER, "kernel": Tuned(("gaussian", "matern"), 0)},
        search_rows=1000,
        coarse=True,
        near=0.25,
    ),
    Machine(
        "learned-oneLSM",
        "mcls.machines.learned:LearnedLSM",
        "oneLSM with label vectors learned from its leave-one-out scores",
        "honeine2013, Sec. 9 (future work)",
        tuned={**_PAPER, "mu": Tuned((0.01, 0.1, 1.0))},
        search_rows=500,
    ),
    Machine(
        "ecoc",
        "mcls.machines.ecoc:ECOC",
        "error-correcting output codes: any code, any decoder, any binary machine",
        "keshet2014, Sec. 1.3; Allwein et al. 2000",
        draws_with={"coding": ("dense-random", "sparse-random")},
    ),
    Machine(
        "decoc",
        "mcls.machines.ecoc:DECOC",
        "discriminant ECOC: a tree of dichotomies found by floating search",
        "arvanitopoulos, Sec. 2, Algorithm 1",
        tuned=_SVM,
    ),
    Machine(
        "sub-ecoc",
        "mcls.machines.ecoc:SubECOC",
        "DECOC with hard classes split into subclasses by K-means",
        "arvanitopoulos, Sec. 2; Escalera et al. 2008",
        tuned=_SVM,
    ),
    Machine(
        "svm-ovA",
        "mcls.machines.svm:SVMOvA",
        "one C-SVC per class, against all the others",
        "Hsu & Lin 2002; honeine2013, Table 4",
        tuned=_SVM,
    ),
    Machine(
        "svm-ovO",
        "mcls.machines.svm:SVMOvO",
        "one C-SVC per pair of classes, and max-wins voting",
        "Hsu & Lin 2002; honeine2013, Table 4",
        tuned=_SVM,
    ),
    Machine(
        "svm-dag",
        "mcls.machines.svm:SVMDAG",
        "the pairwise C-SVCs along a decision DAG",
        "Platt et al. 2000; honeine2013, Table 4",
        tuned=_SVM,
    ),
    Machine(
        "weston-watkins",
        "mcls.machines.svm:WestonWatkins",
        "one SVM for all classes, every wrong class pays its own slack",
        "Weston & Watkins 1999; honeine2013, Table 4",
        tuned=_SVM,
    ),
    Machine(
        "crammer-singer",
        "mcls.machines.svm:CrammerSinger",
        "one SVM for all classes, the worst wrong class pays",
        "Crammer & Singer 2002; honeine2013, Table 4",
        tuned=_SVM,
    ),
    Machine(
        "elm",
        "mcls.machines.elm:ELM",
        "extreme learning machine: random hidden layer, ridge outputs",
        "Huang et al. 2012; honeine2013, Table 4",
        tuned={"C": Tuned("2^-24..2^25", -1)},
    ),
    Machine(
        "perceptron",
        "mcls.machines.online:MulticlassPerceptron",
        "multiclass perceptron, two-class or spread update",
        "keshet2014, Sec. 2.1",
        tuned={"sigma": Tuned(_POWERS)},
    ),
    Machine(
        "svm-sgd",
        "mcls.machines.online:SVMSGD",
        "multiclass SVM by stochastic subgradient steps",
        "keshet2014, Sec. 2.2",
        tuned=_SVM,
    ),
):
    register(_machine)
