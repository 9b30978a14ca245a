"""Plug-ins: files on the command line and entry points of packages, and nothing else, bring code in."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_digits

import mcls.papers
from mcls import labelbooks, plugins
from mcls.cli.app import main
from mcls.data import load_dataset
from mcls.data.cards import PLUGGED
from mcls.evaluation import metrics, protocols
from mcls.experiments.experiment import Experiment
from mcls.experiments.loading import load_config
from mcls.machines.registry import MACHINES, get_machine
from mcls.reporting import plots

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
REGISTRIES = (
    *(MACHINES, labelbooks.LABELBOOKS, metrics.METRICS, protocols.PROTOCOLS, plots.PLOTS, PLUGGED),
    *(plugins._origins, plugins._files),
)
PIPELINE = """
import mcls
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
mcls.register("pipe", make_pipeline(StandardScaler(), LogisticRegression()), grid={"logisticregression__C": [1, 10]})
"""


@pytest.fixture(autouse=True)
def _forget():
    before = [dict(known) for known in REGISTRIES]
    loaded = set(plugins._loaded)
    yield
    for known, kept in zip(REGISTRIES, before):
        known.clear()
        known.update(kept)
    plugins._loaded.clear()
    plugins._loaded.update(loaded)


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def call(*args):
    with pytest.raises(SystemExit) as ended:
        main([str(arg) for arg in args])
    return int(ended.value.code or 0)


def write(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def lab(folder, machines, dataset="iris:sample=60"):
    text = (
        f"datasets: {dataset}\nmachines: {machines}\nprotocol: nested\nfolds: 2\ninner_folds: 2\nreplicates: 2\n"
    )
    return write(folder, "lab.yaml", text)


def test_the_examples_of_the_page(tmp_path, capsys):
    file = write(tmp_path, "mine.py", "\n".join(blocks("python")))
    assert call("machines", "--plugin", file) == 0
    out = capsys.readouterr().out
    assert re.search(r"hgb +HistGradientBoostingClassifier, a plug-in +mine.py \(sha256 \w{12}\)", out)
    assert "logistic regression on principal components" in out
    grid = (
        "[{name: hgb, options: {max_iter: 3}, grid: {max_leaf_nodes: 4}}, 'pca-logistic:logisticregression__C=1']"
    )
    assert call("run", lab(tmp_path, grid), "-j", 1, "--out", tmp_path / "out") == 0
    assert load_dataset("handwriting", first=50).n == 50
    assert labelbooks.label_vectors("double", 3)[0, 0] == 2
    y = load_digits().target
    assert metrics.get_metric("worst-class")(y, y[None, :]) == [0.0]


def test_what_a_plugin_is_the_first_to_import_is_not_its_own(tmp_path):
    """In a process of its own, where the plug-in's first lines import the registries of mcls."""
    text = """
import numpy as np
from mcls.evaluation.metrics import Metric
from mcls.labelbooks import Labelbook
import mcls
mcls.register(Metric("none-right", lambda y, p, w=None: (p != y).all(axis=1) * 1.0, "smaller", "classes", "all wrong"))
mcls.register(Labelbook("double", "twice the indicators", "none", lambda ell, counts: 2.0 * np.eye(ell)))
"""
    file, config = write(tmp_path, "mine.py", text), lab(tmp_path, "['voLSSVM:labelbook=double,gamma=1,sigma=1']")
    config.write_text(config.read_text() + "metric: [error, none-right]\n")

    def anew(*args):
        command = [sys.executable, "-m", "mcls", *map(str, args), "--plugin", str(file)]
        return subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout

    assert [line.split()[0] for line in anew("labelbooks").splitlines() if "mine.py" in line] == ["double"]
    out = anew("run", config, "-j", 2, "--out", tmp_path / "out")
    assert "2 cells computed, 0 reused, 0 failed" in out


