"""Figures: one function that makes the table, and one that draws it and returns a matplotlib figure."""

from unweave.figures.catalogue import FIGURES, applicable_figures
from unweave.figures.contact_sheet import Sheet, draw_contact_sheet, make_order, make_sheet
from unweave.figures.data_distances import draw_distance_matrices
from unweave.figures.drawing.style import save_figure
from unweave.figures.figure import Figure
from unweave.figures.reconstructions import Reconstructions, draw_reconstructions, make_reconstructions
from unweave.figures.traversals import Traversals, draw_traversals, make_traversals

__all__ = [
    "FIGURES",
    "Figure",
    "Reconstructions",
    "Sheet",
    "Traversals",
    "applicable_figures",
    "draw_contact_sheet",
    "draw_distance_matrices",
    "draw_reconstructions",
    "draw_traversals",
    "make_order",
    "make_reconstructions",
    "make_sheet",
    "make_traversals",
    "save_figure",
]
