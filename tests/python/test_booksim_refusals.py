"""Configurations of BookSim 2: what cannot be obeyed is an error with the key and its line."""

from __future__ import annotations

import re

import flitwork as fw
import pytest
from booksim_files import SMALL, settings
from flitwork.booksim.measure import samples

REFUSALS = [
    ("topologie = mesh;", "topologie", "did you mean `topology`?"),
    ("num_vcs = 2.5;", "num_vcs", "a whole number"),
    ("num_vcs = many;", "num_vcs", "a whole number"),
    ("num_vcs = {2};", "num_vcs", "not a list"),
    ("injection_rate = fast;", "injection_rate", "a number"),
    ("injection_rate = {};", "injection_rate", "at least one entry"),
    ("seed = {3};", "seed", "a whole number, not a list"),
    ("perm_seed = {3,4};", "perm_seed", "a whole number, not a list"),
    ("topology = {mesh};", "topology", "a word, not a list"),
    ("routing_function = {dor,dor};", "routing_function", "a word, not a list"),
    ("traffic = 5;", "traffic", "a word"),
    ("seed = time;", "seed", "runs repeat themselves"),
    ("topology = fattree;", "routing_function", "one of nca, anca"),
    ("topology = fattree; routing_function = nca; k = 33;", "k", "1 to 32"),
    ("topology = fattree; routing_function = nca; k = 0;", "k", "1 to 32"),
    ("topology = fattree; routing_function = nca; k = 32; n = 5;", "n", "at most 1048576 nodes"),
    ("topology = qtree;", "topology", "BookSim's qtree"),
    ("topology = tree4;", "topology", "BookSim's tree4"),
    ("topology = cmesh;", "topology", "BookSim's cmesh"),
    ("topology = fly;", "topology", "BookSim's fly"),
    ("topology = flatfly;", "topology", "BookSim's flatfly"),
    ("topology = dragonflynew;", "topology", "BookSim's dragonflynew"),
    ("topology = anynet;", "topology", "BookSim's anynet"),
    ("topology = mush;", "topology", "did you mean `mesh`?"),
    ("routing_function = none;", "routing_function", "for a mesh one of dor, dim_order, xy_yx"),
    ("routing_function = planar_adapt;", "routing_function", "BookSim's planar_adapt yet"),
    ("routing_function = dro;", "routing_function", "did you mean `dor`?"),
    ("topology = torus;", "routing_function", "one of dim_order"),
    ("topology = torus; routing_function = romm;", "routing_function", "one of dim_order, min_adapt, valiant"),
    ("num_vcs = 1; routing_function = valiant;", "num_vcs", "at least 2"),
    ("num_vcs = 1; routing_function = romm;", "num_vcs", "at least 2"),
    ("num_vcs = 1; routing_function = xy_yx;", "num_vcs", "at least 2"),
    ("num_vcs = 3; topology = torus; routing_function = min_adapt;", "num_vcs", "at least 4"),
    ("num_vcs = 2; topology = torus; routing_function = min_adapt;", "num_vcs", "at least 4"),
    ("sw_allocator = pim;", "sw_allocator", "BookSim's pim"),
    ("sw_allocator = islop;", "sw_allocator", "did you mean `islip`?"),
    ("vc_allocator = separable_input_first(tree(2,matrix));", "vc_allocator", "separable_input_first(matrix)"),
    ("vc_allocator = islip(two);", "vc_allocator", "islip(n)"),
    ("traffic = taper64;", "traffic", "BookSim's taper64"),
    ("traffic = unifrom;", "traffic", "did you mean `uniform`?"),
    ("traffic = hotspot;", "traffic", "BookSim draws a node where none is named"),
    ("traffic = hotspot({-1});", "traffic", "BookSim draws a node where none is named"),
    ("traffic = hotspot({{3,-1}});", "traffic", "BookSim draws a node where none is named"),
    ("traffic = hotspot({});", "traffic", "BookSim draws a node where none is named"),
    ("traffic = hotspot(x);", "traffic", "nodes from 0 to 15"),
    ("traffic = tornado(8);", "traffic", "digits of which there are 16 numbers"),
    ("traffic = tornado({2,2});", "traffic", "no tornado that leaves nodes out"),
    ("traffic = tornado({4,2,2});", "traffic", "digits of which there are 16 numbers"),
    ("traffic = tornado; xr = 2;", "traffic", "digits of which there are 16 numbers"),
    ("traffic = neighbor; xr = 0;", "traffic", "whole numbers of 1 and more"),
    ("traffic = tornado({4,0});", "traffic", "whole numbers of 1 and more"),
    ("traffic = neighbor({4,1});", "traffic", "digits of which there are 16 numbers"),
    ("traffic = neighbor({{4},2});", "traffic", "whole numbers of 1 and more"),
    ("k = 64; traffic = tornado({4096,4096});", "traffic", "whole numbers of 1 and more"),
    ("traffic = hotspot({16});", "traffic", "nodes from 0 to 15"),
    ("traffic = hotspot({3,-1});", "traffic", "rates of at least 0, not -1"),
    ("traffic = hotspot({{1,2},{0,0}});", "traffic", "a rate above 0 for at least one node"),
    ("traffic = hotspot({{1,2},{}});", "traffic", "rates of at least 0, not {}"),
    ("traffic = hotspot({{1,2},{-1,3}});", "traffic", "rates of at least 0, not {-1,3}"),
    ("k = 8192; traffic = randperm;", "traffic", "it names each of them"),
    ("k = 8192; n = 6; traffic = background({0});", "traffic", "it names each of them"),
    ("k = 8192; n = 6;", "k", "at most 2^30 routers"),
    ("traffic = background({{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15}});", "traffic", "not excluded"),
    ("traffic = randperm(2147483648);", "traffic", "a seed"),
    ("perm_seed = -2147483649; traffic = randperm;", "perm_seed", "a seed"),
    ("k = 3; traffic = bitcomp;", "traffic", "a power of two"),
    ("injection_process = poisson;", "injection_process", "bernoulli, on_off"),
    ("injection_process = on_off(0.0,0.5);", "injection_process", "burst_alpha more than 0"),
    ("injection_process = on_off({0.5,x});", "injection_process", "burst_beta more than 0"),
    ("injection_process = on_off; burst_beta = 1.5;", "burst_beta", "at most 1"),
    (
        "injection_process = on_off; burst_r1 = 0.5;",
        "burst_r1",
        "exactly one of burst_alpha, burst_beta, burst_r1 below 0",
    ),
    (
        "injection_process = on_off; burst_beta = -1.0;",
        "burst_beta",
        "here burst_alpha = 0.5, burst_beta = -1.0, burst_r1 = -1",
    ),
    ("injection_process = on_off(-1,0.5);", "injection_process", "exactly one of"),
    ("injection_process = on_off({-1,-1,0.5});", "injection_process", "exactly one of"),
    ("injection_process = on_off; burst_beta = -1.0; burst_r1 = 1.5;", "burst_r1", "at most 1"),
    ("injection_process = on_off; burst_beta = -1.0; burst_r1 = 0.0;", "burst_r1", "more than 0"),
    (
        "injection_process = on_off; burst_beta = -1.0; burst_r1 = 0.1;",
        "burst_r1",
        "more than the injection rate, here 0.1",
    ),
    ("injection_process = on_off(1e-300,0.5);", "injection_process", "cycles"),
    ("injection_process = on_off({0.5,-1,0.1000000000000001});", "injection_process", "cycles"),
    ("injection_rate = 18446744073709551615;", "injection_rate", "at most 1 packet a cycle"),
    ("injection_rate = 0;", "injection_rate", "more than 0"),
    ("injection_process = on_off({-1,0.5,0.05});", "injection_process", "more than the injection rate"),
    ("injection_process = on_off; injection_rate = 1.5;", "injection_rate", "at most 1 packet a cycle"),
    ("injection_process = on_off; injection_rate = 0.0;", "injection_rate", "more than 0"),
    ("injection_rate = 1.5;", "injection_rate", "at most 1 packet a cycle"),
    ("injection_rate = 0.0;", "injection_rate", "more than 0"),
    ("packet_size = 0;", "packet_size", "at least 1"),
    ("packet_size = {{1,x}};", "packet_size", "a whole number of flits"),
    ("packet_size = {{1,2}}; packet_size_rate = {{1,-1}};", "packet_size_rate", "of at least 0"),
    ("packet_size = {{1,2}}; packet_size_rate = {{0,0}};", "packet_size_rate", "above 0"),
    ("packet_size = 0; injection_rate_uses_flits = 1;", "packet_size", "at least 1 flit"),
    ("vc_alloc_delay = 0;", "vc_alloc_delay", "at least 1"),
    ("speculative = 1; vc_alloc_delay = 2;", "vc_alloc_delay", "at most sw_alloc_delay"),
    ("st_final_delay = -1;", "st_final_delay", "at least 0"),
    ("input_speedup = 0;", "input_speedup", "1 to 64"),
    ("vc_buf_size = 0;", "vc_buf_size", "1 to"),
    ("buf_size = 3;", "buf_size", "at least num_vcs, 4 places"),
    ("buf_size = 0;", "buf_size", "at least num_vcs, 4 places"),
    ("link_failures = 1;", "link_failures", "BookSim aborts"),
    ("Vdd = 0.9;", "Vdd", "tech_file names that file"),
    ("H_SRAM = 8;", "H_SRAM", "no key of a technology file here"),
    ("output_buffer_size = 4; output_speedup = 2;", "output_buffer_size", "accepted unless 0, with output_speedup = 1"),
    ("output_buffer_size = 4; st_final_delay = 2;", "output_buffer_size", "accepted unless 0, with output_speedup = 1"),
    ("output_buffer_size = 0;", "output_buffer_size", "accepted unless 0"),
    (
        "vc_prioritize_empty = 2; vc_allocator = wavefront;",
        "vc_prioritize_empty",
        "another value is accepted with vc_allocator = islip",
    ),
    ("speculative = 2; spec_check_cred = -1;", "spec_check_cred", "accepted while no packet speculates"),
    ("speculative = 2; spec_check_elig = 0; spec_check_cred = 0;", "spec_check_cred", "while no packet speculates"),
    ("speculative = 1; spec_sw_allocator = islip; spec_mask_by_reqs = 1;", "spec_sw_allocator", "packets speculate"),
    ("buffer_policy = limited;", "buffer_policy", "one of private, shared"),
    ("buffer_policy = shared; private_buf_size = 0;", "private_buf_size", "at least 1"),
    ("buffer_policy = shared; private_buf_size = 9;", "private_buf_size", "36 places, within the 32 places of a port"),
    ("buffer_policy = shared; private_buf_size = {1,2};", "private_buf_size", "the same for each VC"),
    ("buffer_policy = shared; private_buf_size = {-1};", "private_buf_size", "at least 1"),
    ("buffer_policy = shared; private_buf_size = {};", "private_buf_size", "at least one entry"),
    ("buffer_policy = shared; private_bufs = 2;", "private_bufs", "one for each VC"),
    ("buffer_policy = shared; private_bufs = 0;", "private_bufs", "one for each VC"),
    ("buffer_policy = shared; buf_size = 3;", "buf_size", "4 places, within the 3 places of a port"),
    ("num_vcs = 1; topology = torus; routing_function = dim_order;", "num_vcs", "at least 2"),
    ("k = 0;", "k", "1 to"),
    ("k = -4;", "k", "1 to 8192"),
    ("k = 1000000000; traffic = randperm;", "k", "1 to 8192"),
    ("n = 7;", "n", "1 to 6"),
    ("n = -1;", "n", "1 to 6"),
    ("n = 1000000000000000000;", "n", "1 to 6"),
    ("n = 0;", "n", "1 to 6"),
    ("sim_type = batch;", "sim_type", "no batches"),
    ("sample_period = 0;", "sample_period", "at least 1"),
    ("warmup_periods = 0;", "warmup_periods", "at least 1"),
    ("max_samples = 3;", "max_samples", "nothing is measured"),
    ("sim_count = 0;", "sim_count", "at least 1"),
    ("seed = -1;", "seed", "at least 0"),
]


@pytest.mark.parametrize(("text", "name", "said"), REFUSALS, ids=[text for text, *_ in REFUSALS])
def test_what_cannot_be_obeyed_is_an_error_with_key_and_line(text: str, name: str, said: str) -> None:
    with pytest.raises(fw.ConfigError) as caught:
        found = settings(f"{SMALL}\n{text}")
        list(samples(found))
    error = caught.value
    assert re.search(rf"test\.cfg:\d+: {name}\b", error.path), error
    assert said in f"{error.expected}; {error.hint}"


def test_an_error_of_the_specification_is_about_what_was_written() -> None:
    with pytest.raises(fw.ConfigError) as caught:
        list(samples(settings(f"{SMALL} injection_process = on_off; burst_beta = 1.0; injection_rate = 1e-6;")))
    assert caught.value.value == "1.0 (workload.process.mean_on_cycles = 1)"
    with pytest.raises(fw.ConfigError) as caught:
        list(samples(settings(f"{SMALL} vc_buf_size = 0;")))
    assert (caught.value.path, caught.value.value) == ("test.cfg:1: vc_buf_size", "0")
