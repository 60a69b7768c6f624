"""Encoders and decoders of the papers, with settings, and nets of your own."""

from unweave.nets.choice import NETS, NetSettings, build_net, name_of, net_settings_of
from unweave.nets.pair import Build, Net, Shape, Start, start_weights

__all__ = [
    "NETS",
    "Build",
    "Net",
    "NetSettings",
    "Shape",
    "Start",
    "build_net",
    "name_of",
    "net_settings_of",
    "start_weights",
]
