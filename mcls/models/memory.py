"""How much memory there is, and how much an exact fit needs."""

from __future__ import annotations

import os
from pathlib import Path

#: The kernel matrix, the ridge added to a copy of it, and its Cholesky factor: three matrices at the worst moment,
#: and two blocks of their columns while the factor is made.
MATRICES = 3
COLUMNS = 2 * 2048


def exact_fit_bytes(n: int) -> int:
    """Bytes that fitting a kernel machine exactly to n rows takes at its worst moment."""
    return 8 * n * (MATRICES * n + COLUMNS)


def available_bytes() -> int:
    """Memory that can be had now: what the system has free, or what a container is allowed, if that is less."""
    candidates = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        candidates += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    except (OSError, ValueError, IndexError):
        pass
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            candidates.append(int(Path(limit).read_text(encoding="ascii")))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    if not candidates:
        candidates.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(candidates)
