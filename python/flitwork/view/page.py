"""From contents to one HTML file: everything is inside it, numbers packed by gzip, which browsers unpack themselves."""

from __future__ import annotations

import base64
import gzip
import json
import re
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from flitwork import __version__
from flitwork.base.errors import ConfigError
from flitwork.base.output_files import writable_file, write_atomically

if TYPE_CHECKING:
    # What draws takes a second to import: commands that draw nothing start without it.
    from flitwork.view.contents import Contents

#: In the order in which they are run.
_SCRIPTS = (
    *("uPlot.iife.min.js", "data.js", "look.js", "network.js", "pointer.js"),
    *("charts.js", "detail.js", "space_time.js", "paper.js", "main.js"),
)
_STYLES = ("uPlot.min.css", "page.css")
#: Of 1 to 9: half the time of the usual 6, and a few per cent more bytes.
_EFFORT = 5
#: Arrays begin at such places, as typed arrays ask for.
_ALIGNED = 8


def check_place(path: str | Path, overwrite: bool, name: str = "path") -> Path:
    """The place of a file that does not exist yet and can be written to, before anything is simulated for it.

    ``name`` is the argument or the option that says it.
    """
    path = Path(path)
    if path.suffix.lower() != ".html":
        raise ConfigError(name, str(path), "a file that ends in .html", f"{path}.html")
    return writable_file(path, name, overwrite)


def write(path: Path, contents: Contents) -> Path:
    """Writes the page, at once or not at all."""
    arrays, packed = _packed(contents.arrays)
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("flitwork.view", "parts"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    text = found.get_template("page.html").render(
        title=contents.title,
        version=__version__,
        styles=[_part(name) for name in _STYLES],
        scripts=[_part(name) for name in _SCRIPTS],
        licence=_part("uPlot-LICENSE.txt"),
        about=_json({**contents.about, "arrays": arrays, "library": _library()}),
        packed=packed,
    )
    return write_atomically(path, lambda file: file.write(text.encode()))


def _part(name: str) -> Markup:
    return Markup(resources.files("flitwork.view").joinpath("parts", name).read_text(encoding="utf-8"))


def _library() -> str:
    """Name and version of the library that draws curves, as its first line says."""
    found = re.search(r"(\w+) \(v([\d.]+)\)", _part(_SCRIPTS[0]))
    assert found, "the file of the library says its name and version"
    return " ".join(found.groups())


def _json(value: Any) -> Markup:
    """JSON that may stand in a script of a page, whatever text is in it."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def _packed(arrays: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Where each array is, and all of them, one after the other."""
    where, parts, at = {}, [], 0
    for name, values in arrays.items():
        raw = values.astype(values.dtype.newbyteorder("<")).tobytes()
        where[name] = {"type": values.dtype.name, "shape": values.shape, "at": at}
        parts += [raw, b"\0" * (-len(raw) % _ALIGNED)]
        at += len(raw) + (-len(raw) % _ALIGNED)
    return where, base64.b64encode(gzip.compress(b"".join(parts), _EFFORT, mtime=0)).decode()
