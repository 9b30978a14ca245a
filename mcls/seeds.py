"""Seeds derived from names, so that adding a machine or a data set never changes the folds of another."""

from __future__ import annotations

import hashlib
import json
import reprlib
from numbers import Integral
from typing import Any

from mcls.errors import McLsError


def derive(*parts: str | int) -> int:
    """Return a 32-bit seed that depends on every part and on nothing else (no order of calls, no platform).

    >>> derive(0, "iris", "folds", 3) == derive(0, "iris", "folds", 3)
    True
    >>> derive(0, "iris", "folds", 3) == derive(0, "iris", "folds", 4)
    False
    """
    # JSON keeps the boundaries: ("ab", "c") and ("a", "bc") differ, and so do 1 and "1".
    text = json.dumps(parts, ensure_ascii=True, separators=(",", ":"))
    return int.from_bytes(hashlib.sha256(text.encode("ascii")).digest()[:4], "big")


def whole_seed(seed: Any) -> int:
    """A seed that a user gives, as a number of Python: whole numbers of NumPy are taken, anything else is refused.

    >>> import numpy as np
    >>> whole_seed(np.int64(3))
    3
    """
    if not isinstance(seed, Integral) or isinstance(seed, bool) or not 0 <= int(seed) < 2**32:
        raise McLsError(f"seed must be a whole number from 0 to 2^32 - 1; got {reprlib.repr(seed)}")
    return int(seed)
