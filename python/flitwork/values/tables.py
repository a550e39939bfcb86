"""Values: the tables of a specification as frozen objects with typed fields.

Written by tools/python_values.py from the schema of the simulator. Do not edit: change the comments of the fields in
crates/flitwork/src and run the tool again.
"""

# fmt: off
# ruff: noqa: B008, E501, F401, RUF100
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from flitwork.values.noise import Noise
from flitwork.values.placement import Placement
from flitwork.values.value import Value, default, value

__all__ = [
    "Allocator",
    "BarrierTree",
    "Bus",
    "Channel",
    "Compat",
    "Host",
    "Nic",
    "Pacing",
    "Record",
    "Router",
    "Run",
    "Service",
    "Start",
    "Steady",
    "Units",
    "Without",
]


@value
class BarrierTree(Value):
    """Separate wires for barriers: a signal of one flit arrives after a fixed time, waits for nothing and costs no
    software. A barrier of a collective goes over it, and sends of a schedule that say so.

    * ``hop_cycles``: From a rank to the next one in the tree of its barrier [cycles], 1 to 10000. Default: 1.
    * ``hop_ns``: ``hop_cycles`` in ns; or text with a unit.
    """

    TABLES = ("network.barrier_tree",)
    hop_cycles: int = default(1)
    hop_ns: float | str | Sequence[float | str] = default(None)


@value
class Bus(Value):
    """A bus that all ranks share beside the network of routers and channels, one transfer at a time; with functions
    for broadcast, scatter and gather. Which messages go over it a collective knows by `operations`, a schedule says of
    each send.

    * ``arbitration_cycles``: Time before each transfer in which the bus is given to its rank [cycles], 0 to 10000.
      Default: 0.
    * ``arbitration_ns``: ``arbitration_cycles`` in ns; or text with a unit.
    * ``bytes_per_s``: ``flits_per_cycle`` in bytes/s; or text with a unit.
    * ``flits_per_cycle``: Bandwidth of the bus [flits/cycle], 1e-6 to 1e6. Default: 1.
    * ``latency_cycles``: From the last flit of a message sent to the message arrived [cycles], 0 to 10000. Default: 0.
    * ``latency_ns``: ``latency_cycles`` in ns; or text with a unit.
    * ``operations``: The collective operations whose messages go over it. Default: none.
    """

    TABLES = ("network.bus",)
    arbitration_cycles: int = default(0)
    arbitration_ns: float | str | Sequence[float | str] = default(None)
    bytes_per_s: float | str | Sequence[float | str] = default(None)
    flits_per_cycle: float = default(1.0)
    latency_cycles: int = default(0)
    latency_ns: float | str | Sequence[float | str] = default(None)
    operations: Sequence[Literal["all_to_all", "broadcast", "scatter", "gather", "allgather", "reduce_scatter", "reduce", "allreduce", "scan", "barrier"]] = default(())


@value
class Channel(Value):
    """The channels between routers, and between routers and terminals.

    * ``credit_delay_cycles``: Delay of a credit beyond the wire [cycles], 0 to 10000. Default: 0.
    * ``credit_delay_ns``: ``credit_delay_cycles`` in ns; or text with a unit.
    * ``latency_cycles``: Wire delay of a network channel, on top of the router's cycles [cycles], 0 to 10000. Default:
      0.
    * ``latency_ns``: ``latency_cycles`` in ns; or text with a unit.
    * ``local_latency_cycles``: Wire delay of injection and ejection channels [cycles], 0 to 10000. Default: 0.
    * ``local_latency_ns``: ``local_latency_cycles`` in ns; or text with a unit.
    """

    TABLES = ("network.channel",)
    credit_delay_cycles: int = default(0)
    credit_delay_ns: float | str | Sequence[float | str] = default(None)
    latency_cycles: int = default(0)
    latency_ns: float | str | Sequence[float | str] = default(None)
    local_latency_cycles: int = default(0)
    local_latency_ns: float | str | Sequence[float | str] = default(None)


