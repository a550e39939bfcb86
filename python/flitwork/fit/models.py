"""The models, a row each: times of messages and of collectives over message size, ranks and ranks per server."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.libraries import np, pd
from flitwork.fit.model import Array, Coefficient, Derived, Model, Variant, column, messages

_MAKINO = "Makino and Shibusawa, communication operations of the AP1000 (1997)"
_SLOPE = Coefficient("a", "s/B", "time per byte")
_AT_NONE = Coefficient("t0", "s", "time at 0 ranks, where the line is extended to")
_START = Coefficient("t0", "s", "start-up")
_HALF = Derived("half_bytes", "B", "message size of half the bandwidth", "t0", "a")
#: Different sizes on either side of a break, at least: two points are on a line whatever they are.
_SIZES_PER_LINE = 3


def _with_constant(x: Array) -> Array:
    return np.column_stack([x, np.ones(len(x))])


def _exchange(table: pd.DataFrame, _: Variant) -> Array:
    others = column(table, "ranks") - 1
    return np.column_stack([column(table, "bytes") * others, others])


def _loggp_terms(variant: Variant) -> Sequence[Coefficient]:
    latency = Coefficient("L_2o", "s", "latency and overhead of sender and receiver, L + 2o")
    gap = Coefficient("g", "s", "gap between two messages of a rank")
    per_byte = Coefficient("G", "s/B", "gap per byte")
    return (latency, gap, per_byte) if variant["gap"] else (latency, per_byte)


def _loggp(table: pd.DataFrame, variant: Variant) -> Array:
    sent = messages(table)
    bytes_behind = sent * np.maximum(column(table, "bytes") - 1, 0)
    ones = np.ones(len(sent))
    return np.column_stack([ones, sent - 1, bytes_behind] if variant["gap"] else [ones, bytes_behind])


def _loggp_variants(table: pd.DataFrame) -> Sequence[Variant]:
    # As many messages in all rows say nothing of the gap between two.
    return ({"gap": len(np.unique(messages(table))) > 1},)


def _max_rate_terms(variant: Variant) -> Sequence[Coefficient]:
    start = Coefficient("t0", "s", "start-up of a message")
    rank = Coefficient("rank_rate", "B/s", "rate of one rank, R_C", rate=True)
    server = Coefficient("server_rate", "B/s", "rate of a server's adapter, R_N", rate=True)
    return {"free": (start, rank), "shared": (start, server), "both": (start, rank, server)}[variant["limit"]]


def _max_rate(table: pd.DataFrame, variant: Variant) -> Array:
    """Up to ``full_at`` ranks on a server each has its own rate; more of them share the adapter's."""
    sent, ranks, limit = messages(table), column(table, "ranks_per_server"), variant["limit"]
    size = sent * column(table, "bytes")
    if limit == "free":
        return np.column_stack([sent, size])
    if limit == "shared":
        return np.column_stack([sent, size * np.maximum(ranks, variant["full_at"])])
    below = ranks <= variant["full_at"]
    return np.column_stack([sent, np.where(below, size, 0.0), np.where(below, 0.0, size * ranks)])


def _max_rate_variants(table: pd.DataFrame) -> Sequence[Variant]:
    numbers = sorted({float(number) for number in table["ranks_per_server"]})
    inner = [{"limit": "both", "full_at": low, "next": high} for low, high in itertools.pairwise(numbers)]
    shared = [{"limit": "shared", "full_at": number, "or_fewer": number == numbers[0]} for number in numbers[:-1]]
    return ({"limit": "free"}, *shared, *inner)


def _max_rate_possible(found: Array, variant: Variant) -> bool:
    """The time is the longer of the two: each number of ranks is on the side where that holds."""
    if variant["limit"] != "both":
        return True
    per_rank, per_server = float(found[1]), float(found[2])
    return bool(variant["full_at"] * per_server <= per_rank <= variant["next"] * per_server)


def _max_rate_says_less(variant: Variant) -> bool:
    """A limit that is not reached, or a rate of one rank that never counts: of both rates only one is known."""
    return variant["limit"] == "free" or bool(variant.get("or_fewer"))


def _max_rate_settled(found: Array, variant: Variant) -> Variant:
    """The number of ranks that fills the adapter is no longer one of those measured, but what both rates say."""
    return {"limit": "both", "full_at": float(found[1] / found[2])} if variant["limit"] == "both" else variant


