"""Configurations of BookSim 2 for the tests: one to begin with, and what becomes of a text."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
from common import REPOSITORY
from flitwork import _core
from flitwork.booksim.config_file import parse
from flitwork.booksim.mapping import specification
from flitwork.booksim.measure import Sample, plan, samples
from flitwork.booksim.phases import Phases
from flitwork.booksim.settings import Settings
from flitwork.planning.specification import to_json
from flitwork.results.result import run_plan

DATA = REPOSITORY / "tests" / "data" / "booksim"
MESH = DATA / "mesh8x8_dor_uniform_1flit.cfg"
SMALL = "topology = mesh; k = 4; routing_function = dor; num_vcs = 4; sample_period = 200; injection_rate = 0.1;"


def settings(text: str) -> Settings:
    return Settings(parse(text, "test.cfg"))


def spec(text: str) -> dict[str, Any]:
    return specification(settings(text))


def planned(text: str) -> dict[str, Any]:
    found = settings(text)
    resolved: dict[str, Any] = json.loads(plan(found, Phases.of(found), found["seed"]).json)["spec"]
    return resolved


def sample(text: str) -> Sample:
    return next(iter(samples(settings(text))))


def recorded(one: Sample) -> pd.DataFrame:
    """The packets of the same simulation, which is run again to record them."""
    spec = {**one.result.spec, "run": {**one.result.spec["run"], "record": {"packets": True}}}
    again = run_plan(_core.Plan(to_json(spec)))
    assert again.digest == one.result.digest and one.result.packets.empty
    return again.packets