@value
class Pacing(Value):
    """Pauses of injection ports that depend on the message: only for workloads that are schedules. See the model page,
    step 2b.

    * ``aggregate``: A port pauses after the last packet of a message, too, and the pause is shared by all messages
      that the NIC sends in the step: with ``m`` of them and ``c`` ports MOD becomes ``MOD * min(c, m) / m``, rounded
      up. Default: false.
    * ``gap_packets``: Pause, where ``kind`` is fixed [packets], 0 to 1000000. Default: 0.
    * ``kind``: What the length of a pause follows from. Default: none.
    * ``over``: Which messages are counted together. Default: step.
    * ``unit``: What a packet's worth of pause is. Default: longest_packet.
    """

    TABLES = ("network.nic.pacing",)
    aggregate: bool = default(False)
    gap_packets: int = default(0)
    kind: Literal["none", "fixed", "mod", "hops"] = default("none")
    over: Literal["step", "schedule"] = default("step")
    unit: Literal["longest_packet", "packet"] = default("longest_packet")


@value
class Service(Value):
    """In which order a NIC sends the packets of messages that wait at its injection ports; only for workloads that are
    schedules.

    * ``active_queue_pairs``: Most queue pairs that are active at a time; a message that needs one more waits, and
      holds up those behind it. Default (0): as many as there are.
    * ``burst_packets``: Packets of a queue pair that are sent one after the other, if it has so many, before it is the
      turn of another one, at least 1. Default: 1.
    * ``message_overhead_cycles``: Time that the adapter spends on a message before its first packet, in which its
      queue pair sends nothing and other ones can [cycles], 0 to 1000000000. Default: 0.
    * ``message_overhead_ns``: ``message_overhead_cycles`` in ns; or text with a unit.
    * ``order``: Whose packet a free injection port sends next. Default: fifo.
    * ``queue_pairs``: Which messages share a queue pair, in which they go one after the other. Default: message.
    * ``start_jitter_cycles``: Each message takes so much longer to begin, drawn evenly from 0 to one less than this by
      the seed of the run [cycles], 0 to 1000000000. Default: 0.
    * ``start_jitter_ns``: ``start_jitter_cycles`` in ns; or text with a unit.
    """

    TABLES = ("network.nic.service",)
    active_queue_pairs: int = default(0)
    burst_packets: int = default(1)
    message_overhead_cycles: int = default(0)
    message_overhead_ns: float | str | Sequence[float | str] = default(None)
    order: Literal["fifo", "round_robin", "random"] = default("fifo")
    queue_pairs: Literal["message", "peer"] = default("message")
    start_jitter_cycles: int = default(0)
    start_jitter_ns: float | str | Sequence[float | str] = default(None)


@value
class Nic(Value):
    """The network interface of a terminal.

    * ``ejection_port``: Which of the terminal's ejection ports a packet takes. Default: any.
    * ``injection_vc``: Which virtual channel a new packet takes at its injection port. Default: emptiest.
    * ``injection_vcs``: The virtual channels of its injection port that a terminal may fill, by number, ascending,
      each at most once. Default: all.
    * ``pacing``: Pauses that depend on the message: by its step's overlap, by hops, or fixed. Default: none.
    * ``packet_gap_cycles``: Pause of an injection port after each packet [cycles], 0 to 1000000. Default: 0.
    * ``packet_gap_ns``: ``packet_gap_cycles`` in ns; or text with a unit.
    * ``ports``: Injection ports, and as many ejection ports, of 1 flit/cycle each, 1 to 52: messages that are sent,
      and received, at once. Default: 1.
    * ``service``: In which order packets of messages that wait are sent. Default: one message after the other.
    * ``service_level``: By what packets have their service level, which gives them their virtual channel under
      vc_policy = "service_level". There are as many levels as ``router.sl_to_vl`` has entries. Default: destination.
    * ``source_queue``: Whose turn it is at the source queue, where a workload and a background run together. Default:
      fifo.
    """

    TABLES = ("network.nic",)
    ejection_port: Literal["any", "same_port", "by_source"] = default("any")
    injection_vc: Literal["emptiest", "round_robin"] = default("emptiest")
    injection_vcs: Sequence[int] = default(None)
    pacing: Pacing | Literal["none", "fixed", "mod", "hops"] | Mapping[str, Any] = default(None)
    packet_gap_cycles: int = default(0)
    packet_gap_ns: float | str | Sequence[float | str] = default(None)
    ports: int = default(1)
    service: Service | Mapping[str, Any] = default(None)
    service_level: Literal["destination", "source", "offset"] = default("destination")
    source_queue: Literal["fifo", "alternate"] = default("fifo")


