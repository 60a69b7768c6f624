"""The page in the browser: move the latents of a run and watch the image, compare runs, browse a study."""

from unweave.explore.offline_page import ExportedPage, export_page
from unweave.explore.run_selection import Selection, find_selection
from unweave.explore.server import serve

__all__ = ["ExportedPage", "Selection", "export_page", "find_selection", "serve"]
