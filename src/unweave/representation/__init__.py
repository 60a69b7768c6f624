"""Representations: what score, figures, reports, the page and comparisons take.

A representation is a run, an encoder with data, or codes with factors and, where there are, images.
"""

from unweave.representation.codes import Codes
from unweave.representation.encoder import Encoder
from unweave.representation.interface import Over, Representation
from unweave.representation.trained import TrainedModel, offers_of

__all__ = ["Codes", "Encoder", "Over", "Representation", "TrainedModel", "offers_of"]