def test_the_page_on_machines_is_a_plugin_too(tmp_path, capsys):
    page = (ROOT / "docs" / "adding-a-machine.md").read_text(encoding="utf-8")
    file = write(tmp_path, "my_machine.py", "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)))
    assert call("machines", "mine", "--plugin", file) == 0
    assert "Least squares on class indicators" in capsys.readouterr().out
    grid = "[{name: mine, grid: {gamma: [0.1, 1], sigma: 1}}]"
    assert call("run", lab(tmp_path, grid), "-j", 2, "--out", tmp_path / "out") == 0
    assert "2 cells computed, 0 reused, 0 failed" in capsys.readouterr().out


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_the_boosting_libraries_of_the_page(library, tmp_path):
    pytest.importorskip(library)
    (example,) = blocks(f"python {library}")
    plugins.load_files([write(tmp_path, "boost.py", example)])
    config = load_config(lab(tmp_path, f"['{library}:n_estimators=3']", "iris"))
    experiment = Experiment.laid_out(config, tmp_path, tmp_path / "out")
    cell = experiment.plan.cells[0]
    assert set(cell.plugins) == {f"machine {library}", library}  # the library's version is part of the key
    assert 0 <= cell.compute()["error"] < 0.5


def test_workers_get_the_file_and_its_hash_is_part_of_the_key(tmp_path, capsys):
    file, config = write(tmp_path, "mine.py", PIPELINE), lab(tmp_path, "[pipe]")
    arguments = ("run", config, "--out", tmp_path / "out", "--plugin")
    assert call(*arguments, file, "-j", 2) == 0
    assert "2 cells computed" in capsys.readouterr().out
    assert "# Run with --plugin mine.py" in (tmp_path / "out/lab/config.yaml").read_text()
    file = file.rename(tmp_path / "moved.py")
    assert call(*arguments, file, "--dry-run") == 0
    assert "2 cells, 0 to compute" in capsys.readouterr().out
    for known in (MACHINES, plugins._origins, plugins._files):  # as another process would begin
        known.pop("pipe", None)
    plugins._origins.clear()
    write(tmp_path, "moved.py", PIPELINE + "\n# changed\n")
    assert call(*arguments, file, "--dry-run") == 0
    assert "2 cells, 2 to compute" in capsys.readouterr().out


def test_another_version_in_a_worker_is_refused(tmp_path):
    plugins.load_files([write(tmp_path, "mine.py", PIPELINE)])
    cell = Experiment.laid_out(load_config(lab(tmp_path, "[pipe]")), tmp_path, tmp_path).plan.cells[0]
    plugins._origins["machine", "pipe"] = plugins.Origin("other 1.0", "0" * 64)
    with pytest.raises(mcls.errors.McLsError, match="install the same version"):
        cell.compute()


def test_steps_of_a_pipeline_are_seeded_and_typos_are_refused(tmp_path):
    text = PIPELINE.replace("LogisticRegression()", "LogisticRegression(C=2)")
    plugins.load_files([write(tmp_path, "mine.py", text)])
    cell = Experiment.laid_out(load_config(lab(tmp_path, "[pipe]")), tmp_path, tmp_path).plan.cells[0]
    assert isinstance(cell.parameters()["logisticregression__random_state"], int)
    assert get_machine("PIPE").create(logisticregression__C=3).get_params()["logisticregression__C"] == 3
    with pytest.raises(mcls.errors.McLsError, match="did you mean 'logisticregression__C'"):
        load_config(lab(tmp_path, "['pipe:logisticregression_C=1']"))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("absent.py", None, "there is no plug-in"),
        ("folder.py", ..., "is not a file"),
        ("mine.txt", PIPELINE, "a plug-in is a Python file"),
        ("mine.py", "def", "SyntaxError"),
        ("mine.py", "1 / 0", "ZeroDivisionError: division by zero"),
        ("mine.py", "import sys; sys.exit(0)", "SystemExit: 0"),
        ("mine.py", "import not_installed_anywhere", "ModuleNotFoundError"),
        ("mine.py", "x = 1", "registers nothing; call mcls.register"),
        ("mine.py", PIPELINE.replace('"pipe"', '"ONELSM"'), "a machine named 'ONELSM' is registered already"),
        ("mine.py", PIPELINE.replace('"pipe"', '"a:b"'), "cannot name a machine"),
        ("mine.py", PIPELINE.replace("n__C", "n__D"), "did you mean 'logisticregression__C'"),
        ("mine.py", "import mcls; mcls.register('pipe')", "needs an estimator"),
        ("mine.py", "import mcls; mcls.register('pipe', dict, grid={'a': [1]})", "without 'fit'"),
        (
            "mine.py",
            PIPELINE.replace("LogisticRegression", "Ridge").replace("logisticregression__C", "ridge__alpha"),
            "is a Pipeline, a regressor; a machine is a classifier",
        ),
        ("mine.py", "import mcls; mcls.register(3)", "cannot be registered"),
        (
            "mine.py",
            "from mcls.data.plugged import *; register(PluggedData('Iris', dict))",
            "cannot name a data set",
        ),
        ("mine.py", "from mcls.data.plugged import *; register(PluggedData('iris', dict))", "is there already"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_one_line(name, text, message, tmp_path, capsys):
    if text is ...:
        (tmp_path / name).mkdir()
    elif text is not None:
        write(tmp_path, name, text)
    assert call("machines", "--plugin", tmp_path / name) == 2
    err = capsys.readouterr().err
    assert err.startswith("mcls: ")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize(
    "args", [["machines", "--plugin"], ["--plugin", "--version", "machines"], ["machines", "--plugin="]]
)
def test_the_option_needs_a_file(args, capsys):
    assert call(*args) == 2
    assert "--plugin needs a Python file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        "plugin: {file}",
        "plugins: [{file}]",
        "machines: ['{file}']",
        "machines: ['{file}:Mine']",
        "machines: ['mine:Mine']",
        "machines: ['sk:mine.Mine']",
        "machines: [{{name: oneLSM, plugin: '{file}'}}]",
        "machines: ['oneLSM:kernel={file}']",
        "machines: ['ecoc:binary={file}']",
        "protocol: '{file}'",
        "datasets: [{{name: iris, options: {{plugin: '{file}'}}}}]",
        "machines: !!python/object/apply:os.system ['touch ran']",
        "name: !!python/name:mine.run",
    ],
)
def test_a_config_alone_never_loads_code(line, tmp_path, capsys, monkeypatch):
    file = write(tmp_path, "mine.py", f"open({str(tmp_path / 'ran')!r}, 'w')\n" + PIPELINE)
    monkeypatch.chdir(tmp_path)
    field = line.partition(":")[0]
    fields = {"datasets": "datasets: iris", "machines": "machines: oneLSM", field: line.format(file=file)}
    config = write(tmp_path, "lab.yaml", "\n".join(fields.values()) + "\n")
    for command in ("validate", "run"):
        assert call(command, config) == 2
    assert not (tmp_path / "ran").exists()
    assert capsys.readouterr().err.count("\n") == 2


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package with entry points."""
    folder = tmp_path / "site"
    (folder / "lab_kit-1.2.dist-info").mkdir(parents=True)
    info = "Metadata-Version: 2.1\nName: lab-kit\nVersion: 1.2\n"
    points = {
        "machines": "kit-logistic = lab_kit:make\nkit-broken = lab_kit:absent",
        "labelbooks": "kit-book = lab_kit:BOOK",
        "metrics": "kit-metric = lab_kit:METRIC\nkit-odd = lab_kit:make",
        "datasets": "kit-digits = lab_kit:DIGITS",
    }
    text = "\n".join(f"[mcls.{group}]\n{lines}\n" for group, lines in points.items())
    write(folder / "lab_kit-1.2.dist-info", "METADATA", info)
    write(folder / "lab_kit-1.2.dist-info", "entry_points.txt", text)
    write(
        folder,
        "lab_kit.py",
        "import numpy as np\nfrom sklearn.datasets import load_digits\nfrom sklearn.linear_model import *\n"
        "from mcls.data.plugged import PluggedData\nfrom mcls.evaluation.metrics import Metric, error\n"
        "from mcls.labelbooks import Labelbook\n"
        "def make():\n    return LogisticRegression(C=3.0)\n"
        "BOOK = Labelbook('kit-book', 'twice', 'none', lambda ell, counts: 2.0 * np.eye(ell))\n"
        "METRIC = Metric('kit-metric', error, 'smaller', 'classes', 'the error')\n"
        "DIGITS = PluggedData('kit-digits', lambda: load_digits(return_X_y=True))\n",
    )
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "lab_kit", raising=False)
    return folder


def test_entry_points_are_listed_without_being_loaded_and_loaded_when_used(package, tmp_path, capsys):
    assert call("machines") == 0
    out = capsys.readouterr().out
    assert re.search(r"kit-logistic +a plug-in, loaded when it is used .*lab-kit 1.2", out)
    assert "lab_kit" not in sys.modules
    machines = "['kit-logistic', 'voLSSVM:labelbook=kit-book,gamma=1,sigma=1']"
    assert call("run", lab(tmp_path, machines), "-j", 1, "--out", tmp_path / "out") == 0
    plan = Experiment.laid_out(load_config(tmp_path / "lab.yaml"), tmp_path, tmp_path).plan
    assert [set(row.cells[0].plugins) for row in plan.rows] == [{"machine kit-logistic"}, {"labelbook kit-book"}]
    assert plan.rows[0].cells[0].plugins["machine kit-logistic"].startswith("lab-kit 1.2 sha256:")
    assert metrics.get_metric("kit-metric").direction == "smaller"
    assert load_dataset("kit-digits").n == 1797
    capsys.readouterr()
    assert call("machines", "kit-logistic") == 0
    assert "Origin: lab-kit 1.2" in capsys.readouterr().out


def test_a_broken_entry_point_is_one_line_where_it_is_used(package, capsys):
    assert call("machines", "kit-broken") == 2
    assert "the machine 'kit-broken' of the package lab-kit 1.2 cannot be loaded" in capsys.readouterr().err
    with pytest.raises(mcls.errors.McLsError, match="lab_kit:make is not a metric"):
        metrics.get_metric("kit-odd")


def test_models_of_plugins_are_refused_with_the_reason(tmp_path, capsys):
    file = write(tmp_path, "mine.py", PIPELINE)
    table, model = ROOT / "datasets" / "iris.csv", tmp_path / "m.mcls"
    assert call("fit", table, "--target", "class", "--machine", "pipe", "-o", model, "--plugin", file) == 2
    err = capsys.readouterr().err
    assert "comes from the plug-in mine.py" in err
    assert "would need that code" in err
    book = "from mcls.labelbooks import *; import mcls\n"
    book += "mcls.register(Labelbook('mine', 'own', 'none', lambda ell, counts: np.eye(ell)))"
    file = write(tmp_path, "book.py", book)
    arguments = ("--machine", "voLSSVM:labelbook=mine,gamma=1,sigma=1", "-o", model, "--plugin", file)
    assert call("fit", table, "--target", "class", *arguments) == 2
    assert "labelbook 'mine' comes from the plug-in book.py" in capsys.readouterr().err
    assert not model.exists()
