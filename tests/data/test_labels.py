from __future__ import annotations

from unweave.data.interface.labels import label_of


def test_own_data_is_called_by_its_file_or_folder() -> None:
    assert label_of("dsprites", None) == "dsprites"
    assert label_of("own", {"path": "/a/bars.npy"}) == "bars"
    assert label_of("own", {"path": "/a/photos.v2"}) == "photos.v2"
    assert label_of("own", None) == "own images"
