"""A table with columns of every kind, and what is counted of it."""

import numpy as np
import pandas as pd

from mcls.data.formats import ColumnRules
from mcls.data.parts import find_files, open_parts
from mcls.data.statistics import count_piece, find_classes, merge_pieces

RULES = ColumnRules(drop=["note"], categorical=["code"], ordinal=["size=S<M<L"], missing="impute")


def frame(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    made = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "k": rng.integers(-5, 9, n),
            "gap": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "hue": rng.choice(["red", "green", "light blue"], n),
            "code": rng.integers(1, 5, n),
            "size": rng.choice(["S", "M", "L"], n),
            "day": pd.to_datetime("2024-01-30") + pd.to_timedelta(rng.integers(0, 99, n), "D"),
            "note": [f"n{i}" for i in range(n)],
            "kind": rng.integers(0, 3, n),
        }
    )
    made["day"] = made["day"].dt.strftime("%Y-%m-%d")
    return made


def write(folder, made, kind, quoted=False):
    if kind == "parquet":
        made.to_parquet(folder / "t.parquet", row_group_size=300)
        return folder / "t.parquet"
    made.to_csv(folder / "t.csv", index=False, quoting=2 if quoted else 0)
    return folder / "t.csv"


def counted(path, rules):
    table = open_parts(find_files([path]), "kind", rules=rules)
    pieces = table.pieces()
    return find_classes(merge_pieces([count_piece(p, table, 0) for p in pieces], pieces, table), table)
