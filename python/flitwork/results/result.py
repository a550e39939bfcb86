"""What a simulation gave: attributes, pandas tables with units in the column names, and one Parquet file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flitwork import _core
from flitwork.base import parquet
from flitwork.base.errors import ConfigError, ResultFileError
from flitwork.base.input_files import because
from flitwork.base.libraries import np, pd
from flitwork.base.physical import Units, with_units
from flitwork.planning.bound import Bound
from flitwork.results import result_file
from flitwork.results.columns import RESULT_COLUMNS, STALL_REASONS, WAIT_REASONS, row_of
from flitwork.results.histogram import Histogram
from flitwork.results.reordering import reordered

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Cycle number of what had not happened when the run ended.
NEVER = 2**64 - 1
#: What is recorded of a packet, in the order of the simulator's columns; a run without packets has empty ones.
OF_A_PACKET = {
    "src": "uint32",
    "sequence": "uint32",
    "dst": "uint32",
    "flits": "uint32",
    "message": "uint32",
    "injection_port": "uint32",
    "minus": "uint8",
    "wraps": "uint8",
    "hops": "uint32",
    "created_cycle": "uint64",
    "injected_cycle": "uint64",
    "arrived_cycle": "uint64",
    "background": "bool",
}


def _or_missing(values: NDArray[Any], nothing: int) -> pd.arrays.IntegerArray:
    """A copy of whole numbers of which ``nothing`` stands for none (pandas' Int64)."""
    return pd.arrays.IntegerArray(values.astype(np.int64), values == nothing)


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of one simulation.

    ``plan`` is the resolved specification with what follows from it, ``values`` what the simulator summed up and
    ``columns`` its long arrays. The tables :attr:`summary`, :attr:`packets`, :attr:`channels`, :attr:`terminals`,
    :attr:`stalls` are made from them when they are asked for.
    """

    plan: Mapping[str, Any]
    values: Mapping[str, Any]
    columns: Mapping[str, np.ndarray[Any, Any]]
    bound: Bound
    wall_seconds: float
    #: Tables of numbers that the specification names: a schedule, a trace, a matrix, detours.
    tables: Sequence[_core.Table] = ()

    @property
    def spec(self) -> dict[str, Any]:
        """The resolved specification: every default is filled in."""
        return dict(self.plan["spec"])

    @property
    def plan_hash(self) -> str:
        """Fingerprint of the resolved specification and the version of flitwork."""
        return str(self.plan["hash"])

    @property
    def version(self) -> str:
        """Version of flitwork that ran the simulation."""
        return str(self.plan["version"])

    @property
    def seed(self) -> int:
        """Seed of all random choices."""
        return int(self.plan["spec"]["run"]["seed"])

    @property
    def digest(self) -> str:
        """Fingerprint of every packet's arrival: equal for equal plans on any machine."""
        return str(self.values["digest"])

    @property
    def kernel(self) -> str:
        """The kernel that ran: ``flit`` (flit by flit) or ``packet`` (by whole packets, with the same result)."""
        return str(self.values.get("kernel", "flit"))

    @property
    def kernel_note(self) -> str | None:
        """The first condition of the packet kernel that the plan does not meet; ``None`` where it meets all of them."""
        note = self.values.get("kernel_note")
        return None if note is None else str(note)

    @property
    def threads(self) -> int:
        """The threads that shared out the network among them; the result is the same for any number."""
        return int(self.values.get("threads", 1))

    @property
    def threads_why(self) -> str | None:
        """Why it was one thread where ``run.threads`` asked for more; else ``None``."""
        why = self.values.get("threads_why")
        return None if why is None else str(why)

    @property
    def status(self) -> str:
        """How the run ended.

        ``complete``; ``saturated`` where the source queues of all terminals together, or of one of them, grow, or more
        is offered than the bound allows; ``not_converged`` where queues or the mean latency may still grow at the limit
        of cycles; ``interrupted`` where the result was taken before the run ended.
        """
        found = str(self.values["status"])
        return "saturated" if found in ("complete", "not_converged") and self._is_beyond_bound else found

    @property
    def precision_note(self) -> str:
        """Where a steady run ended at its limit of cycles: how well its mean latency is known; elsewhere empty."""
        steady = self.spec["run"].get("steady")
        if not steady or self.status != "complete":
            return ""
        known = self.row["packet_latency_ci_half_width_cycles"] / self.row["packet_latency_mean_cycles"]
        asked: float = steady["relative_ci"]
        if not known > asked:
            return ""
        found = f"the mean latency is known to ± {100 * known:.2g} %"
        return f"{found}, not to the ± {100 * asked:g} % that were asked for: raise run.steady.max_cycles"

    @property
    def _is_beyond_bound(self) -> bool:
        """Whether traffic is offered at a higher load than its channels and terminals can carry."""
        offered = self.plan["spec"]["workload"].get("offered_load")
        return offered is not None and not self.runs_to_completion and offered > self.bound.saturation_load * (1 + 1e-9)

    @property
    def runs_to_completion(self) -> bool:
        """Whether the workload completes by itself (and is not traffic at an offered load)."""
        return self.bound.runs_to_completion

    @property
    def described(self) -> dict[str, Any]:
        """Names and numbers that follow from the specification: size, terminals, classes of channels, workload."""
        return dict(self.plan["described"])

    @property
    def units(self) -> Units:
        """What a flit carries and how long a cycle takes, where the network says it: then tables are in both."""
        return Units.of(self.plan["described"])

    @property
    def has_schedule(self) -> bool:
        """Whether the workload was a schedule."""
        return bool(self.described["has_schedule"])

    @property
    def completion_cycles(self) -> int:
        """Cycles from t = 0 to the arrival of the last tail; of an open loop the cycle in which the run ended."""
        return int(self.values["completion_cycles"])

    @property
    def accepted_load(self) -> float:
        """Flits ejected in the measurement [flits/cycle/terminal]; what runs to completion: over the whole run."""
        return float(self.values["accepted_load"])

    @property
    def mean_packet_latency_cycles(self) -> float:
        """From creation to arrival of the tail, packets of the measurement; NaN where no packet was measured."""
        return float(self.row["packet_latency_mean_cycles"])

    @property
    def warmup_cycles(self) -> int:
        """Open loop: cycles before the measurement; what runs to completion: of background alone, before t = 0."""
        return int(self.values["warmup_cycles"])

    @property
    def start_cycle(self) -> int:
        """Cycle of t = 0, in which the workload started; in :attr:`packets` and windows of channels it is not 0."""
        return self.warmup_cycles if self.runs_to_completion else 0

    @property
    def end_cycle(self) -> int:
        """Cycle in which the run ended, counted from its start as :attr:`packets` and windows of channels are."""
        return self.start_cycle + self.completion_cycles

    @property
    def measurement_cycles(self) -> int:
        """Open loop: cycles of the measurement; what runs to completion: from t = 0 on."""
        return int(self.values["measurement_cycles"])

    @property
    def packet_latency_histogram(self) -> Histogram:
        """How often each packet latency occurred; :func:`flitwork.results.histogram.merge` adds up several runs."""
        return Histogram(self.columns["packet_latency.value_cycles"], self.columns["packet_latency.packets"])

    @property
    def network_latency_histogram(self) -> Histogram:
        """How often each network latency occurred."""
        return Histogram(self.columns["network_latency.value_cycles"], self.columns["network_latency.packets"])

    @property
    def ratio_to_bound(self) -> float:
        """How near to what nothing can beat: 1 is on the bound.

        Of a workload that runs to completion its time over the tightest lower bound, never less than 1. Of an open loop
        the accepted load over the highest that channels and terminals could accept. NaN where no bound is known (what
        ranks send that are told what to do while they run, nobody knows beforehand), and of a run that was interrupted.
        """
        if self.status == "interrupted":
            return math.nan
        if self.runs_to_completion:
            if self.bound.tightest_cycles:
                return self.completion_cycles / self.bound.tightest_cycles
            return math.nan if self.completion_cycles else 1.0
        return self.accepted_load / self.bound.accepted_load if self.bound.accepted_load else 1.0

    @property
    def title(self) -> str:
        """``a2at on torus 8x8``."""
        described = self.described
        return f"{described['workload']} on {described['topology']['kind']} {described['size']}"

    @property
    def channel_flits(self) -> np.ndarray[Any, Any]:
        """Flits over every channel in the whole run, in the order of :attr:`channels`."""
        return self.columns["channel_flits"]

    @property
    def channel_utilisation(self) -> np.ndarray[Any, Any]:
        """Flits per cycle over every channel in the measurement, in the order of :attr:`channels`."""
        # What runs to completion is over in a cycle in which a background still sends.
        cycles = self.measurement_cycles + bool(self.runs_to_completion and self.values.get("background"))
        utilisation: np.ndarray[Any, Any] = self.columns["measured_channel_flits"] / max(cycles, 1)
        return utilisation

    @property
    def busy(self) -> tuple[float, float]:
        """Utilisation of the channels in use in the measurement: the mean and the largest [flits/cycle]."""
        utilisation = self.channel_utilisation
        busy = utilisation[utilisation > 0]
        return (float(busy.mean()), float(busy.max())) if busy.size else (0.0, 0.0)

    @property
    def channel_windows(self) -> np.ndarray[Any, Any] | None:
        """Flits over every channel, ``[window, channel]``; ``None`` if ``channel_window_cycles`` was 0."""
        if "channel_windows" not in self.columns:
            return None
        return self.columns["channel_windows"].reshape(-1, max(len(self.channel_flits), 1))

    @property
    def channel_window_edges(self) -> np.ndarray[Any, Any]:
        """Cycles in which the windows of :attr:`channel_windows` begin, and the one after the last of them.

        One more than there are windows, counted from the start of the run; the last window may be shorter.
        """
        windows = self.channel_windows
        after = self.end_cycle + 1
        count = 0 if windows is None else len(windows)
        return np.array([min(i * self.channel_window_cycles, after) for i in range(count + 1)])

    @property
    def channel_window_cycles(self) -> int:
        """Length of a window of :attr:`channel_windows` [cycles]; 0 without windows."""
        return int(self.plan["spec"]["run"]["record"]["channel_window_cycles"])

    @cached_property
    def summary(self) -> pd.DataFrame:
        """One row: what was run, how it ended, how far from the bound."""
        return pd.DataFrame([self.row])

    @cached_property
    def row(self) -> dict[str, Any]:
        """The row of :attr:`summary`."""
        return row_of(self)

    @property
    def background(self) -> dict[str, Any]:
        """What became of the background, by name of the column without its prefix; empty if there was none."""
        return {k.removeprefix("background_"): v for k, v in self.row.items() if k.startswith("background_")}

    @cached_property
    def deliveries(self) -> pd.DataFrame:
        """A row for each window of time: packets received in it and their flits, of the workload and of the background.

        ``start_cycle`` counts from t = 0. Empty unless the run had ``delivery_window_cycles``.
        """
        table = pd.DataFrame(
            {
                f"{of}{what}": self.columns[f"{of}deliveries.{what}"]
                for of in ("", "background_")
                for what in ("packets", "flits")
                if f"{of}deliveries.{what}" in self.columns
            }
        )
        window = int(self.plan["spec"]["run"]["record"]["delivery_window_cycles"])
        table.insert(0, "start_cycle", np.array([i * window for i in range(len(table))], dtype=np.int64))
        return with_units(table, self.units)

    @cached_property
    def packets(self) -> pd.DataFrame:
        """A row for each packet; empty unless the run recorded packets. What had not happened by the end is missing."""
        columns = {k.split(".", 1)[1]: v for k, v in self.columns.items() if k.startswith("packets.")}
        columns = columns or {name: np.empty(0, kind) for name, kind in OF_A_PACKET.items()}
        # A long table is memory more than anything else: each column is copied once.
        found: dict[str, Any] = {
            k: _or_missing(v, NEVER) if k.endswith("_cycle") else v.copy() for k, v in columns.items()
        }
        found["packet_latency_cycles"] = found["arrived_cycle"] - found["created_cycle"]
        found["network_latency_cycles"] = found["arrived_cycle"] - found["injected_cycle"]
        table = pd.DataFrame(found, copy=False)
        return with_units(table, self.units)

    @cached_property
    def reordering(self) -> pd.DataFrame:
        """A row for each pair of terminals with packets that were overtaken; needs recorded packets.

        A packet is reordered if one that its source created later for the same destination arrived before it (RFC 4737,
        section 3.3). ``packets``: those of the pair that arrived; ``reordered_packets``; ``waiting_packets_max``: the
        most packets at once that had arrived before one created earlier, for which a receiver that delivers in order
        needs room.
        """
        packets = self.packets
        if packets.empty and "packets.src" not in self.columns:
            raise ConfigError("result.reordering", "no packets", "recorded packets", "run.record.packets = true")
        return reordered(packets)

    @cached_property
    def channels(self) -> pd.DataFrame:
        """A row for each channel: where from and to, its class, flits in all, flits per cycle in the measurement.

        Ascending by router and output port; ``class`` is ``+x``, ``-x``, ``+y``, ... on a grid.
        """
        ends = {name: self.columns[f"channels.{name}"] for name in ("router", "port", "to_router", "to_port")}
        names = np.array(self.described["channel_classes"], dtype=object)
        flits = {"flits": self.channel_flits, "flits_per_cycle": self.channel_utilisation}
        table = pd.DataFrame({**ends, "class": names[self.columns["channels.class"]], **flits})
        return with_units(table, self.units)

    @property
    def starved_terminals(self) -> list[int]:
        """The terminals that starved in the measurement of an open loop.

        None of their flits arrived in the measurement, though a packet waited at its source for half of it or longer.
        """
        return list(self.values.get("starved_terminals", ()))

    @cached_property
    def terminals(self) -> pd.DataFrame:
        """A row for each terminal: flits of its packets that arrived, and flits it received, in the measurement."""
        sent, received = self.columns["delivered_flits"], self.columns["ejected_flits"]
        cycles = max(self.measurement_cycles, 1)
        table = pd.DataFrame(
            {
                "terminal": np.arange(len(sent)),
                "delivered_flits": sent,
                "delivered_flits_per_cycle": sent / cycles,
                "received_flits": received,
                "received_flits_per_cycle": received / cycles,
            }
        )
        return with_units(table, self.units)

    @cached_property
    def waits(self) -> pd.DataFrame:
        """Where and why packets waited in the network; empty unless the run recorded waits.

        A row for each packet (a row of :attr:`packets`), place and reason: cycles in which its head stood still, and
        then (``body``) those in which the front flit behind it did. ``hop`` counts the buffers that it had come to: 0
        at the source, 1 in the first router; ``port`` is the output port that it wanted.
        """
        table = pd.DataFrame({k.split(".", 1)[1]: v for k, v in self.columns.items() if k.startswith("waits.")})
        if table.empty:
            return pd.DataFrame(columns=["packet", "hop", "router", "port", "reason", "body", "cycles"])
        table["reason"] = np.array(WAIT_REASONS, dtype=object)[table["reason"]]
        return table

    @cached_property
    def wait_windows(self) -> pd.DataFrame:
        """The waits of all packets by window of time; empty unless the run recorded waits and windows of channels.

        A row for each ``window`` of :attr:`channel_windows`, ``router``, ``port`` and ``reason`` as in :attr:`waits`:
        cycles in which heads, and front flits behind heads, stood still there.
        """
        names = ("window", "router", "port", "reason", "cycles")
        table = pd.DataFrame({name: self.columns.get(f"wait_windows.{name}", np.empty(0, np.uint32)) for name in names})
        table["reason"] = np.array(WAIT_REASONS, dtype=object)[table["reason"]]
        return table

    @cached_property
    def operations(self) -> pd.DataFrame:
        """What ranks did and when, a row an operation; empty unless the run recorded operations.

        Cycles are those of :attr:`packets`: when the program came to it (``passed``), it began (a receive that was
        posted later, a task), was complete (``ended``), and the message of a receive arrived; missing if they did not.
        ``amount`` is in flits of messages and in cycles of computations. ``from_operation`` of ``peer`` sent the
        message of a receive.
        """
        table = pd.DataFrame({k.split(".", 1)[1]: v for k, v in self.columns.items() if k.startswith("operations.")})
        if table.empty:
            return pd.DataFrame(columns=["rank", "operation", "kind", "peer", "tag", "step", "amount"])
        table["kind"] = np.array(_core.operation_kinds(), dtype=object)[table["kind"]]
        table = table.drop(columns="waits_for")
        for name in [name for name in table.columns if name.endswith("_cycle")]:
            table[name] = _or_missing(self.columns[f"operations.{name}"], NEVER)
        for name in ("peer", "from_operation"):
            table[name] = _or_missing(self.columns[f"operations.{name}"], np.iinfo(np.uint32).max)
        return table

    @cached_property
    def stalls(self) -> pd.DataFrame:
        """Flit-cycles of standing still by reason; empty unless the run recorded stalls."""
        report = self.values.get("stalls")
        if not report:
            return pd.DataFrame(columns=["reason", "flit_cycles", "tail_flit_cycles", "idle_ejection_flit_cycles"])
        return pd.DataFrame(
            {
                "reason": list(STALL_REASONS),
                "flit_cycles": report["total"],
                "tail_flit_cycles": report["tails"],
                "idle_ejection_flit_cycles": report["idle_ejection"],
            }
        )

    @cached_property
    def hol_blocking(self) -> pd.DataFrame:
        """Head-of-line blocking: a row for each input port of each router; empty unless the run recorded stalls.

        ``blocked_cycles`` are those in which the port sent nothing although a packet behind the first one of a queue
        goes to an output port that sent nothing either; ``share`` is of all cycles of the run. Ports count as in
        docs/model.md: those of the network first, then the injection ports of the terminals. Empty, too, where packets
        choose their route on the way.
        """
        blocked = self.columns.get("hol_blocked", np.empty(0, dtype=np.uint64))
        ports = len(blocked) // max(self.described["routers"], 1)
        number = np.arange(len(blocked))
        return pd.DataFrame(
            {
                "router": number // max(ports, 1),
                "port": number % max(ports, 1),
                "blocked_cycles": blocked,
                "share": blocked / max(self.end_cycle, 1),
            }
        )

    def save(self, path: str | Path, *, tables: bool = True) -> Path:
        """Stores everything in one Parquet file of one row, at once or not at all. A file that is there is replaced.

        The plan, its hash, the version, the seed and a checksum of everything stand in the metadata of the file, and so
        do schedules and other ``tables`` of the plan, up to 16 MB in all.
        """
        scalars = {k: v for k, v in self.row.items() if v is not None and not RESULT_COLUMNS[k].physical}
        table = {**parquet.of_rows([scalars]), **{f"[{k}]": parquet.of_list(v) for k, v in self.columns.items()}}
        metadata = {
            "flitwork.version": self.version,
            "flitwork.seed": str(self.seed),
            "flitwork.plan_hash": self.plan_hash,
            "flitwork.plan": json.dumps(self.plan),
            "flitwork.values": json.dumps(self.values),
            "flitwork.bound": json.dumps(self.bound.values),
            **(result_file.metadata_of(self.tables) if tables else {}),
        }
        return result_file.write(Path(path), table, metadata)

    @classmethod
    def load(cls, path: str | Path, *, tables: bool = True) -> Result:
        """Reads what :meth:`save` stored, with the ``tables`` of its plan where they are stored, too.

        Raises :class:`flitwork.ResultFileError` where the file is damaged, is no result, or is of another format.
        """
        path = Path(path)
        table, meta = result_file.read(path)
        try:
            columns = {name[1:-1]: column.values for name, column in table.items() if name.startswith("[")}
            plan, limits = json.loads(meta["flitwork.plan"]), json.loads(meta["flitwork.bound"])
            values, seconds = json.loads(meta["flitwork.values"]), float(table["wall_seconds"].to_list()[0])
            found = result_file.tables_of(path, meta, plan["spec"]) if tables else ()
            result = cls(plan, values, columns, Bound(limits, Units.of(plan["described"])), seconds, found)
            whole = result.plan_hash == meta["flitwork.plan_hash"] and result.digest == table["digest"].to_list()[0]
        except Exception as error:
            # What was written by another program may be anything.
            raise ResultFileError(f"{path}: is incomplete ({because(error)}); delete it and run again") from None
        if not whole:
            raise ResultFileError(f"{path}: its parts do not belong together; delete it and run again")
        return result

    def __repr__(self) -> str:
        what = self.title
        ratio = self.ratio_to_bound
        near = "no bound known" if math.isnan(ratio) else f"{ratio:.3f} times the bound"
        if self.status == "interrupted":
            return f"<{what}: interrupted after {self.completion_cycles:,} cycles>"
        if self.runs_to_completion:
            return f"<{what}: {self.completion_cycles:,} cycles, {near}>"
        mean = self.mean_packet_latency_cycles
        latency = "no packet measured, " if math.isnan(mean) else f"latency {mean:.2f} cycles, "
        # Beyond saturation it grows with the length of the run.
        latency = "" if self.status == "saturated" else latency
        return f"<{what}: {self.status}, {latency}accepted {self.accepted_load:.4f} flits/cycle/terminal>"


#: Told about once every 50 ms: cycle, packets done, packets in total (if known). Returning ``False`` stops the run.
Progress = Callable[[int, int, "int | None"], object]


def run_plan(plan: _core.Plan, progress: Progress | None = None) -> Result:
    """Runs a plan and puts the bound beside what came out."""
    from time import perf_counter

    if plan.records_to_file:
        hint = "fw.simulate(packets_file=...) and flitwork simulate --packets-file set it"
        raise ConfigError("run.record.to_file", "true", "a file beside it, for which packets are recorded", hint)
    started = perf_counter()
    values, columns = plan.simulate(progress)
    wall_seconds = perf_counter() - started
    return Result(plan.contents(), json.loads(values), columns, Bound.of(plan), wall_seconds, plan.tables)
