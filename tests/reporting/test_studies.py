"""Studies: figures by the names of the config, what is missing, and data that are not here."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcls.experiments.loading import find_config, load_config, shipped_configs
from mcls.reporting.studies import AbsentDataError, Studies, lacking

from .made_up import fill

NAME = "noumir2011-iris"


def test_shipped_configs_are_called_as_their_files_are():
    """Their names are not read from them: a table of a paper asks for many."""
    for name in shipped_configs():
        assert load_config(find_config(name)).name == name
    assert Studies(Path("nowhere"))[NAME].name == NAME


def test_quick_runs_live_in_a_folder_of_their_own(tmp_path):
    assert Studies(tmp_path, True)[NAME].experiment.folder == tmp_path / "quick" / NAME
    assert Studies(tmp_path)[NAME].experiment.folder == tmp_path / NAME


def test_an_empty_store_has_no_figures_and_says_what_is_missing(tmp_path):
    study = Studies(tmp_path)[NAME]
    found = study.one(machine="ovA")
    assert found is not None
    assert found.line.mean is None
    assert not found.complete
    assert found.results == []
    assert found.extreme(worst=True) == ""
    lacks = lacking(study.figures, "mcls tables x")
    (note,) = lacks.notes
    assert lacks.state == "not run"
    assert "60 of 60 cells are missing" in note
    assert note.endswith("Run: mcls tables x")


def test_figures_come_back_as_stored_and_point_to_their_cells(tmp_path):
    study = Studies(tmp_path)[NAME]
    fill(study, lambda cell: 0.01 * cell.replicate)
    found = study.one(machine="ovA")
    assert found is not None
    assert found.line.mean == pytest.approx(9.5)
    assert lacking(study.figures, "x").state == "complete"
    for source, replicate in ((found.extreme(worst=False), 0), (found.extreme(worst=True), 19)):
        assert source == found.cell(replicate)
        assert (tmp_path / source).is_file()


def test_one_missing_cell_leaves_its_row_without_figures(tmp_path):
    study = Studies(tmp_path)[NAME]
    fill(study, leave_out=lambda cell: cell.machine == "ovA" and cell.replicate == 3)
    lines = {f.row.machine: f.line for f in study.figures}
    assert lines["ovA"].mean is None
    assert lines["ovA"].state == "1 missing of 20"
    assert lacking(study.figures, "x").state == "incomplete"
    assert lines["voRLS-f"].mean == pytest.approx(25.0)


def test_a_quick_study_is_found_by_the_full_config_s_names(tmp_path):
    studies = Studies(tmp_path, True)
    found = studies["honeine2013-table6-letter"].one(dataset="letter:first=2000", machine="ovO")
    assert found is not None
    assert found.row.dataset == "letter:first=400"


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    "name, command",
    [
        ("noumir2011-pavia", "mcls data fetch pavia-university"),
        ("honeine2013-table6-usps-esl", "mcls data fetch usps-esl"),
        ("arvanitopoulos-faces", "mcls data import cohn-kanade FOLDER"),
    ],
)
def test_absent_data_are_named_with_the_command_that_gets_them(tmp_path, name, command):
    with pytest.raises(AbsentDataError, match=f"^{command}$"):
        Studies(tmp_path)[name]