@value
class Compat(Value):
    """Rules of BookSim 2 that no hardware has; all are off by default. `flitwork booksim` sets what a configuration
    file needs.

    * ``adaptive_tie``: Where the adaptive channels of ``min_adapt`` lead if both directions round a ring are equally
      long. Default: same.
    * ``adaptive_vcs``: Adaptive virtual channels of ``min_adapt``, numbers that follow each other, above the escape
      channels; those that are neither are used at injection and ejection only. Default (empty): all but the escape
      channels.
    * ``late_receives``: Schedules: a receive is complete one cycle after its message has come, so that what waited for
      it starts a cycle later. Default: false.
    * ``opposite_minus_class``: Plain dimension order where a dimension wraps: towards minus the dateline class of a
      packet is the opposite one, 0 where its route crosses the dateline and 1 where it does not. Default: false.
    * ``pipelined_stages``: Whether route computation and switch traversal of several cycles take up what comes in each
      of them. If not, a router's heads that come while others are being routed wait until those are through, and are
      then routed together; flits in the switch likewise. Default: true.
    * ``productive``: Which productive ports ``min_adapt`` offers; first: the dimension-order one alone. Default: all.
    * ``shared_middle_vc``: Where a routing divides an odd number of virtual channels into two halves: the middle one
      belongs to both. Default: false.
    * ``speculation_needs_all_sets``: Speculation of ``min_adapt`` where it asks for all its ports at once: a
      speculative grant of the switch is wasted unless each of these ports has a virtual channel that the packet could
      be given. Default: false.
    """

    TABLES = ("network.router.compat",)
    adaptive_tie: Literal["same", "plus", "minus"] = default("same")
    adaptive_vcs: Sequence[int] = default(None)
    late_receives: bool = default(False)
    opposite_minus_class: bool = default(False)
    pipelined_stages: bool = default(True)
    productive: Literal["all", "first"] = default("all")
    shared_middle_vc: bool = default(False)
    speculation_needs_all_sets: bool = default(False)


@value
class Allocator(Value):
    """An allocator: a matching between requesters and resources.

    * ``arbiter``: The arbiters of a separable allocator. iSLIP is round robin by definition; of a wavefront it is the
      order in which requests of one priority come, so only arbiters with priorities (oldest_first, fcfs) change
      anything. Default: round_robin.
    * ``iterations``: Iterations of iSLIP, 1 to 16; the other kinds take 1. Default: 1.
    * ``kind``: The algorithm. Default: islip.
    """

    TABLES = ("network.router.sw_allocator", "network.router.vc_allocator",)
    arbiter: Literal["round_robin", "matrix", "oldest_first", "fcfs"] = default("round_robin")
    iterations: int = default(1)
    kind: Literal["islip", "separable_input_first", "separable_output_first", "wavefront"] = default("islip")


