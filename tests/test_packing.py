"""Integer arrays inside JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mcls.packing import pack, unpack


def test_packing_keeps_integers_and_refuses_others():
    values = np.array([[-1, 0, 32767], [5, -32768, 9]])
    assert np.array_equal(unpack(json.loads(json.dumps(pack(values)))), values)
    for bad in ([0.5], [40000]):
        with pytest.raises(ValueError, match="16 bits"):
            pack(bad)
