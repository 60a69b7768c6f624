"""Data sets from files: downloads, arrays on disk, pictures, and tables of factors."""

import os
from pathlib import Path

import platformdirs


def data_folder(name: str = "") -> Path:
    """Return the folder of data set ``name`` in ``UNWEAVE_DATA``, by default in the platform's cache folder.

    Examples:
        >>> from unweave.data import data_folder
        >>> data_folder("dsprites").name
        'dsprites'
    """
    root = os.environ.get("UNWEAVE_DATA")
    return (Path(root).expanduser() if root else platformdirs.user_cache_path("unweave")) / name
