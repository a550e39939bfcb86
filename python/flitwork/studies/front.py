"""What a study's paper asked and what came out, in a reader's words: ``front.toml`` of its folder.

Numbers are not written there. ``{F4.torus}`` stands for our value of that claim, ``{F4.torus:paper}`` for the paper's,
``{F4.torus:verdict}`` for the verdict, ``{F4.torus:percent}`` for our value of a share
(``paper percent`` for the paper's). A sentence with a claim that was not measured is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.toml_tables import Table, read_toml, validate
from flitwork.studies.claims import Judged

_PLACE = re.compile(r"\{([^{}:]+)(?::(paper|verdict|percent|paper percent))?\}")


class Front(Table):
    """``asked``: the question, one or two sentences. ``found``: sentences with claims in braces."""

    asked: str = ""
    found: list[str] = []

    @classmethod
    def load(cls, folder: Path) -> Front:
        """The front of a study's folder; empty where it has none."""
        path = folder / "front.toml"
        return validate(cls, read_toml(path)) if path.is_file() else cls()

    def filled_in(self, claims: Sequence[Judged]) -> list[str]:
        """The sentences, with the values of these claims in their places.

        A place that no claim has is a :class:`~flitwork.base.errors.ConfigError`.
        """
        by_id = {claim.id: claim for claim in claims}
        sentences = []
        for i, sentence in enumerate(self.found):
            named = [place[0] for place in _PLACE.findall(sentence)]
            for name in named:
                if name not in by_id:
                    raise ConfigError(f"found[{i}]", f'"{name}"', "a claim of the study", did_you_mean(name, by_id))
            if all(by_id[name].ours is not None for name in named):
                sentences.append(_PLACE.sub(lambda place: _value(by_id[place[1]], place[2]), sentence))
        return sentences


def _value(claim: Judged, what: str | None) -> str:
    if what == "verdict":
        return claim.verdict
    words = (what or "").split()
    value = claim.paper if "paper" in words else claim.ours
    if isinstance(value, bool):
        return "yes" if value else "no"
    if "percent" in words and value is not None:
        return f"{100 * value:.3g} %"
    return f"{value:.3g}" if value is not None and abs(value) < 1000 else f"{value:,.0f}"
