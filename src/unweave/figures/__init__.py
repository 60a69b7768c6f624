"""Figures: one function makes the numbers or images of a figure, another draws them."""

from unweave.figures.contact_sheet import Sheet, draw_contact_sheet, make_sheet
from unweave.figures.distances import draw_distance_matrices

__all__ = ["Sheet", "draw_contact_sheet", "draw_distance_matrices", "make_sheet"]
