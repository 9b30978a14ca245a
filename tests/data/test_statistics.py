"""What one pass over a table counts: the sample, and keys of rows."""

import numpy as np

from mcls.data import statistics
from mcls.data.parts import open_parts
from mcls.data.statistics import content_keys, count_piece, merge_pieces, row_keys
from tests.data.kinds import RULES, frame, write


def test_the_sample_does_not_depend_on_where_pieces_are_counted(tmp_path, small_pieces):
    path = write(tmp_path, frame(), "parquet")
    table = open_parts([path], "kind", rules=RULES)
    pieces = table.pieces()
    found = [count_piece(p, table, seed=3, size=100) for p in pieces]
    counts = merge_pieces(found, pieces, table)
    one = statistics.reduce(lambda a, b: statistics.merge_counts(a, b, 100), found)
    keys = np.concatenate([row_keys(3, p.number, 0, of.rows) for p, of in zip(pieces, found)])
    assert np.array_equal(np.sort(one.keys), np.sort(keys)[:100])
    assert len(counts.sample["x"]) == 100 * len(pieces)


def test_equal_rows_have_equal_keys_and_others_do_not():
    X = np.random.default_rng(0).normal(size=(1000, 3))
    keys = content_keys(np.vstack([X, X[:10], -0.0 * X[:1], 0.0 * X[:1]]), 7)
    assert len(np.unique(keys[:1000])) == 1000
    assert np.array_equal(keys[:10], keys[1000:1010])
    assert keys[-1] == keys[-2]
    assert np.bincount((keys[:1000] % np.uint64(10)).astype(int)).min() > 60
