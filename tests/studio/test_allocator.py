"""Freed memory goes back to the system, whatever was freed before."""

import subprocess
import sys

import pytest

# A freed array of 20 MB makes glibc keep all smaller ones, unless it is told not to.
SCRIPT = """
import sys
import numpy as np
from poise.experiments.bench.memory import megabytes
from poise.studio.web.allocator import give_memory_back
if sys.argv[1] == "yes":
    give_memory_back()
for _ in range(3):
    np.ones(20_000_000 // 8)
arrays = [np.ones(1_000_000 // 8) for _ in range(200)]
last = np.ones(1_000_000 // 8)  # on top of the others: they cannot be cut off
before = megabytes("VmRSS")
del arrays
print(before - megabytes("VmRSS"))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_freed_arrays_go_back_to_the_system():
    def given_back(tell):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, tell], capture_output=True, text=True, check=True
        )
        return float(done.stdout)

    assert given_back("yes") > 150
    if given_back("no") > 150:
        pytest.skip("this C library gives memory back by itself")
