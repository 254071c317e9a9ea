"""Acquisition functions: what is worth asking. One file each."""

from poise.active.acquisition.margin import Margin
from poise.active.acquisition.norm import Norm
from poise.active.acquisition.random import Random
from poise.active.acquisition.registry import Acquisition, acquisitions, as_acquisition

__all__ = ["Acquisition", "Margin", "Norm", "Random", "acquisitions", "as_acquisition"]
