//! The oracle against numbers worked out by hand, and against BookSim 2.

use super::pace::Pauses;
use super::{Load, Outcome, TracePacket, run};
use flitwork::routing::{DatelineClasses, DimensionOrder, DimensionOrderOptions, MinAdaptOptions, Selection, Tie};
use flitwork::schedule::{OpKind, Placement, ScheduleBuilder};
use flitwork::spec::{
    ChannelSpec, CompatSpec, HostSpec, NetworkSpec, NicSpec, Pipeline, RouterSpec, RoutingSpec, TopologySpec, UnitsSpec,
};
use flitwork::topology::{Grid, Mesh, Torus, Without};

fn network(topology: TopologySpec, router: RouterSpec, channel: ChannelSpec) -> NetworkSpec {
    NetworkSpec {
        topology,
        without: Without::default(),
        routing: None,
        router,
        channel,
        nic: NicSpec::default(),
        bus: None,
        barrier_tree: None,
        units: UnitsSpec::default(),
    }
}

fn torus(size: &[u32]) -> TopologySpec {
    TopologySpec::Torus(Torus { size: size.to_vec(), ring2: Default::default(), terminals_per_router: 1 })
}

fn mesh(size: &[u32], terminals_per_router: u32) -> TopologySpec {
    TopologySpec::Mesh(Mesh { size: size.to_vec(), terminals_per_router })
}

/// A packet with the header of its routing, one terminal a router.
fn packet(grid: &Grid, src: u32, dst: u32, flits: u32, created: u64) -> TracePacket {
    let routing = DimensionOrder { order: (0..grid.dims()).collect(), tie: Tie::Parity };
    let h = routing.header(grid, &grid.coords(src), &grid.coords(dst), 0);
    TracePacket { src, dst, flits, created, minus: h.minus, wraps: h.wraps, message: 0 }
}

/// A packet that walks only in plus directions and crosses no wrap channel.
fn plus(src: u32, dst: u32, flits: u32) -> TracePacket {
    TracePacket { src, dst, flits, created: 0, minus: 0, wraps: 0, message: 0 }
}

fn arrivals(outcome: &Outcome) -> Vec<u64> {
    assert!(!outcome.deadlocked);
    outcome.packets.iter().map(|p| p.arrived).collect()
}

fn arrivals_of(spec: &NetworkSpec, packets: Vec<TracePacket>) -> Vec<u64> {
    arrivals(&run(spec, 1, Load::Trace(packets), 100_000, 1_000))
}

/// BookSim's default pipeline: route, VC, switch and traversal of one cycle each, channels of one cycle.
fn booksim(router: RouterSpec) -> (RouterSpec, ChannelSpec) {
    let router = RouterSpec {
        routing_delay_cycles: 1,
        vc_alloc_delay_cycles: 1,
        sw_alloc_delay_cycles: 1,
        st_delay_cycles: 1,
        ..router
    };
    (router, ChannelSpec { latency_cycles: 1, local_latency_cycles: 1, credit_delay_cycles: 0 })
}

#[test]
fn a_lone_packet_takes_the_time_of_the_formula() {
    let grid = Grid::mesh(&[4, 3]);
    // (R, A, switch, traversal, latency, local latency)
    let pipelines =
        [(0, 0, 1, 0, 0, 0), (1, 1, 1, 1, 1, 1), (2, 0, 1, 0, 3, 0), (0, 3, 2, 1, 0, 2), (3, 2, 4, 0, 7, 5)];
    for (r, a, sw, st, wire, local) in pipelines {
        for (dst, hops) in [(0, 0), (1, 1), (5, 2), (11, 5)] {
            for flits in [1, 2, 9] {
                let router = RouterSpec {
                    buffer_flits: 64,
                    routing_delay_cycles: r,
                    vc_alloc_delay_cycles: a,
                    sw_alloc_delay_cycles: sw,
                    st_delay_cycles: st,
                    ..RouterSpec::default()
                };
                let channel = ChannelSpec { latency_cycles: wire, local_latency_cycles: local, credit_delay_cycles: 2 };
                let spec = network(mesh(&[4, 3], 1), router, channel);
                let (inject, hop, eject) = (local + 1, r + a + sw + st + wire, r + a + sw + st + local);
                let expected = u64::from(inject + hops * hop + eject + flits - 1);
                assert_eq!(arrivals_of(&spec, vec![packet(&grid, 0, dst, flits, 7)]), [7 + expected]);
            }
        }
    }
}

