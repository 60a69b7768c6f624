"""Figures: one function that makes the table, and one that draws it and returns a matplotlib figure."""

from unweave.figures.contact_sheet import Sheet, draw_contact_sheet, make_sheet
from unweave.figures.distances import draw_distance_matrices
from unweave.figures.reconstructions import Reconstructions, draw_reconstructions, make_reconstructions
from unweave.figures.traversals import Traversals, draw_traversals, make_traversals

__all__ = [
    "Reconstructions",
    "Sheet",
    "Traversals",
    "draw_contact_sheet",
    "draw_distance_matrices",
    "draw_reconstructions",
    "draw_traversals",
    "make_reconstructions",
    "make_sheet",
    "make_traversals",
]
