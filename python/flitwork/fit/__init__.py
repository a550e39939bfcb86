"""Fits of measured or simulated times: models over message size and ranks, how well they fit, what they predict.

>>> found = fw.fit_model("times.csv", "total_exchange", operation="alltoall")
>>> found.parameters["t0"].value, found.r_squared, found.warnings
"""

from flitwork.base.extensions import needs
from flitwork.fit.best import BestRanks, best_ranks
from flitwork.fit.compare import Comparison, compare_models
from flitwork.fit.draw import draw_fit, save_pictures
from flitwork.fit.fitting import fit, fit_model
from flitwork.fit.models import MODELS
from flitwork.fit.predicting import predict
from flitwork.fit.result import Fit, Parameter, Warned
from flitwork.fit.stored import read_fits, save_fits

needs("fit")

__all__ = [
    "MODELS",
    "BestRanks",
    "Comparison",
    "Fit",
    "Parameter",
    "Warned",
    "best_ranks",
    "compare_models",
    "draw_fit",
    "fit",
    "fit_model",
    "predict",
    "read_fits",
    "save_fits",
    "save_pictures",
]
