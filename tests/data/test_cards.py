from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mcls.data.cards import card_names, load_card, parse_card
from mcls.data.load import load_dataset
from mcls.data.variants import VARIANTS
from mcls.errors import McLsError
from mcls.resources import datasets_dir

# name: rows, features, classes, as the papers and the sources state them
KNOWN = {
    "iris": (150, 4, 3),
    "wine": (178, 13, 3),
    "glass": (214, 9, 6),
    "vowel": (990, 10, 11),
    "yeast": (1484, 8, 10),
    "letter": (20000, 16, 26),
    "lenses": (24, 4, 3),
    "tae": (151, 5, 3),
    "balance": (625, 4, 3),
    "ecoli": (336, 7, 8),
    "thyroid": (215, 5, 3),
    "digits": (1797, 64, 10),
    "usps": (9298, 256, 10),
    "usps-esl": (9298, 256, 10),
    "pavia-university": (42776, 103, 9),
    "indian-pines": (10249, 200, 16),
    "artificial-1": (900, 2, 3),
    "artificial-2": (300, 2, 3),
    "artificial-3": (350, 2, 2),
    "artificial-4": (600, 2, 4),
    "artificial-5": (704, 1200, 7),
}


def test_every_set_has_a_card_and_every_card_is_known() -> None:
    assert set(card_names()) == {*KNOWN, "cohn-kanade"}


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_cards_state_the_shape(name: str) -> None:
    card = load_card(name)
    assert card.shape is not None
    assert card.classes is not None
    assert (*card.shape, len(card.classes)) == KNOWN[name]


@pytest.mark.parametrize("name", [n for n in sorted(KNOWN) if load_card(n).origin in ("shipped", "generated")])
def test_cards_state_the_size_of_what_is_loaded_by_default(name: str) -> None:
    size, data = load_card(name).size, load_dataset(name)
    assert size is not None
    assert (size.rows, size.features, size.classes) == (data.n, data.d, data.n_classes)
    assert (load_card(name).by_default is not None) == (name == "vowel")


def test_only_a_table_that_cannot_be_had_here_lacks_a_fingerprint() -> None:
    without = [name for name in card_names() if load_card(name).fingerprint is None]
    assert without == ["cohn-kanade", "pavia-university"]


def test_options_in_cards_and_code_are_the_same() -> None:
    declared = {(name, key) for name in card_names() for key in load_card(name).options}
    assert declared == set(VARIANTS)


def test_file_names_are_unique_because_a_mirror_is_flat() -> None:
    names = [file.name for name in card_names() for file in load_card(name).files]
    assert len(names) == len(set(names)) == 17


def test_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(McLsError, match="did you mean 'vowel'"):
        load_card("vovel")
    assert load_card("IRIS").name == "iris"


def _iris(**changes: object) -> str:
    raw = yaml.safe_load((datasets_dir() / "iris.yaml").read_text(encoding="utf-8"))
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = raw
        for key in parents:
            place = place[int(key) if key.isdigit() else key]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return yaml.safe_dump(raw)


def test_the_unchanged_card_passes() -> None:
    assert parse_card(_iris(), Path("iris.yaml")).title == "Iris plants"


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"titel": "x"}, "titel: Extra inputs"),
        ({"title": None}, "title: Field required"),
        ({"title": 3}, "title: Input should be a valid string"),
        ({"name": "Iris plants"}, "name: "),
        ({"shape": [149, 4]}, "shape says 149 rows, classes add up to 150"),
        ({"shape": [150, 3]}, "shape says 3 features, 4 are named"),
        ({"shape": ["150", 4]}, "shape.0: "),
        ({"origin": "remote"}, "origin: "),
        ({"table": None}, "'table' belongs to shipped sets"),
        ({"origin": "download"}, "'table' belongs to shipped sets"),
        ({"fingerprint": None}, "needs its 'fingerprint'"),
        ({"fingerprint": "abc"}, "fingerprint: "),
        ({"classes": None}, "may leave out 'shape' and 'classes'"),
        ({"files": []}, "come together"),
        ({"parser": "irs"}, "did you mean 'iris'"),
        ({"files__0__name": "../../etc/passwd"}, "files.0.name: "),
        ({"files__0__sha256": "0"}, "files.0.sha256: "),
        ({"files__0__sources": []}, "files.0.sources: "),
        ({"files__0__sources__0__url": "ftp://example.org/iris"}, "http://, https:// or file://"),
        ({"table": "/etc/passwd"}, "table: "),
        ({"options__features__default": "none"}, "the default 'none' is not one of: all"),
    ],
)
def test_a_wrong_card_is_refused_by_field(changes: dict, complaint: str) -> None:
    with pytest.raises(McLsError) as caught:
        parse_card(_iris(**changes), Path("iris.yaml"))
    assert complaint in str(caught.value)
    assert str(caught.value).startswith("iris.yaml: ")


def test_broken_yaml_and_a_wrong_file_name() -> None:
    with pytest.raises(McLsError, match="not valid YAML"):
        parse_card("name: [", Path("iris.yaml"))
    with pytest.raises(McLsError, match="named 'iris', the file 'rose'"):
        parse_card(_iris(), Path("rose.yaml"))
    with pytest.raises(McLsError, match="card: "):
        parse_card("just text", Path("iris.yaml"))