@value
class Router(Value):
    """The input-queued virtual-channel router. Delays count cycles of a head flit; see the model page of the
    documentation for the cycle-by-cycle rules. The defaults make a router of one cycle a hop.

    * ``buffer_bytes``: ``buffer_flits`` in bytes; or text with a unit.
    * ``buffer_flits``: Buffer of each virtual channel [flits], 1 to 65535. Default: 16.
    * ``compat``: Rules of BookSim 2 that no hardware has; all are off by default.
    * ``hold_switch_for_packet``: Keep the path through the switch for a packet until its tail, or until it stalls.
      Default: false.
    * ``hold_switch_until_tail``: Keep the path through the switch for a packet until its tail has been sent, in any
      case; needs virtual cut-through. Default: false.
    * ``injection_priority``: Whether packets at injection ports wait for those that came over a channel, in VC and
      switch allocation. Default: equal.
    * ``input_speedup``: Flits that an input port may send a cycle, of different virtual channels modulo this number; 1
      to 64. Default: 1.
    * ``output_speedup``: Flits that an output port may accept a cycle (it sends on 1), 1 to 64. Default: 1.
    * ``pipeline``: Whether packets that wait behind another one in their buffer are routed meanwhile. Default:
      at_front.
    * ``routing_delay_cycles``: Route computation [cycles], 0 to 10000; 0 is lookahead routing. Default: 0.
    * ``routing_delay_ns``: ``routing_delay_cycles`` in ns; or text with a unit.
    * ``shared_buffer_bytes``: ``shared_buffer_flits`` in bytes; or text with a unit.
    * ``shared_buffer_flits``: Buffer that the virtual channels of a port share besides their own [flits], 0 to 65535
      with ``buffer_flits``. Default: 0.
    * ``sl_to_vl``: The virtual channel (virtual lane, VL) of each service level: packets of service level ``s`` use
      number ``sl_to_vl[s]``. Only with vc_policy = "service_level", which needs it.
    * ``speculative``: Request the switch in the cycle of the virtual-channel request. Default: false.
    * ``st_delay_cycles``: Switch traversal [cycles], 0 to 10000. Default: 0.
    * ``st_delay_ns``: ``st_delay_cycles`` in ns; or text with a unit.
    * ``sw_alloc_delay_cycles``: Switch allocation [cycles], 1 to 10000. Default: 1.
    * ``sw_alloc_delay_ns``: ``sw_alloc_delay_cycles`` in ns; or text with a unit.
    * ``sw_allocator``: Matches input ports to output ports each cycle. Default: iSLIP of 1 iteration.
    * ``switching``: What a head flit needs to advance. Default: wormhole.
    * ``vc_alloc_delay_cycles``: Virtual-channel allocation [cycles], 0 to 10000; 0 allows switch allocation in the
      same cycle. Default: 0.
    * ``vc_alloc_delay_ns``: ``vc_alloc_delay_cycles`` in ns; or text with a unit.
    * ``vc_allocator``: Matches waiting packets to output virtual channels. Default: iSLIP of 1 iteration.
    * ``vc_busy_when_full``: Do not request output virtual channels that have no credit. Default: false.
    * ``vc_policy``: Which virtual channels a packet may use. Default: dateline.
    * ``vcs``: Virtual channels of each port, 1 to 640; a wrapped dimension needs 2. Default: 2.
    * ``wait_for_tail_credit``: Reuse an output virtual channel only after all credits of its last packet are back;
      routings with an escape network need it under wormhole switching. Default: false.
    """

    TABLES = ("network.router",)
    buffer_bytes: float | str | Sequence[float | str] = default(None)
    buffer_flits: int = default(16)
    compat: Compat | Mapping[str, Any] = default(None)
    hold_switch_for_packet: bool = default(False)
    hold_switch_until_tail: bool = default(False)
    injection_priority: Literal["equal", "last"] = default("equal")
    input_speedup: int = default(1)
    output_speedup: int = default(1)
    pipeline: Literal["at_front", "pipelined"] = default("at_front")
    routing_delay_cycles: int = default(0)
    routing_delay_ns: float | str | Sequence[float | str] = default(None)
    shared_buffer_bytes: float | str | Sequence[float | str] = default(None)
    shared_buffer_flits: int = default(0)
    sl_to_vl: Sequence[int] = default(None)
    speculative: bool = default(False)
    st_delay_cycles: int = default(0)
    st_delay_ns: float | str | Sequence[float | str] = default(None)
    sw_alloc_delay_cycles: int = default(1)
    sw_alloc_delay_ns: float | str | Sequence[float | str] = default(None)
    sw_allocator: Allocator | Literal["islip", "separable_input_first", "separable_output_first", "wavefront"] | Mapping[str, Any] = default(Allocator())
    switching: Literal["wormhole", "virtual_cut_through"] = default("wormhole")
    vc_alloc_delay_cycles: int = default(0)
    vc_alloc_delay_ns: float | str | Sequence[float | str] = default(None)
    vc_allocator: Allocator | Literal["islip", "separable_input_first", "separable_output_first", "wavefront"] | Mapping[str, Any] = default(Allocator())
    vc_busy_when_full: bool = default(False)
    vc_policy: Literal["dateline", "destination", "service_level", "virtual_output_queues"] = default("dateline")
    vcs: int = default(2)
    wait_for_tail_credit: bool = default(False)


