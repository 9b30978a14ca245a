from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mcls.data import load_card, load_dataset
from mcls.data.cache import folder_table_path
from mcls.data.importing import import_files
from mcls.errors import McLsError

CARD = load_card("cohn-kanade")


def face(path: Path, grey: int, size: tuple[int, int] = (40, 30)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.full((size[1], size[0]), grey, dtype=np.uint8)
    pixels[0, 1] = 255
    Image.fromarray(pixels).save(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "faces"
    face(root / "happy" / "s1.pgm", 10)
    face(root / "happy" / "s2.png", 20)
    face(root / "anger" / "s1.PNG", 30)
    (root / "happy" / "notes.txt").write_text("not an image")
    (root / ".hidden").mkdir()
    return root


def test_a_folder_becomes_a_table(folder: Path, cache: Path) -> None:
    data = load_dataset("cohn-kanade", path=folder)
    assert data.X.shape == (3, 1200)
    assert data.classes == ("anger", "happy")
    assert data.y.tolist() == [0, 1, 1]
    assert data.X[:, 0].tolist() == [30, 10, 20]  # PGM and PNG on the same scale
    assert data.X[0, 1] == 255  # row by row
    assert load_dataset("cohn-kanade", path=folder, first=2).n == 2


def test_an_imported_folder_needs_no_path(folder: Path, cache: Path) -> None:
    with pytest.raises(McLsError, match=r"not free.*mcls data import cohn-kanade FOLDER"):
        load_dataset("cohn-kanade")
    assert import_files(CARD, [folder]) == []
    assert load_dataset("cohn-kanade").fingerprint == load_dataset("cohn-kanade", path=folder).fingerprint
    folder_table_path(CARD).write_bytes(b"damaged")
    with pytest.raises(McLsError, match=r"is damaged .* import the folder again"):
        load_dataset("cohn-kanade")


def test_folders_that_are_not_laid_out_right(folder: Path, tmp_path: Path, cache: Path) -> None:
    with pytest.raises(McLsError, match="is not a folder"):
        load_dataset("cohn-kanade", path=tmp_path / "absent")
    with pytest.raises(McLsError, match="images of 0 expressions; expected at least two"):
        load_dataset("cohn-kanade", path=folder / "happy")
    (folder / "sad").mkdir()
    (folder / "sad" / "bad.png").write_bytes(b"no image")
    with pytest.raises(McLsError, match=r"bad\.png is not a readable image"):
        load_dataset("cohn-kanade", path=folder)
    face(folder / "sad" / "bad.png", 5, size=(30, 40))
    with pytest.raises(McLsError, match="mixes images"):
        load_dataset("cohn-kanade", path=folder)
    face(folder / "sad" / "bad.png", 5, size=(640, 490))
    with pytest.raises(McLsError, match=r"bad\.png has 640×490 pixels; expected 40×30"):
        import_files(CARD, [folder])
    assert not folder_table_path(CARD).exists()
