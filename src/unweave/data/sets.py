"""The data sets by name."""

from __future__ import annotations

from unweave.data.cars3d import Cars3D
from unweave.data.dsprites import DSprites
from unweave.data.dsprites_pictures import DSpritesPictures
from unweave.data.dsprites_variants import ColorDSprites, NoisyDSprites, ScreamDSprites
from unweave.data.interface.factor_data import FactorData
from unweave.data.mpi3d import MPI3DMulti, MPI3DReal, MPI3DRealComplex, MPI3DRealistic, MPI3DToy
from unweave.data.natural import Natural
from unweave.data.nvidia3d import Falcor3D, Isaac3D
from unweave.data.rooms3d import Rooms3D
from unweave.data.shapes3d import Shapes3D
from unweave.data.shapes3d_drawn import Shapes3DDrawn
from unweave.data.smallnorb import SmallNORB
from unweave.data.three_dots import FourDots, ThreeDots
from unweave.data.xyobject import XYObject, XYObjectShaded
from unweave.data.xysquares import XYSquares

SETS: dict[str, type[FactorData]] = {
    data.name: data
    for data in (
        DSprites,
        ColorDSprites,
        NoisyDSprites,
        ScreamDSprites,
        DSpritesPictures,
        ThreeDots,
        FourDots,
        XYSquares,
        XYObject,
        XYObjectShaded,
        Rooms3D,
        Shapes3DDrawn,
        Natural,
        Shapes3D,
        Cars3D,
        SmallNORB,
        MPI3DToy,
        MPI3DRealistic,
        MPI3DReal,
        MPI3DRealComplex,
        MPI3DMulti,
        Falcor3D,
        Isaac3D,
    )
}
