"""Every key of BookSim 2 (commit 28f43299): type, default, how BookSim tests it, and what flitwork does with it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Type(Enum):
    """What a value must be. The plural ones may be a list, one entry a class of traffic."""

    INT = "a whole number"
    FLOAT = "a number"
    TEXT = "a word"
    INTS = "a whole number, or a list of one"
    FLOATS = "a number, or a list of one"


class Fate(Enum):
    """What flitwork does with a key."""

    MAPPED = "used"
    ONLY = "only what means its default"
    NOTED = "no effect, and a note"
    TECHNOLOGY = "only in a technology file"


class Reads(Enum):
    """How BookSim tests a number: as it is, or as a switch."""

    VALUE = ""
    POSITIVE = "on above 0"
    ONE = "on at 1"
    NONZERO = "on unless 0"
    NEGATIVE = "off below 0"

    def of(self, value: float) -> float:
        """What BookSim takes a number for; a switch is ``True`` or ``False``."""
        tests = {
            Reads.POSITIVE: value > 0,
            Reads.ONE: value == 1,
            Reads.NONZERO: value != 0,
            Reads.NEGATIVE: value >= 0,
        }
        return tests.get(self, value)


@dataclass(frozen=True)
class Key:
    """A key; ``field`` is the field of the specification that it sets, ``note`` a remark for the reader."""

    name: str
    type: Type
    default: int | float | str
    fate: Fate
    field: str = ""
    note: str = ""
    reads: Reads = Reads.VALUE


INT, FLOAT, TEXT, INTS, FLOATS = Type.INT, Type.FLOAT, Type.TEXT, Type.INTS, Type.FLOATS
MAPPED, ONLY, NOTED, TECHNOLOGY = Fate.MAPPED, Fate.ONLY, Fate.NOTED, Fate.TECHNOLOGY
POSITIVE, ONE, NONZERO, NEGATIVE = Reads.POSITIVE, Reads.ONE, Reads.NONZERO, Reads.NEGATIVE

_TABLE = (
    Key("channel_file", TEXT, "", NOTED, note="BookSim does not read it"),
    Key("subnets", INT, 1, ONLY, note="one network"),
    Key("topology", TEXT, "torus", MAPPED, "network.topology.kind", "mesh, torus, fattree"),
    Key("k", INT, 8, MAPPED, "network.topology.size", "routers along each dimension; of a fattree children"),
    Key("n", INT, 2, MAPPED, "network.topology.size", "dimensions; of a fattree levels"),
    Key("c", INT, 1, NOTED, note="of cmesh and flatfly"),
    Key("routing_function", TEXT, "none", MAPPED, "network.routing.kind", "see *Routing*; there is no default"),
    Key(
        "use_noc_latency",
        INT,
        1,
        MAPPED,
        "network.channel.latency_cycles",
        "torus: channels of 2 cycles instead of 1; mesh, fattree: no difference",
        ONE,
    ),
    Key("x", INT, 8, NOTED, note="of cmesh and flatfly"),
    Key("y", INT, 8, NOTED, note="of cmesh and flatfly"),
    Key("xr", INT, 1, MAPPED, "workload.pattern", "tornado, neighbor: digits of xr times k"),
    Key("yr", INT, 1, NOTED, note="of cmesh and flatfly"),
    Key("link_failures", INT, 0, ONLY, note="all links work; BookSim aborts if there are failures", reads=POSITIVE),
    Key("fail_seed", INTS, 0, NOTED, note="while all links work"),
    Key("in_ports", INT, 5, NOTED, note="of a router alone; networks set it"),
    Key("out_ports", INT, 5, NOTED, note="of a router alone; networks set it"),
    Key("router", TEXT, "iq", ONLY, note="BookSim's other routers do not work"),
    Key("output_delay", INT, 0, NOTED, note="BookSim's router iq does not use it"),
    Key("credit_delay", INT, 0, MAPPED, "network.channel.credit_delay_cycles", "below 0: 0"),
    Key("internal_speedup", FLOAT, 1.0, ONLY, note="the switch runs at the speed of the channels"),
    Key("output_buffer_size", INT, -1, ONLY, note="output buffers have no limit"),
    Key("noq", INT, 0, ONLY, note="no queues by next output", reads=NONZERO),
    Key("speculative", INT, 0, MAPPED, "network.router.speculative", reads=POSITIVE),
    Key(
        "spec_check_elig",
        INT,
        1,
        MAPPED,
        "network.router.speculative",
        "off: no packet speculates, as with speculative = 0",
        POSITIVE,
    ),
    Key("spec_check_cred", INT, 1, ONLY, note="nothing else where packets speculate", reads=POSITIVE),
    Key("spec_mask_by_reqs", INT, 0, ONLY, note="nothing else where packets speculate", reads=POSITIVE),
    Key("spec_sw_allocator", TEXT, "prio", ONLY, note="nothing else where packets speculate"),
    Key("num_vcs", INT, 16, MAPPED, "network.router.vcs"),
    Key("vc_buf_size", INT, 8, MAPPED, "network.router.buffer_flits"),
    Key("buf_size", INT, -1, MAPPED, "network.router.shared_buffer_flits", "places of a port; see *Buffers*"),
    Key(
        "buffer_policy", TEXT, "private", MAPPED, "network.router.shared_buffer_flits", "private, shared; see *Buffers*"
    ),
    Key("private_bufs", INT, -1, ONLY, note="each VC has places of its own", reads=NEGATIVE),
    Key(
        "private_buf_size", INTS, 1, MAPPED, "network.router.buffer_flits", "with buffer_policy = shared; see *Buffers*"
    ),
    Key("private_buf_start_vc", INTS, -1, ONLY, note="each VC has places of its own", reads=NEGATIVE),
    Key("private_buf_end_vc", INTS, -1, ONLY, note="each VC has places of its own", reads=NEGATIVE),
    Key("max_held_slots", INT, -1, NOTED, note="of the other buffer policies"),
    Key("feedback_aging_scale", INT, 1, NOTED, note="of the other buffer policies"),
    Key("feedback_offset", INT, 0, NOTED, note="of the other buffer policies"),
    Key("wait_for_tail_credit", INT, 0, MAPPED, "network.router.wait_for_tail_credit", reads=NONZERO),
    Key("vc_busy_when_full", INT, 0, MAPPED, "network.router.vc_busy_when_full", reads=POSITIVE),
    Key("vc_prioritize_empty", INT, 0, ONLY, note="no such order of requests", reads=POSITIVE),
    Key("vc_priority_donation", INT, 0, NOTED, note="packets have no priorities"),
    Key("vc_shuffle_requests", INT, 0, ONLY, note="no such order of requests", reads=POSITIVE),
    Key("hold_switch_for_packet", INT, 0, MAPPED, "network.router.hold_switch_for_packet", reads=POSITIVE),
    Key("input_speedup", INT, 1, MAPPED, "network.router.input_speedup", "need not divide num_vcs"),
    Key("output_speedup", INT, 1, MAPPED, "network.router.output_speedup"),
    Key("routing_delay", INT, 1, MAPPED, "network.router.routing_delay_cycles", "0 is lookahead routing; see *Delays*"),
    Key(
        "vc_alloc_delay",
        INT,
        1,
        MAPPED,
        "network.router.vc_alloc_delay_cycles",
        "at least 1; with speculative at most sw_alloc_delay",
    ),
    Key("sw_alloc_delay", INT, 1, MAPPED, "network.router.sw_alloc_delay_cycles", "at least 1"),
    Key("st_prepare_delay", INT, 0, MAPPED, "network.router.st_delay_cycles", "added to st_final_delay; see *Delays*"),
    Key("st_final_delay", INT, 1, MAPPED, "network.router.st_delay_cycles", "added to st_prepare_delay; see *Delays*"),
    Key("vct", INT, 0, NOTED, note="of BookSim's router event, which does not work"),
    Key("vc_allocator", TEXT, "islip", MAPPED, "network.router.vc_allocator", "see *Allocators*"),
    Key("sw_allocator", TEXT, "islip", MAPPED, "network.router.sw_allocator", "see *Allocators*"),
    Key(
        "arb_type",
        TEXT,
        "round_robin",
        NOTED,
        note="BookSim's router iq does not use it: write separable_input_first(matrix)",
    ),
    Key("alloc_iters", INT, 1, NOTED, note="BookSim's router iq does not use it: write islip(2)"),
    Key("classes", INT, 1, ONLY, note="one class of traffic"),
    Key("traffic", TEXT, "uniform", MAPPED, "workload.pattern", "see *Traffic*"),
    Key("class_priority", INTS, 0, NOTED, note="one class of traffic"),
    Key("perm_seed", INTS, 0, MAPPED, "workload.pattern", "draws the permutation of randperm"),
    Key(
        "injection_rate",
        FLOATS,
        0.1,
        MAPPED,
        "workload.offered_load",
        "packets/cycle/node; times the mean packet_size it is the offered load",
    ),
    Key(
        "injection_rate_uses_flits",
        INT,
        0,
        MAPPED,
        "workload.offered_load",
        "injection_rate is in flits/cycle/node",
        NONZERO,
    ),
    Key("packet_size", INTS, 1, MAPPED, "workload.packet_flits", "flits; {{1,5}} is a mixture"),
    Key("packet_size_rate", INTS, 1, MAPPED, "workload.packet_flits", "weights of the mixture: {{3,1}}"),
    Key("injection_process", TEXT, "bernoulli", MAPPED, "workload.process", "bernoulli, on_off"),
    Key(
        "burst_alpha",
        FLOAT,
        0.5,
        MAPPED,
        "workload.process.mean_off_cycles",
        "on_off: its inverse; below 0 it follows from the others",
    ),
    Key(
        "burst_beta",
        FLOAT,
        0.5,
        MAPPED,
        "workload.process.mean_on_cycles",
        "on_off: its inverse; below 0 it follows from the others",
    ),
    Key(
        "burst_r1",
        FLOAT,
        -1.0,
        MAPPED,
        "workload.process",
        "on_off: packets per cycle in a burst; below 0 it follows from the others",
    ),
    Key("priority", TEXT, "none", ONLY, note="packets have no priorities (class: the same, with one class)"),
    Key("batch_size", INT, 1000, NOTED, note="of sim_type = batch"),
    Key("batch_count", INT, 1, NOTED, note="of sim_type = batch"),
    Key("max_outstanding_requests", INT, 0, NOTED, note="of sim_type = batch"),
    Key("use_read_write", INTS, 0, ONLY, note="no requests and replies", reads=NONZERO),
    Key("write_fraction", FLOATS, 0.5, NOTED, note="of requests and replies"),
    Key("read_request_begin_vc", INT, 0, NOTED, note="of requests and replies"),
    Key("read_request_end_vc", INT, 5, NOTED, note="of requests and replies"),
    Key("write_request_begin_vc", INT, 2, NOTED, note="of requests and replies"),
    Key("write_request_end_vc", INT, 7, NOTED, note="of requests and replies"),
    Key("read_reply_begin_vc", INT, 8, NOTED, note="of requests and replies"),
    Key("read_reply_end_vc", INT, 13, NOTED, note="of requests and replies"),
    Key("write_reply_begin_vc", INT, 10, NOTED, note="of requests and replies"),
    Key("write_reply_end_vc", INT, 15, NOTED, note="of requests and replies"),
    Key("read_request_subnet", INT, 0, NOTED, note="of requests and replies"),
    Key("read_reply_subnet", INT, 0, NOTED, note="of requests and replies"),
    Key("write_request_subnet", INT, 0, NOTED, note="of requests and replies"),
    Key("write_reply_subnet", INT, 0, NOTED, note="of requests and replies"),
    Key("read_request_size", INTS, 1, NOTED, note="of requests and replies"),
    Key("write_request_size", INTS, 1, NOTED, note="of requests and replies"),
    Key("read_reply_size", INTS, 1, NOTED, note="of requests and replies"),
    Key("write_reply_size", INTS, 1, NOTED, note="of requests and replies"),
    Key("sim_type", TEXT, "latency", MAPPED, "run.max_cycles", "latency; throughput: nothing is drained"),
    Key("warmup_periods", INT, 3, MAPPED, "run.warmup_cycles", "at least 1; times sample_period"),
    Key("sample_period", INT, 1000, MAPPED, "run.measurement_cycles", "cycles of a period"),
    Key("max_samples", INT, 10, MAPPED, "run.measurement_cycles", "most periods in all, warm-up included"),
    Key("measure_stats", INTS, 1, ONLY, note="the one class is measured", reads=NONZERO),
    Key("pair_stats", INT, 0, NOTED, note="not printed; --json has what flitwork measures", reads=ONE),
    Key("latency_thres", FLOATS, 500.0, MAPPED, note="latency: beyond this mean the run is unstable; below 0: never"),
    Key("warmup_thres", FLOATS, 0.05, NOTED, note="the warm-up has a fixed length: warmup_periods"),
    Key("acc_warmup_thres", FLOATS, 0.05, NOTED, note="the warm-up has a fixed length: warmup_periods"),
    Key("stopping_thres", FLOATS, 0.05, MAPPED, "run.measurement_cycles", "see *Phases*; below 0: off"),
    Key("acc_stopping_thres", FLOATS, 0.05, MAPPED, "run.measurement_cycles", "see *Phases*; below 0: off"),
    Key("sim_count", INT, 1, MAPPED, note="so many runs, with seeds that follow each other"),
    Key("include_queuing", INT, 1, ONLY, note="latency counts from creation", reads=ONE),
    Key("seed", INTS, 0, MAPPED, "run.seed", "a number"),
    Key("print_activity", INT, 0, NOTED, note="not printed; --json has what flitwork measures", reads=POSITIVE),
    Key(
        "print_csv_results",
        INT,
        0,
        MAPPED,
        note="a line `results:0,...` at the end, see *What is printed*",
        reads=NONZERO,
    ),
    Key("deadlock_warn_timeout", INT, 256, NOTED, note="a warning only; a deadlock is an error here"),
    Key("viewer_trace", INT, 0, NOTED, note="not written", reads=POSITIVE),
    Key("watch_file", TEXT, "", NOTED, note="not written"),
    Key("watch_flits", TEXT, "", NOTED, note="not written"),
    Key("watch_packets", TEXT, "", NOTED, note="not written"),
    Key("watch_transactions", TEXT, "", NOTED, note="not written"),
    Key("watch_out", TEXT, "", NOTED, note="not written"),
    Key("stats_out", TEXT, "", NOTED, note="not written"),
    Key("injected_flits_out", TEXT, "", NOTED, note="not written"),
    Key("received_flits_out", TEXT, "", NOTED, note="not written"),
    Key("stored_flits_out", TEXT, "", NOTED, note="not written"),
    Key("sent_flits_out", TEXT, "", NOTED, note="not written"),
    Key("outstanding_credits_out", TEXT, "", NOTED, note="not written"),
    Key("ejected_flits_out", TEXT, "", NOTED, note="not written"),
    Key("active_packets_out", TEXT, "", NOTED, note="not written"),
    Key("used_credits_out", TEXT, "", NOTED, note="not written"),
    Key("free_credits_out", TEXT, "", NOTED, note="not written"),
    Key("max_credits_out", TEXT, "", NOTED, note="not written"),
    Key("sent_packets_out", TEXT, "", NOTED, note="not written"),
    Key("sim_power", INT, 0, NOTED, note="no model of power or area: nothing is printed about them", reads=POSITIVE),
    Key("power_output_file", TEXT, "pwr_tmp", NOTED, note="of the model of power"),
    Key("tech_file", TEXT, "", NOTED, note="of the model of power"),
    Key("channel_width", INT, 128, NOTED, note="of the model of power"),
    Key("channel_sweep", INT, 0, NOTED, note="of the model of power"),
    Key("network_file", TEXT, "", NOTED, note="of anynet"),
    Key("H_INVD2", INT, 0, TECHNOLOGY, note="of the model of power"),
    Key("W_INVD2", INT, 0, TECHNOLOGY, note="of the model of power"),
    Key("H_DFQD1", INT, 0, TECHNOLOGY, note="of the model of power"),
    Key("W_DFQD1", INT, 0, TECHNOLOGY, note="of the model of power"),
    Key("H_ND2D1", INT, 0, TECHNOLOGY, note="of the model of power"),
    Key("W_ND2D1", INT, 0, TECHNOLOGY, note="of the model of power"),
    Key("H_SRAM", INT, 0, TECHNOLOGY, note="of the model of power"),
    Key("W_SRAM", INT, 0, TECHNOLOGY, note="of the model of power"),
    Key("Vdd", FLOAT, 0.0, TECHNOLOGY, note="of the model of power"),
    Key("R", FLOAT, 0.0, TECHNOLOGY, note="of the model of power"),
    Key("IoffSRAM", FLOAT, 0.0, TECHNOLOGY, note="of the model of power"),
    Key("IoffP", FLOAT, 0.0, TECHNOLOGY, note="of the model of power"),
    Key("IoffN", FLOAT, 0.0, TECHNOLOGY, note="of the model of power"),
    Key("Cg_pwr", FLOAT, 0.0, TECHNOLOGY, note="of the model of power"),
    Key("Cd_pwr", FLOAT, 0.0, TECHNOLOGY, note="of the model of power"),
    Key("Cgdl", FLOAT, 0.0, TECHNOLOGY, note="of the model of power"),
    Key("Cg", FLOAT, 0.0, TECHNOLOGY, note="of the model of power"),
    Key("Cd", FLOAT, 0.0, TECHNOLOGY, note="of the model of power"),
    Key("LAMBDA", FLOAT, 0.0, TECHNOLOGY, note="of the model of power"),
    Key("MetalPitch", FLOAT, 0.0, TECHNOLOGY, note="of the model of power"),
    Key("Rw", FLOAT, 0.0, TECHNOLOGY, note="of the model of power"),
    Key("Cw_gnd", FLOAT, 0.0, TECHNOLOGY, note="of the model of power"),
    Key("Cw_cpl", FLOAT, 0.0, TECHNOLOGY, note="of the model of power"),
    Key("wire_length", FLOAT, 0.0, TECHNOLOGY, note="of the model of power"),
)

#: The keys by name, in BookSim's order.
KEYS = {key.name: key for key in _TABLE}

TOPOLOGIES = ("mesh", "torus", "fattree")
#: What BookSim has besides.
OTHER_TOPOLOGIES = ("cmesh", "qtree", "tree4", "fly", "flatfly", "dragonflynew", "anynet")
