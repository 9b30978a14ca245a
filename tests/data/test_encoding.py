"""What columns become: gaps, orders, codes and dates, learnt once and applied to later tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mcls.data.encoder import Encoder, OneHotColumn, Reading
from mcls.data.encoding import learn_encoder, load_encoded, read_values
from mcls.data.formats import ColumnRules
from mcls.data.tables import read_table
from mcls.errors import McLsError
from mcls.evaluation.scaling import impute, scale_dataset, to_range

GAPS = "x,hue,when,kind\n" + "1,red,2024-01-31,a\n,blue,2024-03-01,b\n3,,2024-01-31,a\n8,blue,,b\n" * 3


def learnt(path, rules, target="kind"):
    read = read_table(path, target, rules=rules)
    encoder = learn_encoder(read.columns, path, rules)
    return encoder, encoder.features(read_values(read.columns, encoder), Reading())


@pytest.fixture
def table(tmp_path):
    def write(text):
        (tmp_path / "t.csv").write_text(text)
        return tmp_path / "t.csv"

    return write


def test_missing_values_are_refused_with_the_option_that_fills_them_in(table):
    with pytest.raises(McLsError) as caught:
        load_encoded(table("a,b,kind\n1,2,x\n3,,y\n"))
    assert (
        "a value is missing in column 'b': the row at line 3 has ''; fill in what is missing with --missing impute"
        in str(caught.value)
    )
    with pytest.raises(McLsError, match="a row without its class cannot be learnt from"):
        load_encoded(table("a,b,kind\n1,2,x\n3,4,?\n"), rules=ColumnRules(missing="impute"))


def test_all_columns_that_cannot_be_used_are_told_at_once(table):
    rows = "".join(f"{i},n{i},{'' if i == 5 else 1},{i % 3},{i % 2}\n" for i in range(30))
    with pytest.raises(McLsError) as caught:
        load_encoded(table("id,name,gap,ok,kind\n" + rows))
    told = str(caught.value)
    assert "3 columns cannot be learnt from: 'id' counts the rows" in told
    assert "'name' has 30 different texts" in told
    assert "'gap' misses a value: the row at line 7" in told
    assert "--drop id --drop name --drop gap" in told
    assert "\n" not in told
    assert load_encoded(table("id,name,gap,ok,kind\n" + rows), rules=ColumnRules(drop=["[ing]*"])).d == 1


@pytest.mark.parametrize("gaps", [1, 3])
def test_row_numbers_are_refused_in_any_order(table, gaps):
    """What pandas writes of a sample of a sorted table: its index tells the class, whatever the order of the rows."""
    index = np.sort(np.random.default_rng(0).permutation(60 * gaps)[:60])
    order = np.random.default_rng(1).permutation(60)
    rows = "".join(f"{index[i]},{i % 5},{'ab'[i // 30]}\n" for i in order)
    with pytest.raises(McLsError, match=r"'index' counts the rows, which gives the class away .* --keep index"):
        load_encoded(table("index,x,kind\n" + rows))
    assert load_encoded(table("index,x,kind\n" + rows), rules=ColumnRules(keep=["index"])).d == 2
    once_again = rows + rows.splitlines()[0] + "\n"
    assert load_encoded(table("index,x,kind\n" + once_again)).d == 2


def test_gaps_are_the_median_a_level_and_a_feature(table):
    encoder, X = learnt(table(GAPS), ColumnRules(missing="impute"))
    names = list(encoder.feature_names)
    assert names == [
        *("x", "x is missing", "hue=blue", "hue=red", "hue=missing"),
        *("when month", "when day", "when weekday", "when is missing"),
    ]
    assert X[1, :2].tolist() == [2 * (3 - 1) / 7 - 1, 1]  # the median of 1, 3 and 8
    assert X[2, 2:5].tolist() == [0, 0, 1]
    assert X[3, 5:].tolist() == [*X[0, 5:8], 1]  # 2024-01-31 is the median
    assert Encoder.model_validate(encoder.model_dump(mode="json", exclude_none=True)) == encoder
    log = Reading()
    new = encoder.encode({"x": ["?", "8"], "hue": ["NA", "green"], "when": ["", "2025-01-01"]}, log)
    assert not log.reasons
    assert new[0].tolist() == [*X[1, :2], *X[2, 2:5], *X[3, 5:]]
    assert new[1, 2:5].tolist() == [0, 0, 0]
    assert log.unknown == {"hue": 1}


def test_what_is_seldom_missing_has_no_feature_of_its_own(table):
    rows = "".join(f"{'' if i == 7 else i % 9},{i % 2}\n" for i in range(40))
    encoder, _ = learnt(table("x,kind\n" + rows), ColumnRules(missing="impute"))
    assert encoder.feature_names == ("x",)
    encoder, _ = learnt(table("x,y,kind\n" + rows.replace(",", ",?,")), ColumnRules(["y"], missing="impute"))
    with pytest.raises(McLsError, match="column 'y' is empty; leave it out with --drop y"):
        learnt(table("x,y,kind\n" + rows.replace(",", ",?,")), ColumnRules(missing="impute"))


def test_an_experiment_sees_gaps_and_fills_them_from_training_rows_alone(table):
    data = load_encoded(table(GAPS), rules=ColumnRules(missing="impute"))
    assert np.isnan(data.X).sum() == 3 * (1 + 3)
    train = np.array([0, 2, 4])
    inside = to_range(data.X, data.X[train])
    assert inside[1, 0] == -1.0  # the median of 1, 3 and 1
    other = data.X.copy()
    other[[3, 7, 11], 0] = 800.0  # rows that are not trained on cannot move what is filled in
    assert np.array_equal(to_range(other, other[train])[1], inside[1])
    for scaling in ("dataset", "standard", "none"):
        assert np.isfinite(scale_dataset(data.X, scaling)).all()
    assert np.isnan(scale_dataset(data.X, "fold")).any()
    full = np.random.default_rng(0).normal(size=(9, 3))
    assert impute(full) is full


def test_imputing_is_that_of_scikit_learn(table):
    from sklearn.impute import SimpleImputer

    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    X[rng.random(X.shape) < 0.2] = np.nan
    assert np.array_equal(impute(X, X[:30]), SimpleImputer(strategy="median").fit(X[:30]).transform(X))


def test_numbers_that_are_codes_and_texts_with_an_order(table):
    rows = "".join(f"{[101, 205, 7][i % 3]},{['S', 'M', 'L'][i % 3]},{i % 2}\n" for i in range(12))
    rules = ColumnRules(categorical=["sh*"], ordinal=["size=XS<S<M<L"])
    encoder, X = learnt(table("shop,size,kind\n" + rows), rules)
    assert encoder.feature_names == ("shop=101", "shop=205", "shop=7", "size")
    assert np.allclose(X[:3], [[1, 0, 0, -1 / 3], [0, 1, 0, 1 / 3], [0, 0, 1, 1]])
    new = encoder.encode({"shop": ["205.0", "9", "7"], "size": ["XS", "XXL", "L"]}, log := Reading())
    assert new.tolist() == [[0, 1, 0, -1], [0, 0, 0, 0], [0, 0, 1, 1]]
    assert log.unknown == {"shop": 1, "size": 1}
    for rules, complaint in (
        (ColumnRules(ordinal=["size=S<M"]), "has 'L', which its order S<M does not name"),
        (ColumnRules(ordinal=["sise=S<M"]), "did you mean 'size'"),
        (ColumnRules(categorical=["shp"]), "did you mean 'shop'"),
        (ColumnRules(categorical=["size"], ordinal=["size=S<M<L"]), "both categorical and ordinal"),
    ):
        with pytest.raises(McLsError, match=complaint):
            learnt(table("shop,size,kind\n" + rows.replace("101", "1")), rules)


def test_dates_are_their_parts_as_pandas_has_them(table):
    moments = pd.Series(pd.date_range("1999-11-28 03:00", periods=40, freq="1777h"))
    rows = "".join(f"{moment},{i % 2}\n" for i, moment in enumerate(moments))
    encoder, X = learnt(table("when,kind\n" + rows), None)
    assert encoder.feature_names == tuple(f"when {part}" for part in ("year", "month", "day", "weekday", "hour"))
    parts = [moments.dt.year, moments.dt.month, moments.dt.day, moments.dt.day_of_week, moments.dt.hour]
    assert np.allclose(X, to_range(np.column_stack(parts).astype(float)))
    with pytest.raises(McLsError, match=r"row 0, column 'when': '31\.12\.2024' is not a date such as 2024-12-31"):
        encoder.encode({"when": ["31.12.2024"]})
    coded, _ = learnt(table("when,kind\n2024-01-01,a\n2024-01-02,b\n"), ColumnRules(categorical=["when"]))
    assert isinstance(coded.columns[0], OneHotColumn)


@pytest.mark.parametrize(
    "cells, first",
    [
        (["31.12.2024", "01.02.2024"], 12),
        (["01.02.2024", "02.02.2024"], 2),
        (["31/12/2024", "01/02/2024"], 12),
        (["12/31/2024", "01/02/2024"], 12),
        (["2024/12/31", "2024/01/02"], 12),
        (["2024-12-31T10:00:00Z", "2024-01-02T10:00:00+01:00"], 12),
    ],
)
def test_dates_of_other_countries(table, cells, first):
    data = load_encoded(
        table("x,when,kind\n" + "".join(f"{i},{cell},{'ab'[i]}\n" for i, cell in enumerate(cells)))
    )
    months = [name for name in data.feature_names if name.endswith("month")]
    assert (data.X[0, data.feature_names.index(months[0])] if months else first) == first
    assert any("'when' holds dates" in note for note in data.notes)


def test_dates_that_may_mean_two_days_are_refused(table):
    with pytest.raises(McLsError, match=r"days and months cannot be told apart .*'01/02/2024'.*--drop when"):
        load_encoded(table("x,when,kind\n1,01/02/2024,a\n2,03/04/2024,b\n"))
    assert load_encoded(table("x,when,kind\n1,30/02/2024,a\n2,31/04/2024,b\n")).d == 3  # not dates: text
