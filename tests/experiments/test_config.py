"""The config schema: what is accepted, what is refused, and how each refusal names file, line and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcls.errors import McLsError
from mcls.experiments.loading import find_config, load_config, parse_config, shipped_configs

BASE = "datasets: iris\nmachines: [oneLSM]\n"


def parse(text: str):
    return parse_config(text, Path("lab.yaml"))


def test_defaults_are_the_papers():
    config = parse(BASE)
    assert config.name == "lab"
    assert (config.protocol, config.settings("published"), config.n_replicates) == (
        "published",
        {"folds": 10, "repeats": 1},
        10,
    )
    assert (config.scaling, config.engine, config.seed) == ("dataset", "fast", 0)


def test_all_ways_to_write_machines_and_data():
    config = parse(
        """
datasets:
  - vowel:rows=all
  - {name: iris, options: {sample: 60, seed: 1}}
  - {path: my.csv, target: kind}
  - sub/other.tsv:target=3,header=false
  - third.csv:drop=nr+note*,categorical=site,ordinal=size=S<M<L
machines:
  - oneLSM
  - voLSSVM:labelbook=pm1,bias=true
  - name: voRLS-f
    labelbook: [indicators, alignment]
    options: {decision: nearest}
    grid: {gamma: 2^-2..2^2, sigma: 1}
