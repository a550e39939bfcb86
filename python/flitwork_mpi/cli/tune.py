"""``flitwork tune``: files of rules from measurements or simulations, and what such a file selects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from flitwork.base.errors import ConfigError, did_you_mean
from flitwork.base.libraries import pd
from flitwork.base.output_files import writable_file, write_atomically, write_csv
from flitwork.cli.network_file import network_file
from flitwork.cli.options import AsJson, Jobs, Overwrite
from flitwork.cli.output import escape, guarded, note, print_json, print_table, say
from flitwork.cli.progress import watcher

from flitwork_mpi import tune
from flitwork_mpi.tune.derive import goes_by_size

_TARGETS = ", ".join(tune.TARGETS)


@guarded
def rules(
    measurements: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[[ALGORITHM=]FILE]...",
            help="Tables of `flitwork mpi bench`, or what OSU's or Intel's benchmarks print; or --machine.",
            show_default=False,
        ),
    ] = None,
    machine: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="Simulate this machine: a table `network`, and perhaps `host`, `run`."),
    ] = None,
    message_bytes: Annotated[
        str | None, typer.Option(metavar="SIZES", help="--machine: bytes to one peer, with commas: 256,4096,65536.")
    ] = None,
    ranks_per_server: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Ranks on a server, with commas [default: all in the table].")
    ] = None,
    ranks: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS", help="Only these, with commas; of a text of OSU's, which does not say it, the number."
        ),
    ] = None,
    algorithms: Annotated[str | None, typer.Option(metavar="NAMES", help="Only these algorithms, with commas.")] = None,
    operations: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="--machine: alltoall, alltoallv, alltoallw, with commas [default: alltoall]."
        ),
    ] = None,
    target: Annotated[
        str, typer.Option("--for", metavar="NAME", help=f"Who reads the rules: {_TARGETS}.")
    ] = "flitwork",
    base: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="--for mpich: its libmpi.so, whose rules of other collectives are kept."),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(min=0, help="What is slower by this part counts as a tie, for fewer rules: 0.02.")
    ] = 0.0,
    extrapolate: Annotated[
        bool,
        typer.Option(
            "--extrapolate", help="Rules for larger and smaller messages and more ranks than were measured, too."
        ),
    ] = False,
    seeds: Annotated[int, typer.Option(min=1, help="--machine: each simulation runs with so many seeds.")] = 1,
    jobs: Jobs = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the rules here [default: print them].")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="--machine: store the simulated times, too.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Write rules: for each number of ranks and message size, the fastest algorithm that was measured or simulated.

    Times whose intervals meet are ties; of those, what needs fewer and simpler rules is taken. Beyond the measured
    message sizes and numbers of ranks the MPI library chooses, unless --extrapolate is given.

    Examples:

      flitwork tune measurements.csv --for openmpi -o rules.conf

      flitwork tune --ranks 64 openmpi:linear=osu_1.txt openmpi:pairwise=osu_2.txt --for openmpi

      flitwork tune --machine machine.toml --message-bytes 64,1024,16384 --ranks-per-server 1,4 -o rules.txt
    """
    if target not in tune.TARGETS:
        raise ConfigError("--for", target, f"one of {_TARGETS}")
    for option, file in (("--output", output), ("--save", save)):
        if file:
            writable_file(file, option, overwrite)
    counts, servers = numbers("--ranks", ranks), numbers("--ranks-per-server", ranks_per_server)
    names = [name.strip() for name in algorithms.split(",") if name.strip()] if algorithms is not None else None
    if (not measurements) == (machine is None):
        given = "both" if machine else "nothing"
        raise ConfigError("MEASUREMENTS", given, "a table of measurements, or --machine FILE.toml", "one of the two")
    if machine is not None:
        network, host, run = network_file(machine, "--machine")
        sizes = numbers("--message-bytes", message_bytes)
        if not sizes:
            raise ConfigError("--message-bytes", "nothing", "sizes with commas", "for example 256,4096,65536")
        table = tune.simulated(
            network, sizes, host=host or None, ranks_per_server=servers, algorithms=names, seeds=seeds, jobs=jobs,
            operations=[name.strip() for name in (operations or "alltoall").split(",")],
            watcher=watcher(patient=True), **run,
        )  # fmt: skip
        if save:
            write_csv(table, save)
    else:
        for option, value in (("--message-bytes", message_bytes), ("--save", save), ("--operations", operations)):
            if value is not None:
                raise ConfigError(option, value, "--machine with it")
        table = pd.concat([_read(word, counts, servers) for word in measurements or []], ignore_index=True)
        table = _only(table, "ranks_per_server", servers)
        table = table if names is None else table[[str(text).split()[0] in names for text in table["algorithm"]]]
        if not len(table):
            raise ConfigError("--algorithms", algorithms, "an algorithm that was measured")
    table = _only(table, "ranks", counts)
    found = tune.rules(table, target, tolerance=tolerance, extrapolate=extrapolate)
    for operation in [name for name in tune.OPERATIONS if name in {*table["operation"]}]:
        if not extrapolate and not goes_by_size(operation, target):
            note(f"no rules for {operation}: {target} takes one for all message sizes, measured or not (--extrapolate)")
    comment = _comment(table, [str(machine)] if machine else measurements or [], tolerance, extrapolate)
    text = tune.written(found, target, comment, base=base)
    if output is None:
        typer.echo(text, nl=False)
        return
    write_atomically(output, lambda file: file.write(text.encode()))
    note(f"{len(found)} rules in {escape(str(output))}")