/// Zero-load latencies that BookSim 2 prints for these settings.
#[test]
fn a_lone_packet_takes_as_long_as_in_booksim() {
    let grid = Grid::torus(&[8, 8]);
    let tornado = || vec![packet(&grid, 0, 3 + 3 * 8, 1, 0)];
    let (base, channel) = booksim(RouterSpec::default());
    let on_torus =
        |router: RouterSpec, packets| arrivals_of(&network(torus(&[8, 8]), router, channel.clone()), packets);
    assert_eq!(on_torus(base.clone(), tornado()), [37]);
    assert_eq!(on_torus(RouterSpec { routing_delay_cycles: 0, ..base.clone() }, tornado()), [30]);
    assert_eq!(on_torus(RouterSpec { speculative: true, ..base.clone() }, tornado()), [30]);
    assert_eq!(on_torus(RouterSpec { routing_delay_cycles: 0, speculative: true, ..base.clone() }, tornado()), [23]);
    assert_eq!(on_torus(RouterSpec { st_delay_cycles: 2, ..base.clone() }, tornado()), [44]);
    assert_eq!(on_torus(RouterSpec { routing_delay_cycles: 3, ..base.clone() }, tornado()), [51]);
    assert_eq!(on_torus(base.clone(), vec![packet(&grid, 9, 9, 1, 0)]), [7]);
    for (flits, expected) in [(1, 17), (4, 20), (8, 24)] {
        assert_eq!(on_torus(base.clone(), vec![packet(&grid, 0, 9, flits, 0)]), [expected]);
    }
    let slow = ChannelSpec { latency_cycles: 2, ..channel.clone() };
    assert_eq!(arrivals_of(&network(torus(&[8, 8]), base.clone(), slow), tornado()), [43]);
    let grid = Grid::mesh(&[8, 8]);
    let on_mesh = |packets| arrivals_of(&network(mesh(&[8, 8], 1), base.clone(), channel.clone()), packets);
    assert_eq!(on_mesh(vec![packet(&grid, 0, 63, 1, 0)]), [77]);
    assert_eq!(on_mesh(vec![packet(&grid, 0, 63, 4, 0)]), [80]);
}

/// Six hops of a lone packet of 8 flits with a switch of two cycles: 44 for the head, 7 for the others. If the switch
/// takes a batch at a time, the second flit comes while the head is in it and enters behind it, a cycle late, together
/// with the third; the following ones in pairs likewise. In the other routers they come at the pace at which they can
/// enter. Heads do not meet.
#[test]
fn a_switch_that_is_not_pipelined_takes_a_batch_at_a_time() {
    let grid = Grid::torus(&[8, 8]);
    for (pipelined_stages, flits, expected) in [(true, 8, 51), (false, 8, 52), (true, 1, 44), (false, 1, 44)] {
        let (base, channel) = booksim(RouterSpec::default());
        let router = RouterSpec { st_delay_cycles: 2, compat: stages(pipelined_stages), ..base };
        let spec = network(torus(&[8, 8]), router, channel);
        assert_eq!(arrivals_of(&spec, vec![packet(&grid, 0, 3 + 3 * 8, flits, 0)]), [expected]);
    }
}

/// Heads of terminals 0 and 1 arrive at router 0 in cycles 1 and 2. Routing takes 3 cycles: the first asks in cycle 4
/// and once more at router 1; the second, which comes while the first is being routed and goes to its own terminal, in
/// cycle 4 + 3 instead of 5.
#[test]
fn heads_that_come_while_others_are_routed_are_routed_after_them() {
    for (pipelined_stages, second) in [(true, 6), (false, 8)] {
        let router = RouterSpec { routing_delay_cycles: 3, compat: stages(pipelined_stages), ..RouterSpec::default() };
        let spec = network(mesh(&[2], 2), router, ChannelSpec::default());
        let packets = vec![plus(0, 2, 1), TracePacket { created: 1, ..plus(1, 1, 1) }];
        assert_eq!(arrivals_of(&spec, packets), [9, second]);
    }
}

