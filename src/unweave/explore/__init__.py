"""The page in the browser: move the latents of a run and watch the image, compare runs, browse a study."""

from unweave.explore.exported import ExportedPage, export_page
from unweave.explore.serving import serve
from unweave.explore.shelf import Shelf, find_shelf

__all__ = ["ExportedPage", "Shelf", "export_page", "find_shelf", "serve"]
