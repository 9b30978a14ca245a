"""Keep freed memory in the process while a grid is searched.

glibc returns large blocks to the system as soon as they are freed, and every width of a grid asks for the same
blocks again: fetching fresh pages was an eighth of the time of a grid on 500 rows.
"""

from __future__ import annotations

import ctypes
import platform
from functools import lru_cache

# Of malloc.h: free memory kept at the top of the heap, and the smallest block that is mapped on its own.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT = 256 << 20  # bytes
_MAPPED_FROM = 64 << 20  # bytes: a kernel matrix of 2900 rows


@lru_cache(maxsize=1)
def keep_freed_blocks() -> bool:
    """Ask the C library, once, to keep what is freed; whether it does (only glibc is asked).

    >>> keep_freed_blocks() == keep_freed_blocks()
    True
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(_M_TRIM_THRESHOLD, _KEPT) and mallopt(_M_MMAP_THRESHOLD, _MAPPED_FROM))