@value
class Units(Value):
    """What a flit carries and how long a cycle takes: what is said in bytes, ns or bytes/s becomes flits and cycles by
    them, and results are in both. Two of the three say all. A network that is told all in flits and cycles needs none.

    * ``channel_bytes_per_s``: Bandwidth of a channel, which takes a flit in every cycle [bytes/s], more than 0 and at
      most 10^15; or text such as "4 GB/s", "100 Gbit/s". Default: not said.
    * ``cycle_ns``: Length of a cycle [ns], more than 0 and at most 1000000. Default: not said.
    * ``flit_bytes``: Size of a flit [bytes], 1 to 1000000. Default: not said.
    * ``header_bytes``: Header of each packet [bytes], 0 to 1000000: a message in bytes takes so much more for each of
      its packets, whose longest (``packet_bytes``, ``packet_flits``) is with its header. Default: 0.
    * ``rounding``: What becomes of times in ns that are no whole number of cycles: ``nearest`` takes the nearest
      number of cycles, and the plan says by how much each time was changed; ``exact`` refuses them. Default: nearest.
    """

    TABLES = ("network.units",)
    channel_bytes_per_s: float | str = default(None)
    cycle_ns: float | str = default(None)
    flit_bytes: int | str = default(None)
    header_bytes: int | str = default(0)
    rounding: Literal["nearest", "exact"] = default("nearest")


@value
class Without(Value):
    """Faults: cables, routers and terminals that do not work, listed or drawn by a seed. With one seed a larger number
    of faults includes the smaller one, so a sweep over the number adds faults.

    * ``cable_rate``: Probability that a cable fails, 0 to 1. Default: 0.
    * ``cables``: Faulty cables, each as the two routers that it joins, by number or name; both directions fail. Of
      parallel cables each entry removes one. Default: none.
    * ``random_cables``: Number of further faulty cables, drawn at random. Default: 0.
    * ``random_routers``: Number of further faulty routers, drawn at random. Default: 0.
    * ``routers``: Faulty routers, by number or name. Their cables and terminals fail too. Default: none.
    * ``seed``: Seed of the random faults. Default: 1.
    * ``terminals``: Faulty terminals (adapters), by name or by their numbers in the network without faults. Default:
      none.
    """

    TABLES = ("network.without",)
    cable_rate: float = default(0)
    cables: Sequence[Sequence[int | str]] = default(None)
    random_cables: int = default(0)
    random_routers: int = default(0)
    routers: Sequence[int | str] = default(None)
    seed: int = default(1)
    terminals: Sequence[int | str] = default(None)


@value
class Start(Value):
    """When ranks begin. The imbalance of Shibamura et al. 2012 is `normal_range`, sorted.

    * ``cycles``: Start of each rank [cycles], where they are listed. Default: none.
    * ``kind``: How the starts lie. Default: together.
    * ``latest_cycles``: Latest start [cycles], where starts are drawn, 0 to 2^40. Default: 0.
    * ``latest_ns``: ``latest_cycles`` in ns; or text with a unit.
    * ``ns``: ``cycles`` in ns, each; or text with a unit.
    * ``order``: Which rank gets which start. Default: sorted.
    """

    TABLES = ("host.start",)
    cycles: Sequence[int] = default(None)
    kind: Literal["together", "normal_range", "normal_sigma", "uniform", "list"] = default("together")
    latest_cycles: int = default(0)
    latest_ns: float | str | Sequence[float | str] = default(None)
    ns: float | str | Sequence[float | str] = default(None)
    order: Literal["sorted", "drawn"] = default("sorted")


