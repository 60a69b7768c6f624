"""Representations: what score, figures, reports, the page and comparisons take.

A representation is a run, an encoder with data, or codes with factors and, where there are, images.
"""

from unweave.representation.interface import Over, Representation
from unweave.representation.kinds import Codes, Encoder, TrainedModel, offers_of

__all__ = ["Codes", "Encoder", "Over", "Representation", "TrainedModel", "offers_of"]
