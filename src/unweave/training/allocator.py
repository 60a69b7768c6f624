"""Memory that is kept: glibc told not to hand activations back to the system after every step.

Freeing and faulting in blocks of megabytes costs about a tenth of a step on a CPU. Without glibc nothing is done.
"""

from __future__ import annotations

import ctypes
import platform
from functools import cache

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # the names in malloc.h: M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
LARGEST_BLOCK = 32 * 2**20  # glibc takes no more
KEPT = 2**30


@cache
def keep_memory() -> bool:
    """Ask once for the whole process; whether the allocator agreed."""
    if platform.libc_ver()[0] != "glibc":
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(MMAP_THRESHOLD, LARGEST_BLOCK)) and bool(mallopt(TRIM_THRESHOLD, KEPT))