@value
class Host(Value):
    """What executes a schedule: only for workloads that are one, such as all_to_all.

    * ``control_bytes``: ``control_flits`` in bytes; or text with a unit.
    * ``control_flits``: Length of the request and of the answer of a rendezvous, one packet each [flits], at least 1.
      Default: 1.
    * ``copy_bytes_per_s``: ``copy_flits_per_cycle`` in bytes/s; or text with a unit.
    * ``copy_flits_per_cycle``: Most that is copied between the ranks of a terminal, all of them together
      [flits/cycle], more than 0: their messages are copied in memory and do not enter the network. Default: they go
      through the router, as packets of the terminal to itself.
    * ``eager_limit_bytes``: ``eager_limit_flits`` in bytes; or text with a unit.
    * ``eager_limit_flits``: Longest message that is sent at once [flits]. A longer one goes by rendezvous: its send
      sends a request, the receiver answers when the receive is posted, and then the data goes. Default: none, all are
      sent at once.
    * ``late_sends``: What a rank does with a send whose time is over. Default: send.
    * ``late_tolerance_cycles``: Where late sends are kept: one that is late by no more than this is sent at once
      [cycles]. Default: 0.
    * ``late_tolerance_ns``: ``late_tolerance_cycles`` in ns; or text with a unit.
    * ``noise``: Times in which ranks have no CPU. Default: none.
    * ``placement``: Which terminal each rank runs on. Default: block, rank r on terminal r / ranks_per_terminal.
    * ``ranks_per_terminal``: Ranks on each terminal, 1 to 1000: the workload has so many times as many ranks as the
      network has terminals, unless the placement says how many. All ranks of a terminal are a server to algorithms
      that know servers; those that go by coordinates need 1. Default: 1.
    * ``read_bytes_per_s``: ``read_flits_per_cycle`` in bytes/s; or text with a unit.
    * ``read_flits_per_cycle``: Most that is read from the memory of a terminal for its messages that are sent
      [flits/cycle], more than 0: they are read one after the other, and a packet is sent when all of it has been read.
      Default: memory takes no time.
    * ``receive_copy_bytes_per_s``: ``receive_copy_flits_per_cycle`` in bytes/s; or text with a unit.
    * ``receive_copy_flits_per_cycle``: Most that a rank copies of messages that it has received [flits/cycle], more
      than 0: so long it computes when it has waited for one that was sent at once. Default: nothing is copied.
    * ``receive_overhead_cycles``: Software time of a receive: so long its rank computes when it has waited for it
      [cycles]. Default: 0.
    * ``receive_overhead_ns``: ``receive_overhead_cycles`` in ns; or text with a unit.
    * ``reduce_cycles_per_flit``: Time in which a rank adds up what a message of a reduction brings [cycles/flit], at
      least 0: so long it computes when it has waited for it. Of collectives and rank programs. Default: 0.
    * ``send_overhead_cycles``: Software time of a send: so long its rank computes before the message joins the send
      queue [cycles]. Default: 0.
    * ``send_overhead_ns``: ``send_overhead_cycles`` in ns; or text with a unit.
    * ``send_queue``: In which order the messages of a rank leave: program_order (a message that waits for its
      dependencies holds up those behind it) or as_ready (none holds up another). Default: program_order.
    * ``start``: When ranks begin. Default: together.
    """

    TABLES = ("host",)
    control_bytes: float | str | Sequence[float | str] = default(None)
    control_flits: int = default(1)
    copy_bytes_per_s: float | str | Sequence[float | str] = default(None)
    copy_flits_per_cycle: float = default(None)
    eager_limit_bytes: float | str | Sequence[float | str] = default(None)
    eager_limit_flits: int = default(None)
    late_sends: Literal["send", "keep"] = default("send")
    late_tolerance_cycles: int = default(0)
    late_tolerance_ns: float | str | Sequence[float | str] = default(None)
    noise: Noise | Literal["periodic", "exponential", "file"] | Mapping[str, Any] = default(None)
    placement: Placement | Literal["block", "round_robin", "list", "counts"] | Mapping[str, Any] = default(None)
    ranks_per_terminal: int = default(1)
    read_bytes_per_s: float | str | Sequence[float | str] = default(None)
    read_flits_per_cycle: float = default(None)
    receive_copy_bytes_per_s: float | str | Sequence[float | str] = default(None)
    receive_copy_flits_per_cycle: float = default(None)
    receive_overhead_cycles: int = default(0)
    receive_overhead_ns: float | str | Sequence[float | str] = default(None)
    reduce_cycles_per_flit: float = default(0)
    send_overhead_cycles: int = default(0)
    send_overhead_ns: float | str | Sequence[float | str] = default(None)
    send_queue: Literal["program_order", "as_ready"] = default("program_order")
    start: Start | Literal["together", "normal_range", "normal_sigma", "uniform", "list"] | Mapping[str, Any] = default(None)