def _segmented_terms(_: Variant) -> Sequence[Coefficient]:
    return tuple(
        Coefficient(f"{name}_{one.name}", one.unit, f"{one.about} {where}")
        for name, where in (("short", "up to the break"), ("long", "above it"))
        for one in (_SLOPE, _START)
    )


def _segmented(table: pd.DataFrame, variant: Variant) -> Array:
    size = column(table, "bytes")
    short = size <= variant["short_up_to"]
    line = _with_constant(size)
    return np.column_stack([line * short[:, None], line * ~short[:, None]])


def _segmented_variants(table: pd.DataFrame) -> Sequence[Variant]:
    sizes = np.unique(column(table, "bytes"))
    return tuple(
        {"short_up_to": float(sizes[i - 1]), "long_from": float(sizes[i])}
        for i in range(_SIZES_PER_LINE, len(sizes) - _SIZES_PER_LINE + 1)
    )


_ALL = (
    Model(
        "linear_bytes",
        "t = a·m + t0",
        "a line over the message size m",
        _MAKINO,
        ("bytes",),
        lambda _: (_SLOPE, _START),
        lambda table, _: _with_constant(column(table, "bytes")),
        derived=(_HALF,),
    ),
    Model(
        "linear_ranks",
        "t = a·n + t0",
        "a line over the number of ranks n",
        _MAKINO,
        ("ranks",),
        lambda _: (Coefficient("a", "s/rank", "time per rank"), _AT_NONE),
        lambda table, _: _with_constant(column(table, "ranks")),
    ),
    Model(
        "total_exchange",
        "t = (m/n²·a + t0)(n-1)",
        "total exchange: n - 1 messages one after the other; m bytes in all, m/n² in each message",
        _MAKINO,
        ("bytes", "ranks"),
        lambda _: (_SLOPE, Coefficient("t0", "s", "start-up of a message")),
        _exchange,
        derived=(_HALF,),
    ),
    Model(
        "hockney",
        "t = t0 + m/r",
        "start-up and asymptotic bandwidth",
        "Hockney, The communication challenge for MPP, Parallel Computing 20 (1994)",
        ("bytes",),
        lambda _: (Coefficient("r", "B/s", "asymptotic bandwidth", rate=True), _START),
        lambda table, _: _with_constant(column(table, "bytes")),
        derived=(Derived("half_bytes", "B", "message size of half the bandwidth", "t0", "r"),),
    ),
    Model(
        "loggp",
        "t = L + 2o + (k-1)·g + k(m-1)·G",
        "k messages one after the other: 1 of a point-to-point message, n - 1 of an exchange, a scatter, a gather",
        "Alexandrov, Ionescu, Schauser and Scheiman, LogGP, SPAA (1995)",
        ("bytes", "ranks"),
        _loggp_terms,
        _loggp,
        _loggp_variants,
        needs_messages=True,
    ),
    Model(
        "max_rate",
        "t = k·(t0 + m·max(1/R_C, s/R_N))",
        "s ranks of a server share its adapter; k messages one after the other, as in loggp",
        "Gropp, Olson and Samfass, Modeling MPI communication performance on SMP nodes, EuroMPI (2016)",
        ("bytes", "ranks", "ranks_per_server"),
        _max_rate_terms,
        _max_rate,
        _max_rate_variants,
        _max_rate_possible,
        _max_rate_settled,
        _max_rate_says_less,
        searched=lambda variant: int(variant["limit"] == "shared"),
        derived=(Derived("full_at_ranks", "ranks/server", "ranks that fill the adapter", "rank_rate", "server_rate"),),
        needs_messages=True,
        needs="at least 3 points, and different numbers of bytes",
    ),
    Model(
        "segmented",
        "t = a1·m + t1 up to a break, a2·m + t2 above it",
        "two protocols, such as eager and rendezvous; the break is found",
        "Two lines; the break with the least sum of squares",
        ("bytes",),
        _segmented_terms,
        _segmented,
        _segmented_variants,
        searched=lambda _: 1,
        needs="at least 3 different sizes on either side of the break, 6 in all",
    ),
)
#: The models by name.
MODELS: Mapping[str, Model] = {model.name: model for model in _ALL}


def model_named(name: str) -> Model:
    """The model of that name, or an error that lists all."""
    if name not in MODELS:
        raise ConfigError("model", name, f"one of {', '.join(MODELS)}", did_you_mean(str(name), MODELS))
    return MODELS[name]
