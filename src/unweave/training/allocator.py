"""Keep memory in the process: tell glibc not to return the memory of activations to the system after every step.

Returning blocks of megabytes and getting them back costs about a tenth of a step on a CPU. Does nothing without glibc.
"""

from __future__ import annotations

import ctypes
import platform
from functools import cache

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # the names in malloc.h: M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
LARGEST_BLOCK = 32 * 2**20  # the largest value that glibc accepts
KEPT = 2**30


@cache
def keep_memory() -> bool:
    """Set the two limits once per process; return whether glibc accepted them."""
    if platform.libc_ver()[0] != "glibc":
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(MMAP_THRESHOLD, LARGEST_BLOCK)) and bool(mallopt(TRIM_THRESHOLD, KEPT))