@value
class Record(Value):
    """What to record besides the summary; each costs time or memory.

    * ``channel_window_cycles``: Flits over every channel, per window of this many cycles [cycles]. Default (0): totals
      only.
    * ``channel_window_ns``: ``channel_window_cycles`` in ns; or text with a unit.
    * ``delivery_window_cycles``: Packets and flits received per window of this many cycles from t = 0 on, of workload
      and background apart [cycles]. Default (0): totals only.
    * ``delivery_window_ns``: ``delivery_window_cycles`` in ns; or text with a unit.
    * ``operations``: What ranks did and when, which ``flitwork explain`` asks for: each operation of a schedule or a
      program, and who sent each packet. Default: false.
    * ``packets``: Every packet's source, destination, length and times. Default: false.
    * ``stalls``: Why flits stand still: counts by reason, per channel. Default: false.
    * ``waits``: Where and why each packet waited, which ``flitwork explain`` asks for: by packet, router, output port
      and reason. Packets are recorded with it, and the flit kernel runs. With ``channel_window_cycles`` also by window
      of time, which ``flitwork view`` shows. Default: false.
    """

    TABLES = ("run.record",)
    channel_window_cycles: int = default(0)
    channel_window_ns: float | str | Sequence[float | str] = default(None)
    delivery_window_cycles: int = default(0)
    delivery_window_ns: float | str | Sequence[float | str] = default(None)
    operations: bool = default(False)
    packets: bool = default(False)
    stalls: bool = default(False)
    waits: bool = default(False)


@value
class Steady(Value):
    """Open loop: instead of a fixed warm-up and measurement, detect the end of the warm-up and measure until the mean
    packet latency is known well enough. Write an empty table to take every default.

    * ``confidence``: Confidence of all intervals, 0.5 to 0.9999. Default: 0.95.
    * ``max_cycles``: Most cycles of warm-up and measurement together, at most half of them warm-up [cycles], at least
      1000. A run that ends there knows its mean less well than was asked. Default: 200000.
    * ``max_ns``: ``max_cycles`` in ns; or text with a unit.
    * ``min_measurement_cycles``: Fewest cycles of measurement [cycles]; four times as many where the network is
      saturated, as it may take long to collapse. Default: 10000.
    * ``min_measurement_ns``: ``min_measurement_cycles`` in ns; or text with a unit.
    * ``min_warmup_cycles``: Fewest cycles of warm-up [cycles]. Default: 5000.
    * ``min_warmup_ns``: ``min_warmup_cycles`` in ns; or text with a unit.
    * ``relative_ci``: Half width of the confidence interval of the mean packet latency at which the measurement ends,
      as a share of the mean; more than 0 and less than 1. A saturated network: of the accepted load. Default: 0.02.
    * ``warmup``: What says that the warm-up is over. Default: mser.
    """

    TABLES = ("run.steady",)
    confidence: float = default(0.95)
    max_cycles: int = default(200000)
    max_ns: float | str | Sequence[float | str] = default(None)
    min_measurement_cycles: int = default(10000)
    min_measurement_ns: float | str | Sequence[float | str] = default(None)
    min_warmup_cycles: int = default(5000)
    min_warmup_ns: float | str | Sequence[float | str] = default(None)
    relative_ci: float = default(0.02)
    warmup: Literal["mser", "stable"] = default("mser")