"""
    )
    assert [d.label for d in config.datasets] == [
        "vowel:rows=all",
        "iris:sample=60,seed=1",
        "my",
        "other",
        "third",
    ]
    assert [(d.target, d.header) for d in config.datasets[2:]] == [("kind", None), (3, False), (-1, None)]
    third = config.datasets[4]
    assert (third.drop, third.categorical, third.ordinal) == (["nr", "note*"], ["site"], ["size=S<M<L"])
    assert config.machines[1].variants() == [{"labelbook": "pm1", "bias": True}]
    assert [v["labelbook"] for v in config.machines[2].variants()] == ["indicators", "alignment"]


def test_a_column_may_be_called_by_a_number():
    config = parse(
        "machines: oneLSM\ndatasets: ['t.csv:drop=3,group=0', {path: u.csv, drop: 3, keep: [4, b], weight: 1}]"
    )
    assert [(d.drop, d.keep, d.group, d.weight) for d in config.datasets] == [
        (["3"], None, "0", None),
        (["3"], ["4", "b"], None, "1"),
    ]
    with pytest.raises(McLsError, match=r"datasets\[0\].drop: Input should be a valid list, got 3.5"):
        parse("machines: oneLSM\ndatasets: [{path: t.csv, drop: 3.5}]")


def test_none_is_for_parameters_that_take_it():
    entry = parse("datasets: iris\nmachines: 'decoc:criterion_sigma=none'").machines[0]
    assert entry.variants() == [{"criterion_sigma": None}]


def test_settings_by_protocol():
    assert parse(BASE).settings("published") == {"folds": 10, "repeats": 1}
    assert parse(BASE + "protocol: half-split").settings("half-split") == {"inner_folds": 5}
    assert parse(BASE + "protocol: 5x2cv").n_replicates == 5
    held = parse(BASE + "protocol: hold-out\ntrain: 120")
    assert held.n_replicates == 1
    assert held.settings("hold-out") == {"train": 120, "inner_folds": 10}


@pytest.mark.parametrize(
    "text, expected",
    [
        (
            "datasets: iris\nmachnes: [oneLSM]\n",
            "lab.yaml:2: machnes: unknown field 'machnes'; did you mean 'machines'?",
        ),
        (BASE + "protocl: nested", "lab.yaml:3: protocl: unknown field 'protocl'; did you mean 'protocol'?"),
        (BASE + "protocol: nestd", "lab.yaml:3: protocol: unknown protocol 'nestd'; did you mean 'nested'?"),
        (BASE + "engine: quick", "lab.yaml:3: engine: unknown value 'quick'"),
        (
            "datasets: irsi\nmachines: oneLSM",
            "lab.yaml:1: datasets[0]: unknown data set 'irsi'; did you mean 'iris'?",
        ),
        (
            "datasets: iris\nmachines:\n- ovO\n- oneLMS\n",
            "lab.yaml:4: machines[1]: unknown machine 'oneLMS'; did you",
        ),
        (
            "datasets: iris\nmachines: [{name: voLSSVM, labelbook: [pm1, aligment]}]",
            "lab.yaml:2: machines[0]: unknown labelbook 'aligment'; did you mean 'alignment'?",
        ),
        (
            "datasets: iris\nmachines: ['voLSSVM:labelbok=pm1']",
            "machines[0]: unknown parameter of voLSSVM 'labelbok'; did you mean 'labelbook'?",
        ),
        (
            "datasets: iris\nmachines:\n- name: ovO\n  grid:\n    gama: 1",
            "lab.yaml:3: machines[0]: unknown parameter of OvOLSM in its grid: 'gama'; did you mean 'gamma'?",
        ),
        (
            "datasets: iris\nmachines:\n- name: ovO\n  optons: {a: 1}",
            "lab.yaml:4: machines[0].optons: unknown field 'optons'; did you mean 'options'?",
        ),
        (BASE + "grid:\n  gamma: 2^4..2^-4", "lab.yaml:3: grid: 'gamma': '2^4..2^-4': a range goes up"),
        (BASE + "grid: {gamma: 2^4000}", "grid: 'gamma': '2^4000' leaves the range"),
        (BASE + "grid: {gamma: [1, .nan]}", "grid: 'gamma': nan is not a finite number"),
        (BASE + f"grid: {{gamma: [1, 1{'0' * 400}]}}", "000 is not a finite number"),
        (
            f"datasets: iris\nmachines: {{name: ovO, options: {{gamma: 1{'0' * 400}}}}}",
            "gamma must be a positive number, got 1000",
        ),
        (BASE + "grid: {gamma: [1, 1.0]}", "grid: 'gamma' lists a value twice"),
        (BASE + "grid: {gama: 1}", "unknown parameter in 'grid': 'gama'; did you mean 'gamma'?"),
        (BASE + "grid: {gamma: -1}", "gamma must be a positive number, got -1"),
        (BASE + "grid: {sigma: 0}", "sigma must be a positive number between 1e-150 and 1e150, got 0"),
        (
            BASE + "grid: {sigma: 2^-900..2^-890}",
            "sigma must be a positive number between 1e-150 and 1e150, got 1",
        ),
        (BASE + "grid: {sigma: wide}", "sigma must be a positive number between 1e-150 and 1e150, got 'wide'"),
        (
            BASE + "grid: {gamma: 2^0..2^900, sigma: 2^-450..2^450}",
            "the grid of oneLSM has more than 100000 points",
        ),
        ("datasets: iris\nmachines: [oneLSM, OneLSM]", "lab.yaml:2: 'machines' lists oneLSM twice"),
        ("datasets: iris\nmachines: []", "lab.yaml:2: machines: the list is empty, give at least one"),
        (BASE + "replicates: ten", "lab.yaml:3: replicates: Input should be a valid integer, got 'ten'"),
        (BASE + "replicates: true", "replicates: Input should be a valid integer"),
        (BASE + "folds: 1", "folds: must be a number from 2 to 1000, loo"),
        (BASE + "seed: -1", "seed: Input should be greater than or equal to 0"),
        (BASE + "name: ../up", "lab.yaml:3: name: '../up' cannot name a folder"),
        (BASE + "name: a/b", "name: 'a/b' cannot name a folder"),
        (BASE + "name: a..b", "name: 'a..b' cannot name a folder"),
        (BASE + "name: .hidden", "name: '.hidden' cannot name a folder"),
        (BASE + "protocol: 5x2cv\nreplicates: 3", "lab.yaml:4: 'replicates' is 3, but protocol '5x2cv' has 5"),
        (BASE + "protocol: half-split\nfolds: 5", "'folds' has no meaning with protocol 'half-split'"),
        (BASE + "train: 0.3", "'train' has no meaning with protocol 'published'"),
        (BASE + "protocol: nested\nnested: 2", "'nested' adds the honest error to protocol 'published' only"),
        (BASE + "datasets: wine", "lab.yaml:3: 'datasets' is given twice"),
        (BASE + 'protocol: "\\ud835\\udfdb"', r"lab.yaml:3: \ud800 to \udfff are not characters"),
        (BASE + '"\\ud835": 1', r"lab.yaml:3: \ud800 to \udfff are not characters"),
        (BASE + "1: 2", "lab.yaml:3: '1' is not the name of a field"),
        ("datasets: iris\nmachines: [oneLSM, oneLSM]", "'machines' lists oneLSM twice"),
        ("datasets: [iris, iris]\nmachines: oneLSM", "'datasets' lists iris twice"),
        ("datasets: {missing: impute}\nmachines: oneLSM", "datasets[0]: give 'name' for a data set of mcls, or"),
        (
            "datasets: [a/x.csv, b/x.csv]\nmachines: oneLSM",
            "'datasets' lists x twice; give each table a name of its own",
        ),
        ("datasets: {name: iris, header: true}\nmachines: oneLSM", "datasets[0]: 'header' belongs to a table by"),
        ("datasets: {name: iris, drop: id}\nmachines: oneLSM", "datasets[0]: 'drop' belongs to a table by"),
        (
            "datasets: x.csv:header=perhaps\nmachines: oneLSM",
            "datasets[0].header: Input should be a valid boolean, got 'perhaps'",
        ),
        ("datasets: iris:row=all\nmachines: oneLSM", "datasets[0]: unknown option of data set iris 'row'"),
        (
            "datasets: iris\nmachines: {name: ovO, options: {gamma: 1}, grid: {gamma: 2}}",
            "machines[0]: 'gamma' is fixed",
        ),
        (
            "datasets: iris\nmachines: 'voLSSVM:bias=perhaps'",
            "machines[0]: 'bias' is true or false, got 'perhaps'",
        ),
        ("datasets: iris\nmachines: 'ovO:kernel=gausian'", "unknown kernel 'gausian'; did you mean 'gaussian'?"),
        ("datasets: iris\nmachines: 'ovO:gamma=none'", "machines[0]: gamma must be a positive number, got None"),
        ("datasets: iris\nmachines: &a [oneLSM]\ngrid: {gamma: *a}", "lab.yaml:2: aliases"),
        ("datasets: iris\nmachines: [", "lab.yaml:2: not valid YAML"),
        ("[" * 5000, "not valid YAML: nested too deeply"),
        ("- 1", "a config is a list of 'field: value' lines"),
        ("", "a config is a list of 'field: value' lines"),
        (BASE + "seed: 2024-13-45", "not valid YAML: month must be in 1..12"),
        (BASE + "description: !!python/object:os.system {}", "not valid YAML: could not determine a constructor"),
    ],
)
def test_refusals_name_the_field_in_one_line(text, expected):
    with pytest.raises(McLsError) as caught:
        parse(text)
    message = str(caught.value)
    assert expected in message
    assert message.startswith("lab.yaml")


def test_leaving_one_out_is_a_number_of_folds(tmp_path):
    config = parse_config(BASE + "folds: loo\n", tmp_path / "c.yaml")
    assert config.settings("published") == {"folds": "loo", "repeats": 1}
    assert config.n_replicates == 1  # there is nothing to draw


@pytest.mark.parametrize("name", shipped_configs())
def test_shipped_configs_are_valid(name):
    assert load_config(find_config(name)).name == name
