"""Acquisition functions: what is worth asking. One file each."""

from poise.active.acquisition.auto import Auto
from poise.active.acquisition.badge import Badge
from poise.active.acquisition.cal import CAL
from poise.active.acquisition.coreset import CoreSet
from poise.active.acquisition.coverage import Coverage
from poise.active.acquisition.dac import DAC
from poise.active.acquisition.dial import DiAL
from poise.active.acquisition.diffused import Diffused, diffused
from poise.active.acquisition.dropquery import DropQuery
from poise.active.acquisition.entropy import Entropy
from poise.active.acquisition.expected_error import ExpectedError
from poise.active.acquisition.hierarchical import Hierarchical
from poise.active.acquisition.kmeans_plus_plus import KMeansPlusPlus
from poise.active.acquisition.land import LAND
from poise.active.acquisition.largest_margin import LargestMargin
from poise.active.acquisition.least_confidence import LeastConfidence
from poise.active.acquisition.margin import Margin
from poise.active.acquisition.maxherding import MaxHerding
from poise.active.acquisition.mc import ModelChange, ModelChangeSubset, ModelChangeTruncated
from poise.active.acquisition.mcvopt import (
    ModelChangeVOpt,
    ModelChangeVOptSubset,
    ModelChangeVOptTruncated,
)
from poise.active.acquisition.norm import Norm
from poise.active.acquisition.probcover import ProbCover
from poise.active.acquisition.random import Random
from poise.active.acquisition.registry import (
    Acquisition,
    AcquisitionTraits,
    acquisitions,
    as_acquisition,
    traits_of,
    usual_tau,
)
from poise.active.acquisition.s2 import S2
from poise.active.acquisition.sigmaopt import SigmaOpt, SigmaOptSubset, SigmaOptTruncated
from poise.active.acquisition.typicality import Typicality
from poise.active.acquisition.typiclust import TypiClust
from poise.active.acquisition.uncertainty_herding import UncertaintyHerding
from poise.active.acquisition.vopt import VOpt, VOptSubset, VOptTruncated

__all__ = [
    "CAL",
    "DAC",
    "LAND",
    "S2",
    "Acquisition",
    "AcquisitionTraits",
    "Auto",
    "Badge",
    "CoreSet",
    "Coverage",
    "DiAL",
    "Diffused",
    "DropQuery",
    "Entropy",
    "ExpectedError",
    "Hierarchical",
    "KMeansPlusPlus",
    "LargestMargin",
    "LeastConfidence",
    "Margin",
    "MaxHerding",
    "ModelChange",
    "ModelChangeSubset",
    "ModelChangeTruncated",
    "ModelChangeVOpt",
    "ModelChangeVOptSubset",
    "ModelChangeVOptTruncated",
    "Norm",
    "ProbCover",
    "Random",
    "SigmaOpt",
    "SigmaOptSubset",
    "SigmaOptTruncated",
    "TypiClust",
    "Typicality",
    "UncertaintyHerding",
    "VOpt",
    "VOptSubset",
    "VOptTruncated",
    "acquisitions",
    "as_acquisition",
    "diffused",
    "traits_of",
    "usual_tau",
]