#[test]
fn a_short_buffer_throttles_a_packet_as_in_booksim() {
    let grid = Grid::torus(&[8, 8]);
    for (buffer_flits, expected) in [(1, 72), (4, 45), (5, 44), (8, 44)] {
        let (router, channel) = booksim(RouterSpec { buffer_flits, ..RouterSpec::default() });
        let spec = network(torus(&[8, 8]), router, channel);
        assert_eq!(arrivals_of(&spec, vec![packet(&grid, 0, 27, 8, 0)]), [expected], "buffer of {buffer_flits}");
    }
}

/// Terminals 0 and 1 share router 0 and send 4 flits each to terminal 2 at router 1, whose heads arrive in cycle 1.
/// Every column of iSLIP grants terminal 0's row first; terminal 1's packet gets its VC in cycle 2, and from then on
/// the grant pointer alternates: flits of 0 in cycles 1, 3, 5, 7, of 1 in cycles 2, 4, 6, 8. Each takes two cycles
/// more.
#[test]
fn two_packets_share_a_channel_flit_by_flit() {
    let spec = network(mesh(&[2], 2), RouterSpec::default(), ChannelSpec::default());
    assert_eq!(arrivals_of(&spec, vec![plus(0, 2, 4), plus(1, 2, 4)]), [9, 10]);
}

/// As above, but in cycle 2 terminal 1's packet has two flits in the buffer: the path through the switch is held for it
/// up to its tail in cycle 5. Then terminal 0's other three flits follow in cycles 6 to 8.
#[test]
fn a_held_switch_serves_one_packet_at_a_time() {
    let router = RouterSpec { hold_switch_for_packet: true, ..RouterSpec::default() };
    let spec = network(mesh(&[2], 2), router, ChannelSpec::default());
    assert_eq!(arrivals_of(&spec, vec![plus(0, 2, 4), plus(1, 2, 4)]), [10, 7]);
}

/// As above with one VC and no hold: terminal 1's packet gets the VC in the cycle after terminal 0's tail, 5, and its
/// flits cross in cycles 5 to 8. At router 1 the same holds for the VC of the ejection port.
#[test]
fn a_virtual_channel_has_one_owner() {
    let router = RouterSpec { vcs: 1, ..RouterSpec::default() };
    let spec = network(mesh(&[2], 2), router, ChannelSpec::default());
    assert_eq!(arrivals_of(&spec, vec![plus(0, 2, 4), plus(1, 2, 4)]), [6, 10]);
}

/// Routing and VC allocation of a cycle each, one VC, two packets of 4 flits from terminal 0 to terminal 1, their heads
/// at router 0 in cycles 1 and 5. The first asks in cycle 2 and crosses in cycles 3 to 6, at router 1 in 6 to 9. The
/// second comes to the front in cycle 7. At the front only, it asks in cycle 8 and crosses from 9 on, and, at router 1
/// from 10 on, from 12 on. In a pipeline its stages are over in cycle 7, when it asks and crosses; at router 1, where
/// its head came in 8, it follows the first from cycle 10 on.
#[test]
fn a_pipelined_router_leaves_no_gap_between_packets_of_one_vc() {
    for (pipeline, second) in [(Pipeline::AtFront, 16), (Pipeline::Pipelined, 14)] {
        let spec = network(mesh(&[2], 1), stages_of_one_cycle(pipeline), ChannelSpec::default());
        assert_eq!(arrivals_of(&spec, vec![plus(0, 1, 4), TracePacket { message: 1, ..plus(0, 1, 4) }]), [10, second]);
    }
}

