"""The fields of a card from its table."""

from __future__ import annotations

import pytest
import yaml

from mcls.data.cards import load_card
from mcls.data.describing import describe_table
from mcls.resources import datasets_dir
from tests.command import call


def test_the_fingerprint_is_that_of_the_shipped_cards():
    for name in ("iris", "tae"):
        card = load_card(name)
        printed = yaml.safe_load(describe_table(datasets_dir() / f"{name}.csv"))
        assert printed == {key: getattr(card, key) for key in ("shape", "features", "classes", "fingerprint")}


@pytest.mark.parametrize(
    "content, reason",
    [
        (None, "No such file"),
        ("a,b\n1,2\n", "named 'class'"),
        ("a,class\nx,1\n", "not a table"),
        ("a,class\n1,x\n", "1 class"),
    ],
)
def test_a_table_that_cannot_have_a_card_is_refused(tmp_path, content, reason):
    path = tmp_path / "t.csv"
    if content is not None:
        path.write_text(content)
    code, _, err = call("data", "fingerprint", path)
    assert (code, reason in err, len(err.splitlines())) == (2, True, 1), err
