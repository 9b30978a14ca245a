"""Models of scikit-learn in .skops files: saved, loaded, and refused where they would need other code."""

from __future__ import annotations

import sys
import zipfile

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import mcls
from mcls.errors import McLsError
from mcls.models.skops_files import is_skops_file
from tests.command import call

pytest.importorskip("skops")
X, Y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["a", "a", "b", "b"])


class Own(LogisticRegression):
    """Code that no file may bring."""


def test_a_pipeline_comes_back(tmp_path):
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    mcls.save(fitted, tmp_path / "m.skops")
    assert (mcls.load(tmp_path / "m.skops").decision_function(X) == fitted.decision_function(X)).all()


@pytest.mark.parametrize("made", [Own(), make_pipeline(FunctionTransformer(np.loadtxt), LogisticRegression())])
def test_what_needs_other_code_is_not_saved(made, tmp_path):
    with pytest.raises(McLsError, match="which skops does not trust"):
        mcls.save(made, tmp_path / "m.skops")
    assert not (tmp_path / "m.skops").exists()


def test_what_needs_other_code_is_not_loaded(tmp_path):
    import skops.io

    skops.io.dump(Own().fit(X, Y), tmp_path / "m.skops")
    with pytest.raises(McLsError, match="which is not scikit-learn"):
        mcls.load(tmp_path / "m.skops")
    with zipfile.ZipFile(tmp_path / "z.skops", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", "{}")
    with pytest.raises(McLsError, match="compressed"):
        mcls.load(tmp_path / "z.skops")
    (tmp_path / "x.skops").write_bytes(b"no zip")
    with pytest.raises(McLsError, match="holds no usable model"):
        mcls.load(tmp_path / "x.skops")


def test_what_only_begins_like_one_is_not_replaced(tmp_path):
    with zipfile.ZipFile(tmp_path / "m.skops", "w") as archive:
        archive.writestr("schema.json", "{}")
    assert is_skops_file(tmp_path / "m.skops")
    data = bytearray((tmp_path / "m.skops").read_bytes())
    data[data.index(b"PK\x01\x02") + 6] = 99  # a version that there is not
    (tmp_path / "m.skops").write_bytes(data)
    assert not is_skops_file(tmp_path / "m.skops")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("sk") / "t.csv"
    kinds = np.arange(45) % 3
    rows = [f"{k + rng.normal() / 4},{'rgb'[k] if i % 5 else ''},kind {k}\n" for i, k in enumerate(kinds)]
    path.write_text("size,hue,kind\n" + "".join(rows))
    return path


def fit(table, output, machine, *more):
    return call("fit", table, "--target", "kind", "--missing", "impute", "--folds", 3, "-o", output,
                "--machine", machine, *more)  # fmt: skip


def test_a_classifier_of_scikit_learn_on_the_command_line(table, tmp_path):
    path = tmp_path / "m.skops"
    code, out, err = fit(table, path, "sk:GaussianNB", "--class-weight", "balanced")
    assert code == 2
    assert "takes no weights" in err
    code, out, err = fit(table, path, "sk:GaussianNB")
    assert code == 0, err
    assert "honest error" in out
    for args in (
        ["predict", path, table, "--proba", "-o", tmp_path / "p.csv"],
        ["evaluate", path, table],
        ["explain", path, table, "--repeats", 1],
        ["inspect", path],
        ["inspect", path, "--json"],
        ["inspect", path, "--card", tmp_path / "card.md"],
    ):
        code, out, err = call(*args)
        assert code == 0, (args, err)
    assert "checksum" not in call("inspect", path)[1]
    loaded = mcls.load(path)
    assert (tmp_path / "p.csv").read_text().count("kind 1") >= 10
    assert loaded.predict([[1.0, "g"]]).tolist() == ["kind 1"]
    assert loaded.class_scores(loaded.encode([[1.0, "g"]])).argmax() == 1
    assert "no calibration of sets" in call("predict", path, table, "--coverage", 0.9, "-o", tmp_path / "q.csv")[2]
    assert fit(table, path, "sk:RidgeClassifier:alpha=1", "--class-weight", "balanced")[0] == 0  # over its like
    assert "has no probabilities" in call("predict", path, table, "--proba", "-o", tmp_path / "q.csv")[2]


def test_which_file_holds_which_machine(table, tmp_path, monkeypatch):
    for machine in ("oneLSM", "auto"):
        assert "machines of scikit-learn only" in fit(table, tmp_path / "m.skops", machine)[2]
    assert "-o model.skops" in fit(table, tmp_path / "m.mcls", "sk:RidgeClassifier")[2]
    (tmp_path / "notes.skops").write_text("mine")
    assert "and is not a model" in fit(table, tmp_path / "notes.skops", "sk:RidgeClassifier")[2]
    monkeypatch.setitem(sys.modules, "skops.io", None)
    assert "pip install 'mcls[skops]'" in fit(table, tmp_path / "m.skops", "sk:RidgeClassifier")[2]
    assert not (tmp_path / "m.skops").exists()


def test_a_type_that_skops_does_not_trust_is_refused_before_the_search(table, tmp_path, monkeypatch):
    import skops.io

    forest = RandomForestClassifier(n_estimators=2).fit(X, Y)
    if not skops.io.get_untrusted_types(data=skops.io.dumps(forest)):
        pytest.skip("this skops trusts the trees of scikit-learn")
    monkeypatch.setattr("mcls.models.fitting.select", lambda *_, **__: pytest.fail("the search has begun"))
    code, _, err = fit(table, tmp_path / "m.skops", "sk:RandomForestClassifier:n_estimators=5")
    assert code == 2
    assert "which skops does not trust" in err


def test_a_table_model_whose_parts_do_not_fit_is_refused(tmp_path):
    import skops.io

    fitted = LogisticRegression().fit(X, Y)
    for content in (
        {"estimator": fitted},
        {"estimator": fitted, "mcls": "{}", "arrays": {}},
        StandardScaler().fit(X),
    ):
        skops.io.dump(content, tmp_path / "m.skops")
        with pytest.raises(McLsError, match="holds no usable model"):
            mcls.load(tmp_path / "m.skops")