/// As above, with a terminal more at router 0 that sends the second packet: its head is there in cycle 1, too, asks
/// from cycle 2 on, and is given the VC in cycle 7. In a pipeline it crosses in that cycle.
#[test]
fn a_pipelined_router_passes_a_vc_on_without_a_gap() {
    for (pipeline, second) in [(Pipeline::AtFront, 16), (Pipeline::Pipelined, 14)] {
        let spec = network(mesh(&[2], 2), stages_of_one_cycle(pipeline), ChannelSpec::default());
        assert_eq!(arrivals_of(&spec, vec![plus(0, 2, 4), plus(1, 2, 4)]), [10, second]);
    }
}

/// 2 hops of a channel that carries 50 packets of 8 flits back to back: the last tail comes 49 * 8 cycles behind the
/// first, which takes 1 + 3 * (1 + 1 + 1) + 7 cycles; with a gap of 2 cycles a packet 49 * 2 later.
#[test]
fn back_to_back_packets_fill_a_channel() {
    for (pipeline, each) in [(Pipeline::AtFront, 10), (Pipeline::Pipelined, 8)] {
        let router = RouterSpec { buffer_flits: 64, ..stages_of_one_cycle(pipeline) };
        let spec = network(mesh(&[3], 1), router, ChannelSpec::default());
        let packets = (0..50).map(|message| TracePacket { message, ..plus(0, 2, 8) }).collect();
        let arrived = arrivals_of(&spec, packets);
        assert_eq!((arrived[0], arrived[49]), (17, 17 + 49 * each));
    }
}

fn stages_of_one_cycle(pipeline: Pipeline) -> RouterSpec {
    RouterSpec { vcs: 1, pipeline, routing_delay_cycles: 1, vc_alloc_delay_cycles: 1, ..RouterSpec::default() }
}

/// Two terminals at router 3 of a ring of 5 send 4 flits each: over the dateline to router 0, and to router 4. With a
/// class for all of its route the first packet has the other VC of the channel that both take: it sends in cycles 1, 3,
/// 5 and 7, the second one in between. If the class changes at the dateline both want VC 0 of it: the first sends in
/// cycles 1 to 4, the second one in 5 to 8.
#[test]
fn before_the_dateline_all_packets_have_one_class() {
    for (classes, first) in [(DatelineClasses::Entered, 10), (DatelineClasses::AtDateline, 7)] {
        let topology = TopologySpec::Torus(Torus { size: vec![5], ring2: Default::default(), terminals_per_router: 2 });
        let options = DimensionOrderOptions { classes, ..DimensionOrderOptions::default() };
        let spec = NetworkSpec {
            routing: Some(RoutingSpec::DimensionOrder(options)),
            ..network(topology, RouterSpec::default(), ChannelSpec::default())
        };
        let packets = vec![TracePacket { wraps: 1, ..plus(6, 0, 4) }, plus(7, 8, 4)];
        assert_eq!(arrivals_of(&spec, packets), [first, 10]);
    }
}

/// With one VC and atomic VCs terminal 1's packet waits in addition for the last credit: terminal 0's tail leaves
/// router 0 in cycle 4, router 1 in 5, its credit is usable in 6.
#[test]
fn an_atomic_virtual_channel_waits_for_the_last_credit() {
    let router = RouterSpec { vcs: 1, wait_for_tail_credit: true, ..RouterSpec::default() };
    let spec = network(mesh(&[2], 2), router, ChannelSpec::default());
    assert_eq!(arrivals_of(&spec, vec![plus(0, 2, 4), plus(1, 2, 4)]), [6, 11]);
}

/// Two heads of one cycle with an output speed-up of 2: both cross the switch as soon as they have VCs, in cycles 1 and
/// 2. With two iterations of VC allocation both have them in cycle 1, and the channel takes them in turn: in cycles 1
/// and 2. With packets of 2 flits the switch sends two flits in cycles 1 and 2; the channel, in order of rows, in
/// cycles 1 to 4.
#[test]
fn an_output_speed_up_queues_for_the_channel() {
    let mut router = RouterSpec { output_speedup: 2, ..RouterSpec::default() };
    router.vc_allocator.iterations.0 = 2;
    let spec = network(mesh(&[2], 2), router, ChannelSpec::default());
    assert_eq!(arrivals_of(&spec, vec![plus(0, 2, 1), plus(1, 2, 1)]), [3, 4]);
    assert_eq!(arrivals_of(&spec, vec![plus(0, 2, 2), plus(1, 2, 2)]), [5, 6]);
}

