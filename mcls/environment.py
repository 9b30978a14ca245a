"""What a result was computed with: versions, BLAS, threads, CPU, platform."""

from __future__ import annotations

import os
import platform
import sys
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

_PACKAGES = ("mcls", "numpy", "scipy", "scikit-learn", "osqp", "joblib")


@lru_cache(maxsize=1)
def environment() -> dict[str, Any]:
    """Describe this process's surroundings, without any path or host name."""
    import numpy as np  # noqa: F401  (loads BLAS, so that threadpoolctl sees it)
    import scipy.linalg  # noqa: F401
    import threadpoolctl

    libraries = [
        {key: info.get(key) for key in ("user_api", "internal_api", "version", "threading_layer", "architecture")}
        for info in threadpoolctl.threadpool_info()
    ]
    return {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "blas_threads": 1,  # the runner pins every worker to one thread
        "libraries": sorted(libraries, key=str),
    }


def peak_memory_gb() -> float | None:
    """The most memory that this process has held so far; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # kB, but bytes on macOS
    return round(peak / (1e9 if sys.platform == "darwin" else 1e6), 3)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.lower().startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