def numbers(option: str, text: str | None) -> list[int] | None:
    """Whole numbers with commas between them."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise ConfigError(option, text, "whole numbers with commas between them", "for example 1,4,8")
    return sorted({int(part) for part in parts})


def _only(table: pd.DataFrame, column: str, wanted: list[int] | None) -> pd.DataFrame:
    if wanted is None:
        return table
    have = sorted({int(number) for number in table[column]})
    if missing := [number for number in wanted if number not in have]:
        expected = f"numbers that were measured: {', '.join(map(str, have))}"
        raise ConfigError(f"--{column.replace('_', '-')}", missing[0], expected)
    return table[table[column].isin(wanted)]


def _read(word: str, ranks: list[int] | None, servers: list[int] | None) -> pd.DataFrame:
    """The measurements of a file; before it may stand which algorithm they are of."""
    algorithm, mark, name = word.partition("=")
    labelled = mark and not Path(word).exists()
    return tune.read_measurements(
        name if labelled else word,
        algorithm=algorithm if labelled else "library",
        ranks=ranks[0] if ranks and len(ranks) == 1 else None,
        ranks_per_server=servers[0] if servers and len(servers) == 1 else 1,
    )


def _comment(table: pd.DataFrame, sources: Sequence[str], tolerance: float, extrapolate: bool) -> str:
    """What stands at the top of a file: where its rules come from."""
    libraries = sorted(
        {f"{mpi} {version}".strip() for mpi, version in zip(table["mpi"], table["version"], strict=True)}
    )
    counts = ", ".join(map(str, sorted({int(number) for number in table["ranks"]})))
    files = ", ".join(Path(word).name for word in sources)
    lines = [
        f"Rules by flitwork tune from {files}: {', '.join(filter(None, libraries)) or 'measured'}",
        f"{counts} ranks, {table['bytes'].min()} to {table['bytes'].max()} bytes to each peer",
    ]
    beyond = "rules marked `extrapolated` are for what is beyond these"
    lines.append(beyond if extrapolate else "beyond these the MPI library chooses")
    return "\n".join(lines + ([f"ties within {tolerance:g} of the fastest"] if tolerance else []))


@guarded
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of rules.", show_default=False)],
    ranks: Annotated[int | None, typer.Option(min=1, help="Ranks of the communicator.")] = None,
    message_bytes: Annotated[
        str | None, typer.Option("--bytes", metavar="SIZES", help="Bytes to one peer, with commas.")
    ] = None,
    ranks_per_server: Annotated[int | None, typer.Option(min=1, help="Ranks on a server [default: any].")] = None,
    operation: Annotated[str, typer.Option(metavar="NAME", help="The operation.")] = "alltoall",
    format: Annotated[
        str | None, typer.Option("--for", metavar="NAME", help=f"Its format [default: recognised]: {_TARGETS}.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read a file of rules and say what is wrong in it, or what it says; with --ranks and --bytes, what it selects.

    Rules that are extrapolated are a warning.

    Examples:

      flitwork tune check rules.txt

      flitwork tune check rules.conf --ranks 8 --bytes 64,4096
    """
    found = tune.read_rules(file, format)
    sizes = numbers("--bytes", message_bytes)
    if (ranks is None) != (sizes is None):
        missing = "--bytes" if sizes is None else "--ranks"
        raise ConfigError(missing, "nothing", f"{missing} beside the other one", "--ranks 8 --bytes 4096")
    if operation not in tune.OPERATIONS:
        near = did_you_mean(operation, tune.OPERATIONS)
        raise ConfigError("--operation", operation, f"one of {', '.join(tune.OPERATIONS)}", near)
    if ranks is None:
        if ranks_per_server is not None:
            raise ConfigError("--ranks-per-server", ranks_per_server, "--ranks and --bytes with it")
        _show(found, as_json)
        return
    selected = [(size, found.select(tune.Asked(operation, ranks, size, ranks_per_server))) for size in sizes or []]
    rows = [
        {
            "bytes": size, "algorithm": one.algorithm, "line": one.line or None, "extrapolated": one.extrapolated,
            "why": one.why,
        }
        for size, one in selected
    ]  # fmt: skip
    _warn([size for size, one in selected if one.extrapolated], len(selected), "message sizes")
    if as_json:
        print_json({"format": found.format, "operation": operation, "ranks": ranks, "selected": rows})
        return
    print_table(
        ("bytes", "algorithm", "line", "extrapolated", "why"),
        [list(row.values()) for row in rows],
        f"{operation} on {ranks} ranks",
    )


def _warn(extrapolated: Sequence[int], every: int, what: str) -> None:
    if extrapolated:
        note(
            f"[yellow]warning[/]: {len(extrapolated)} of {every} {what} are beyond what was measured: the algorithm is "
            "extrapolated"
        )


def _show(found: tune.TuningFile, as_json: bool) -> None:
    rows = found.listing()
    _warn([row["line"] for row in rows if row["extrapolated"]], len(rows), "rules")
    if as_json:
        print_json({"format": found.format, "rules": rows})
    elif rows:
        print_table([*rows[0]], [list(row.values()) for row in rows])
    if not as_json:
        say(f"{found.format}: {len(rows)} rules, no errors")
