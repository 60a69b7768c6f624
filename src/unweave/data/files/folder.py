"""The folder in which data files and drawn grids are stored."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def data_folder(name: str = "") -> Path:
    """Return the folder of data set ``name`` in ``UNWEAVE_DATA``, by default in the platform's cache folder."""
    root = os.environ.get("UNWEAVE_DATA")
    return (Path(root).expanduser() if root else platformdirs.user_cache_path("unweave")) / name
