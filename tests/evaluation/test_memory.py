"""What a grid frees stays in the process."""

import platform
import subprocess
import sys

import pytest

COUNT = """
import resource
import numpy as np
from mcls.evaluation.memory import keep_freed_blocks
assert keep_freed_blocks()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def some_blocks():
    return [np.ones(1 << 18) for _ in range(8)]  # 512 pages each
some_blocks()
before = faults()
for _ in range(10):
    some_blocks()
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is asked")
def test_freed_blocks_come_back_without_page_faults():
    done = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1000
