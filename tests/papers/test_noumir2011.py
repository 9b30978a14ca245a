"""The tables and maps of noumir2011 from a made-up store."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.data import Dataset
from mcls.experiments import cells
from mcls.packing import pack
from mcls.papers import PAPERS
from mcls.papers.noumir2011.growth import growth
from mcls.papers.noumir2011.plane import scene_map
from mcls.reporting.studies import Studies

from ..reporting.made_up import record, texts

pytestmark = pytest.mark.usefixtures("cache")


def test_pavia_is_not_run_without_its_cube(tmp_path):
    (table,) = PAPERS["noumir2011"].table("pavia").build(Studies(tmp_path))
    assert table.rows[0][0].text == "not run: mcls data fetch pavia-university"


@pytest.fixture
def pavia(monkeypatch):
    """A made-up scene in the place of Pavia: seven classes in stripes of 40 × 70 pixels."""
    rows, columns = (each.ravel() for each in np.mgrid[0:70, 0:40])
    y = rows // 10
    names = ("Asphalt", "Meadows", "Trees", "Painted metal sheets", "Bare soil", "Self-blocking bricks", "Shadow")
    data = Dataset(
        name="pavia-university",
        X=np.column_stack([rows, columns]).astype(float),
        y=y,
        classes=names,
        feature_names=("a", "b"),
        extra={"row": rows, "column": columns},
    )
    monkeypatch.setattr("mcls.experiments.cells.load_dataset", lambda name, **options: data)
    monkeypatch.setattr("mcls.reporting.studies.absent_data", lambda config: None)
    cells._load.cache_clear()
    yield data
    cells._load.cache_clear()


def test_pavia_shows_the_accuracy_of_each_class_on_tested_pixels(tmp_path, pavia):
    studies = Studies(tmp_path)
    study = studies["noumir2011-pavia"]
    predictions = pavia.y.copy()
    predictions[pavia.y == 6] = 0  # Shadow taken for Asphalt
    predictions[::2] = -1  # training pixels
    for cell in study.experiment.plan.cells:
        study.experiment.store.write(record(cell, 0.1, predictions=pack(predictions)))
    (table,) = PAPERS["noumir2011"].table("pavia").build(studies)
    column = {row[0].text: row[1].text for row in table.rows}
    assert table.columns[1] == "voRLS-f, indicators"
    assert (column["Asphalt"], column["Shadow"]) == ("100.0", "0.0")
    assert (column["error"], column["paper error"], column["difference"]) == ("10.00", "8", "+2.00")
    figure = scene_map(studies, "noumir2011-pavia")
    assert figure is not None
    images = [np.asarray(ax.images[0].get_array()) for ax in figure.axes[:3]]
    assert images[0].shape == (70, 40)
    assert set(np.unique(images[1])) == {-1, 0, 1, 2, 3, 4, 5}


def test_time_against_the_number_of_classes(tmp_path):
    studies = Studies(tmp_path)
    study = studies["noumir2011-classes"]
    for cell in study.experiment.plan.cells:
        each = record(cell, 0.1)
        classes = len(study.plan.datasets[cell.dataset.label].classes)
        study.experiment.store.write(each | {"cpu_seconds": classes * 0.5 if cell.machine == "ovA" else 0.5})
    (table,) = PAPERS["noumir2011"].table("classes").build(studies)
    row = texts(table, classes="26")
    assert (row["seconds ovA"], row["ovA / voRLS-f, indicators"], row["error ovA"]) == ("13", "26.0", "10.00")
    figure = growth(studies)
    assert figure is not None
    assert [len(line.get_xdata()) for line in figure.axes[0].lines] == [7] * 4
