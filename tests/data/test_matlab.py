from __future__ import annotations

import io

import numpy as np
import pytest
from scipy.io import savemat

from mcls.data.matlab import matlab_to_npy
from mcls.errors import McLsError


def matlab(packed: bool = False, **arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    savemat(buffer, arrays, do_compression=packed)
    return buffer.getvalue()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["uint8", "int32", "float64"])
def test_the_bytes_depend_on_the_values_alone(packed: bool, kind: str) -> None:
    values = np.arange(24).reshape(2, 3, 4)
    expected = io.BytesIO()
    np.save(expected, np.asfortranarray(values.astype(np.uint8)))
    content = matlab(packed, other=np.ones((2, 2)), cube=values.astype(kind))
    assert matlab_to_npy(content, "cube", len(expected.getvalue())) == expected.getvalue()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"<html>" * 40, "not a readable MATLAB 5 file"),
        (matlab(other=np.ones((2, 2))), "no numeric array 'cube' in the file"),
        (matlab(cube=np.full((2, 2), 0.5)), "whole numbers from 0 up"),
        (matlab(cube=np.full((2, 2), -1)), "whole numbers from 0 up"),
        (matlab(cube=np.full((2, 2), np.nan)), "whole numbers from 0 up"),
        (matlab(packed=True, cube=np.zeros((1000, 1000))), "unpacks to more than 12096 bytes"),
        (matlab(packed=True, cube=np.ones((9, 9)))[:150], "not a readable MATLAB 5 file"),
    ],
    ids=[
        "text",
        "no cube",
        "fractions",
        "negative",
        "NaN",
        "bomb",
        "cut",
    ],  # not the bytes: they hold the time of day
)
def test_other_files_are_refused(content: bytes, complaint: str) -> None:
    with pytest.raises(McLsError, match=complaint):
        matlab_to_npy(content, "cube", 1000)
