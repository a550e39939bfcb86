"""MSCCL XML → :class:`Program`; what is wrong is named by GPU, thread block and step.

The parser is expat of the standard library. Entities can be declared only in a DOCTYPE, which is refused before any of
it is read: so no text grows when it is read, and nothing else is opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.msccl.program import BUFFERS, COLLECTIVES, KINDS, PROTOCOLS, Gpu, Place, Program, Step, ThreadBlock

#: Other files that NCCL and MSCCL read.
OTHER_ROOTS = {
    "<msccl_algos>": "this is a list of files: read one of those that it names",
    "<system>": "this is a topology of NCCL",
    "<graphs>": "these are graphs of NCCL",
}
#: What stands in what.
_WITHIN = {"algo": "gpu", "gpu": "tb", "tb": "step"}
_MOST_NUMBER = 2**62
_MOST_GPUS = 65_536
_MOST_CHUNKS = 65_536
#: As many reductions into one chunk MSCCL carries out as one.
MOST_FUSED = 16
_SHOWN = 60


@dataclass
class _Element:
    name: str
    line: int
    attributes: dict[str, str]
    inner: list[_Element] = field(default_factory=list)


def read_program(text: bytes) -> Program:
    """The program that a text says."""
    algo = _Parser().parsed(text)
    gpus = algo.inner
    at = _Attributes(algo, "algo")
    count = at.number("ngpus", 1, _MOST_GPUS)
    if count != len(gpus):
        raise at.wrong("ngpus", count, f"the number of elements <gpu>, {len(gpus)}")
    collective = at.word("coll", COLLECTIVES)
    in_place = at.flag("inplace")
    chunks = at.number("nchunksperloop", 1, _MOST_CHUNKS)
    if collective in ("alltoall", "allgather", "reduce_scatter") and chunks % count:
        raise at.wrong("nchunksperloop", chunks, f"a multiple of the {count} GPUs for coll = {collective}")
    least = at.number("minBytes", 0, _MOST_NUMBER, default=0)
    most = at.number("maxBytes", 0, _MOST_NUMBER) if at.has("maxBytes") else None
    channels = at.number("nchannels", 1, _MOST_CHUNKS)
    rows = (chunks, count, collective, channels)
    return Program(
        name=at.text("name"),
        collective=collective,
        protocol=at.word("proto", PROTOCOLS),
        channels=channels,
        chunks=chunks,
        in_place=in_place,
        out_of_place=at.flag("outofplace") if at.has("outofplace") else not in_place,
        least_bytes=least,
        most_bytes=most,
        gpus=tuple(_gpu(element, number, rows) for number, element in _numbered(gpus, "gpu", "gpu", count)),
    )


class _Parser:
    """Elements of a text, with the lines they begin in."""

    def __init__(self) -> None:
        self.open: list[_Element] = []
        self.root: _Element | None = None
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters

    def parsed(self, text: bytes) -> _Element:
        try:
            self.parser.Parse(text, True)
        except expat.ExpatError as error:
            raise ConfigError(
                f"line {error.lineno}", expat.ErrorString(error.code), "XML", "is it an MSCCL file?"
            ) from None
        except (LookupError, ValueError) as error:
            if isinstance(error, ConfigError):
                raise
            raise ConfigError("line 1", str(error), "XML in UTF-8") from None
        assert self.root is not None
        return self.root

    def _doctype(self, *_: object) -> NoReturn:
        hint = "remove it: MSCCL files need none, and entities could make a small file endless"
        raise ConfigError(self._line, "<!DOCTYPE", "XML without a DOCTYPE", hint)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self.open:
            if name != "algo":
                raise ConfigError(
                    self._line,
                    f"<{name}>",
                    "<algo ...>, the element of an MSCCL program",
                    OTHER_ROOTS.get(f"<{name}>", ""),
                )
        else:
            outer = self.open[-1].name
            expected = _WITHIN.get(outer)
            if name != expected:
                may = f"<{expected}> in <{outer}>" if expected else f"nothing in <{outer}>"
                hint = "the later format of msccl-tools with <op> is not read" if name == "op" else ""
                raise ConfigError(self._line, f"<{_short(name)}>", may, hint)
        element = _Element(name, self.parser.CurrentLineNumber, attributes)
        if self.open:
            self.open[-1].inner.append(element)
        else:
            self.root = element
        self.open.append(element)

    def _end(self, _: str) -> None:
        self.open.pop()

    def _characters(self, text: str) -> None:
        if text.strip():
            raise ConfigError(self._line, _short(text.strip()), "elements with attributes, no text", "remove it")

    @property
    def _line(self) -> str:
        return f"line {self.parser.CurrentLineNumber}"


class _Attributes:
    """The attributes of an element, checked; ``path`` is how errors name it."""

    def __init__(self, element: _Element, path: str) -> None:
        self.path, self._given, self._line = path, element.attributes, element.line

    def has(self, name: str) -> bool:
        return name in self._given

    def wrong(self, name: str, value: object, expected: str, hint: str = "") -> ConfigError:
        return ConfigError(f"{self.path}.{name}", value, expected, hint or f"line {self._line}")

    def text(self, name: str) -> str:
        if name not in self._given:
            raise self.wrong(name, "nothing", f"an attribute {name}", f"line {self._line} lacks it")
        return self._given[name]

    def word(self, name: str, known: Iterable[str]) -> str:
        value = self.text(name)
        if value not in known:
            hint = f"{did_you_mean(value, known)} line {self._line}".strip()
            raise self.wrong(name, f'"{_short(value)}"', f"one of {', '.join(known)}", hint)
        return value

    def number(self, name: str, least: int, most: int, default: int | None = None, what: str = "") -> int:
        if default is not None and name not in self._given:
            return default
        value = self.text(name).strip()
        digits = value.removeprefix("-")
        # Not all that int() takes is a number in a file; a long one takes it for ever.
        number = int(value) if digits.isascii() and digits.isdigit() and len(digits) <= 20 else None
        if number is None or not least <= number <= most:
            expected = what or f"a whole number, {least} to {most:,}"
            raise self.wrong(name, number if number is not None else f'"{_short(value)}"', expected)
        return number

    def flag(self, name: str) -> bool:
        return bool(self.number(name, 0, 1, what="0 or 1"))


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _numbered(elements: list[_Element], name: str, path: str, count: int) -> Iterator[tuple[int, _Element]]:
    """The elements in the order of their numbers, of which each from 0 on is there once."""
    found: dict[int, _Element] = {}
    for element in elements:
        at = _Attributes(element, path)
        number = at.number("id", 0, count - 1, what=f"the number of a {name}, 0 to {count - 1}, each of them once")
        if number in found:
            hint = f"lines {found[number].line} and {element.line} have the same"
            raise ConfigError(f"{path}[{number}].id", number, f"each number of a {name} once", hint)
        found[number] = element
    yield from sorted(found.items())


def _gpu(element: _Element, number: int, rows: tuple[int, int, str, int]) -> Gpu:
    chunks, count, collective, channels = rows
    path = f"gpu[{number}]"
    at = _Attributes(element, path)
    sizes = {buffer: at.number(f"{buffer}_chunks", 0, _MOST_CHUNKS) for buffer in BUFFERS}
    parts = {"i": count if collective == "allgather" else 1, "o": count if collective == "reduce_scatter" else 1}
    for buffer, part in parts.items():
        if collective != "custom" and sizes[buffer] and sizes[buffer] * part != chunks:
            expected = f"{chunks // part} (nchunksperloop = {chunks}, coll = {collective}), or 0 if it is not used"
            raise at.wrong(f"{buffer}_chunks", sizes[buffer], expected)
    inner = list(_numbered(element.inner, "tb", f"{path}.tb", len(element.inner)))
    blocks = tuple(_block(one, Place(number, tb, 0), sizes, count, channels) for tb, one in inner)
    _check_connections(blocks, path)
    return Gpu(sizes, blocks)


def _block(element: _Element, place: Place, sizes: Mapping[str, int], count: int, channels: int) -> ThreadBlock:
    path = f"gpu[{place.gpu}].tb[{place.block}]"
    at = _Attributes(element, path)
    peers = {name: at.number(name, -1, count - 1, what=f"a GPU, 0 to {count - 1}, or -1") for name in ("send", "recv")}
    for name, peer in peers.items():
        if peer == place.gpu:
            raise at.wrong(name, peer, "another GPU", "a copy within a GPU is a step cpy")
    local = peers["send"] < 0 and peers["recv"] < 0
    what = f"a channel, 0 to {channels - 1} (nchannels = {channels})"
    channel = at.number("chan", -1 if local else 0, _MOST_CHUNKS if local else channels - 1, what=what)
    steps = []
    for number, one in enumerate(element.inner):
        steps.append(_step(_Attributes(one, str(place._replace(step=number))), number, peers, sizes))
    _check_reductions(steps, place)
    return ThreadBlock(peers["send"], peers["recv"], channel, tuple(steps))


def _step(at: _Attributes, number: int, peers: Mapping[str, int], sizes: Mapping[str, int]) -> Step:
    said = at.number("s", 0, _MOST_NUMBER)
    if said != number:
        raise at.wrong("s", said, f"{number}", "MSCCL counts steps in the order in which they stand: number them so")
    name = at.text("type")
    if name not in KINDS:
        later = "MSCCL reads it, but its threads end there" if name == "ra" else did_you_mean(name, KINDS)
        raise at.wrong("type", f'"{_short(name)}"', f"one of {', '.join(KINDS)}", later)
    does = KINDS[name]
    for used, peer in ((does.sends, "send"), (does.receives, "recv")):
        if used and peers[peer] < 0:
            raise at.wrong("type", name, f"a thread block with {peer} = a GPU", f"its thread block has {peer} = -1")
    count = at.number("cnt", 0 if name == "nop" else 1, _MOST_CHUNKS)
    ends = {}
    for end, used in (("src", does.reads), ("dst", does.writes)):
        buffer = at.word(f"{end}buf", BUFFERS)
        offset = at.number(f"{end}off", -_MOST_CHUNKS, 2 * _MOST_CHUNKS)
        if used and not 0 <= offset <= sizes[buffer] - count:
            chunks = f"{sizes[buffer]} chunks of buffer {buffer} ({buffer}_chunks)"
            raise at.wrong(
                f"{end}off", offset, f"{count} of the {chunks}", f"at least 0, at most {sizes[buffer] - count}"
            )
        ends[end] = (buffer, offset)
    block = at.number("depid", -1, _MOST_CHUNKS, what="the number of a thread block, or -1")
    step = at.number("deps", -1, _MOST_CHUNKS, what="the number of a step, or -1")
    if name == "nop" and block < 0:
        hint = "remove it: MSCCL does not count it, and takes the steps behind it for those before them"
        raise at.wrong("depid", block, "the thread block that a nop waits for", hint)
    return Step(name, ends["src"], ends["dst"], count, (block, step) if block >= 0 else None, at.flag("hasdep"))


def _check_reductions(steps: list[Step], place: Place) -> None:
    """Refuses what MSCCL would do otherwise: it makes one of reductions in a row into the same chunks."""
    chain: list[Step] = []
    for number, step in enumerate(steps):
        if step.kind == "nop":
            continue
        first = chain[0] if chain else None
        joins = (
            step.kind == "re" and first is not None and step.waits_for is None
            and (step.target, step.source[0]) == (first.target, first.source[0])
        )  # fmt: skip
        if joins and steps[number - 1].kind == "nop":
            where = f"{place._replace(step=number)}.depid"
            expected = "a wait of its own behind the nop"
            hint = "MSCCL makes one of the reductions around the nop, and skips its wait: wait before the first one"
            raise ConfigError(where, -1, expected, hint)
        if joins and first is not None and step.chunks != first.chunks:
            where = f"{place._replace(step=number)}.cnt"
            hint = "MSCCL makes one of these reductions, with one cnt"
            raise ConfigError(where, step.chunks, f"{first.chunks}", hint)
        if step.kind != "re":
            chain = []
        else:
            chain = [*chain, step] if joins else [step]
            if step.signals or len(chain) == MOST_FUSED:
                chain = []


def _check_connections(blocks: tuple[ThreadBlock, ...], path: str) -> None:
    """Refuses two thread blocks that send to, or receive from, the same GPU over one channel."""
    for name in ("send", "recv"):
        taken: dict[tuple[int, int], int] = {}
        for number, block in enumerate(blocks):
            peer = block.send if name == "send" else block.receive
            if peer < 0:
                continue
            first = taken.setdefault((peer, block.channel), number)
            if first != number:
                expected = f"one thread block with {name} = {peer} on channel {block.channel}"
                hint = f"tb {first} has it already: use another channel"
                raise ConfigError(f"{path}.tb[{number}].{name}", peer, expected, hint)