/// Rank 0 computes for 5 cycles and sends 3 flits, which arrive 5 cycles later (1 to the router, 1 a hop, 1 to the
/// terminal, 2 more flits), in cycle 10. Rank 1 waits for them and answers in that cycle with one flit, which takes 3.
#[test]
fn a_program_computes_sends_and_waits() {
    let mut builder = ScheduleBuilder::new("ping pong");
    let compute = builder.op(OpKind::Compute { time: 5 }, 0, &[]);
    builder.op(OpKind::Send { to: 1, size: 3, tag: 0 }, 0, &[compute]);
    builder.op(OpKind::Receive { from: 1, size: 1, tag: 0 }, 0, &[]);
    builder.end_rank();
    let receive = builder.op(OpKind::Receive { from: 0, size: 3, tag: 0 }, 0, &[]);
    builder.op(OpKind::Wait, 0, &[receive]);
    builder.op(OpKind::Send { to: 0, size: 1, tag: 0 }, 0, &[]);
    builder.end_rank();
    let schedule = builder.build();
    let spec = network(mesh(&[2], 1), RouterSpec::default(), ChannelSpec::default());
    let placement = Placement::one_each(2);
    let host = HostSpec::default();
    let load = |packet_flits| Load::Schedule {
        schedule: &schedule,
        placement: &placement,
        host: &host,
        packet_flits,
        pauses: Pauses::default(),
        decide: None,
    };
    let outcome = run(&spec, 1, load(0), 1_000, 100);
    assert_eq!(arrivals(&outcome), [10, 13]);
    // In packets of 2 flits the second one is created in cycle 7, when the tail of the first has left, and arrives as
    // before.
    let outcome = run(&spec, 1, load(2), 1_000, 100);
    assert_eq!(outcome.packets.iter().map(|p| (p.created, p.arrived)).collect::<Vec<_>>(), [(5, 9), (7, 10), (10, 13)]);
}

/// A ring of 4 whose packets all walk half way round in VC class 0: each holds its first channel and waits for the
/// next.
#[test]
fn the_watchdog_sees_a_deadlock() {
    let (router, channel) = booksim(RouterSpec { buffer_flits: 1, ..RouterSpec::default() });
    let spec = network(torus(&[4]), router, channel);
    let packets = (0..4).map(|src| plus(src, (src + 2) % 4, 9)).collect();
    assert!(run(&spec, 1, Load::Trace(packets), 10_000, 100).deadlocked);
}

/// Minimal adaptive routing on a ring of 5, wormhole, packets of one flit that all walk two hops: once the adaptive
/// buffers are full, each packet is given the next adaptive VC, which is free but has no credit, and can no longer ask
/// for the escape channel. Where a VC is given only when its buffer is empty nobody waits for a credit.
#[test]
fn an_escape_channel_is_of_no_use_to_a_packet_that_waits_for_a_credit() {
    let deadlocks = |wait_for_tail_credit: bool| {
        let router = RouterSpec { vcs: 3, buffer_flits: 2, wait_for_tail_credit, ..RouterSpec::default() };
        let routing =
            RoutingSpec::MinAdapt(MinAdaptOptions { order: vec![], tie: Tie::Plus, selection: Selection::MostCredits });
        let spec = NetworkSpec { routing: Some(routing), ..network(torus(&[5]), router, ChannelSpec::default()) };
        let packets = (0..40).flat_map(|i| (0..5).map(move |src| (i, src)));
        let packets = packets.map(|(i, src)| TracePacket { message: i, ..plus(src, (src + 2) % 5, 1) }).collect();
        run(&spec, 1, Load::Trace(packets), 10_000, 100).deadlocked
    };
    assert!(deadlocks(false) && !deadlocks(true));
}

fn stages(pipelined_stages: bool) -> CompatSpec {
    CompatSpec { pipelined_stages, ..CompatSpec::default() }
}