@value
class Run(Value):
    """Seed, phases, limits and what to record.

    * ``deadlock_check``: Refuse a network whose packets could wait for each other for ever. Without it such a run ends
      with an error when the watchdog finds that they do. Default: true.
    * ``kernel``: What advances the network: auto (by whole packets where that gives the same result, else flit by
      flit), flit or packet. Default: auto.
    * ``max_cycles``: Cycles after which the run ends in any case [cycles], at least 1. For what runs to completion an
      error; an open loop ends as ``saturated`` or ``not_converged``, and needs at least warm-up and measurement.
      Default: for what completes, 10^9 or twice the warm-up, and the last cycle of a trace on top; 100 times warm-up
      and measurement for an open loop; twice the limit of ``steady`` (written as 0).
    * ``max_ns``: ``max_cycles`` in ns; or text with a unit.
    * ``measurement_cycles``: Open loop: packets created, and flits ejected, in this many cycles count [cycles], at
      least 1; not together with ``steady``, and not for a workload that completes, of which all is measured. Default:
      3000.
    * ``measurement_ns``: ``measurement_cycles`` in ns; or text with a unit.
    * ``memory_limit_mb``: Memory that the simulation may take [MB]. Default (0): three quarters of what the machine
      has, or of less where a control group, ulimit or SLURM allows less.
    * ``record``: What to record besides the summary.
    * ``seed``: Seed of all random choices. Default: 1.
    * ``steady``: Open loop: detect the warm-up and measure until the mean latency is known well enough. Without this
      table: fixed warm-up and measurement.
    * ``threads``: Threads that advance the network, which they share out among them: a number from 1 to 64, or auto
      (as many as the machine has cores, where the network has enough to do). The result is the same for any number,
      and says how many it was (``threads``) and, where this network cannot be shared out, why (``threads_why``).
      Default: 1.
    * ``warmup_cycles``: Open loop: cycles before measurement starts [cycles]; not together with ``steady``. With a
      background beside a workload that completes: cycles of background alone before t = 0; without one it completes
      from cycle 0 on. Default: 3000.
    * ``warmup_ns``: ``warmup_cycles`` in ns; or text with a unit.
    * ``watchdog_cycles``: Interval at which the run is searched for packets that can only wait for each other, whether
      or not others move [cycles], at least 1. It is also searched at its end. What is found is an error. Default:
      10000.
    * ``watchdog_ns``: ``watchdog_cycles`` in ns; or text with a unit.
    """

    TABLES = ("run",)
    deadlock_check: bool = default(True)
    kernel: Literal["auto", "flit", "packet"] = default("auto")
    max_cycles: int = default(0)
    max_ns: float | str | Sequence[float | str] = default(None)
    measurement_cycles: int = default(3000)
    measurement_ns: float | str | Sequence[float | str] = default(None)
    memory_limit_mb: int = default(0)
    record: Record | Mapping[str, Any] = default(Record())
    seed: int = default(1)
    steady: Steady | Mapping[str, Any] = default(None)
    threads: int | Literal["auto"] = default(1)
    warmup_cycles: int = default(3000)
    warmup_ns: float | str | Sequence[float | str] = default(None)
    watchdog_cycles: int = default(10000)
    watchdog_ns: float | str | Sequence[float | str] = default(None)
