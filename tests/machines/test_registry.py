"""What every registered machine must do; a new machine gets these tests by its registry line alone."""

import inspect
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

import mcls
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.evaluation.parameter_grids import expand_grid
from mcls.evaluation.scaling import to_range
from mcls.machines.registry import MACHINES, Machine, get_machine, register

NAMES = sorted(MACHINES)


@pytest.fixture(scope="module")
def iris():
    data = load_dataset("iris")
    return to_range(data.X), data.y


#: The one check that asks for another parameter than the default, and why: SMO repeats itself to its tolerance, and
#: the check wants seven digits. It is passed with a finer tolerance.
EQUIVALENCE = "check_sample_weight_equivalence_on_dense_data"
WITH_TOLERANCE = dict.fromkeys(("svm-ovA", "crammer-singer", "weston-watkins"), "the default tolerance is coarser")


#: Machines of every kind, whose checks run with every option each time; those of the others, in make verify.
OF_EVERY_KIND = ("oneLSM", "ovO", "lssvm", "ecoc", "perceptron")


@pytest.mark.parametrize(
    "name, with_options",
    [
        *((name, False) for name in NAMES),
        *(pytest.param(n, True, marks=() if n in OF_EVERY_KIND else pytest.mark.full) for n in NAMES),
    ],
)
def test_scikit_learns_own_checks_pass(name, with_options):
    machine = MACHINES[name].cls(**MACHINES[name].params)  # as Python makes it
    if with_options:
        balanced = {"class_weight": "balanced"} if machine.takes_weights else {}
        machine.set_params(calibration="auto", **balanced)
    asked = {EQUIVALENCE: WITH_TOLERANCE[name]} if name in WITH_TOLERANCE else {}
    results = check_estimator(machine, on_skip=None, expected_failed_checks=asked)
    # The one check that may be skipped asks for SCIPY_ARRAY_API=1 at the start of the process; the machines
    # compute with numpy arrays and say nothing of other array libraries.
    not_passed = {r["check_name"] for r in results if r["status"] != "passed"}
    assert not_passed <= {"check_array_api_input", *asked}
    for check in not_passed & set(asked):
        getattr(estimator_checks, check)(name, clone(machine).set_params(tol=1e-10))


@pytest.mark.parametrize("name", NAMES)
def test_the_class_is_public_and_documented(name):
    cls = MACHINES[name].cls
    assert getattr(mcls, cls.__name__) is cls
    doc = inspect.getdoc(cls)
    assert "Examples\n--------\n>>>" in doc
    described = doc + "".join(inspect.getdoc(base) or "" for base in cls.__mro__)
    for parameter in cls._get_param_names():
        assert parameter in described, f"{parameter} is not described"


@pytest.mark.parametrize("name", NAMES)
def test_works_in_a_pipeline_and_a_grid_search_on_named_classes(name, iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    machine = MACHINES[name].create()
    tuned = next(p for p in MACHINES[name].grid)
    pipeline = make_pipeline(MinMaxScaler((-1, 1)), clone(machine))
    step = pipeline.steps[-1][0]
    value = getattr(machine, tuned)
    grid = GridSearchCV(
        pipeline, {f"{step}__{tuned}": [value, value * 2]}, cv=StratifiedKFold(3), error_score="raise"
    )
    grid.fit(X[::2], names[::2])
    assert grid.score(X[1::2], names[1::2]) > 0.75
    assert set(grid.predict(X)) <= set(names)


@pytest.mark.parametrize("name", NAMES)
def test_sweep_equals_refitting_in_every_label(name, iris):
    X, y = iris
    X, y = X[::2], y[::2]
    machine = MACHINES[name].create()
    grid = {p: v[:: max(1, len(v) // 3)] for p, v in expand_grid(MACHINES[name].grid).items()}
    folds = stratified_folds(y, 5, seed=3)
    fast, refit = (search(machine, X, y, grid, folds, engine=engine) for engine in ("fast", "refit"))
    assert fast.points == refit.points
    assert np.array_equal(fast.predictions, refit.predictions)


@pytest.mark.parametrize("name", NAMES)
def test_a_class_missing_from_a_training_fold_is_never_predicted_there(name, iris):
    X, y = iris
    rows = np.r_[0:20, 50:70, 100]  # one sample of the third class
    X, y = X[rows], y[rows]
    folds = stratified_folds(y, 4, seed=0)
    grid = {p: v[len(v) // 2 :][:1] for p, v in expand_grid(MACHINES[name].grid).items()}
    result = search(MACHINES[name].create(), X, y, grid, folds)
    assert result.predictions[0, 40] in (0, 1)
    assert np.array_equal(
        result.predictions, search(MACHINES[name].create(), X, y, grid, folds, engine="refit").predictions
    )


def test_names_are_found_in_any_case_and_typos_get_a_suggestion():
    assert get_machine("ONElsm") is MACHINES["oneLSM"]
    with pytest.raises(McLsError, match="did you mean 'oneLSM'"):
        get_machine("oneLMS")


def test_a_parameter_the_machine_does_not_have_is_refused_with_the_valid_ones():
    with pytest.raises(McLsError, match=r"parameter of oneLSM 'gama'; did you mean 'gamma'"):
        MACHINES["oneLSM"].create(gama=1)
    with pytest.raises(McLsError, match="fixes regularizer='beta'"):
        MACHINES["voRLS-beta"].create(regularizer="f")


def test_a_name_is_registered_once():
    with pytest.raises(McLsError, match="registered already"):
        register(Machine("ONELSM", "mcls.machines.lsm:OneLSM", "", ""))


def test_registry_needs_nothing_heavy():
    code = "import sys, mcls.machines.registry; print(*{'numpy', 'scipy', 'sklearn', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
