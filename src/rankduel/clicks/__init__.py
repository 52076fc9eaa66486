"""Click models: simulated users that click on the graded documents of a list."""

from rankduel.clicks.base import ClickModel
from rankduel.clicks.cascade import CascadeModel
from rankduel.clicks.position_based import PositionBased, RandomUser
from rankduel.clicks.users import CLICKS, almost_random, clicks_from, informational, navigational, perfect, random

__all__ = [
    "CLICKS",
    "CascadeModel",
    "ClickModel",
    "PositionBased",
    "RandomUser",
    "almost_random",
    "clicks_from",
    "informational",
    "navigational",
    "perfect",
    "random",
]
