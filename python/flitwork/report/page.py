"""From sections to one HTML file."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from flitwork import __version__
from flitwork.base.errors import ConfigError
from flitwork.base.output_files import write_atomically
from flitwork.report.section import Section, Shown
from flitwork.studies.words import (
    SCORE_HEADERS,
    ours_in_words,
    paper_in_words,
    score_cells,
    scores_in_words,
    statement_in_words,
    verdict_in_words,
    whose_in_words,
)

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}


def write(path: str | Path, sections: Sequence[Section], title: str = "flitwork report") -> Path:
    """Writes a report, at once or not at all, and gives its path. A file that is there is replaced.

    The file needs no other and no network. A report without sections is a :class:`~flitwork.base.errors.ConfigError`.
    """
    if not sections:
        raise ConfigError("report", "no results", "at least one study or result", "flitwork reproduce or run first")
    path = Path(path)
    if path.suffix != ".html":
        raise ConfigError("report", str(path), "a file that ends in .html", f"{path}.html")
    text = (
        _environment()
        .get_template("page.html")
        .render(
            title=title, sections=sections, version=__version__, style=_part("page.css"), script=_part("page.js"),
            score_headers=SCORE_HEADERS,
        )
    )  # fmt: skip
    return write_atomically(path, lambda file: file.write(text.encode()))


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("flitwork.report", "parts"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    found.filters.update(
        picture=_picture,
        packed=_packed,
        as_text=_as_text,
        paper=paper_in_words,
        ours=ours_in_words,
        whose=whose_in_words,
        statement=statement_in_words,
        verdict=verdict_in_words,
        score_cells=score_cells,
        scores=scores_in_words,
    )
    return found


def _part(name: str) -> Markup:
    from markupsafe import Markup

    return Markup(resources.files("flitwork.report").joinpath("parts", name).read_text(encoding="utf-8"))


def _picture(shown: Shown) -> str:
    return _data(_TYPES[shown.picture.suffix], shown.picture.read_bytes())


def _packed(section: Section) -> str:
    return _data("application/gzip", section.packed)


def _as_text(numbers: str) -> str:
    return _data("text/csv", numbers.encode())


def _data(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
