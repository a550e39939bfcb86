"""MSCCL files: read, run, proved and written; an interpreter of the format decides what is right."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import flitwork as fw
import pytest
from common import Cli
from flitwork import _core
from flitwork.planning.specification import plan_of, simulation
from msccl_interpreter import Machine, shown

NET = fw.Torus(4, router=fw.Router(vcs=2), units=fw.Units(flit_bytes=16, cycle_ns=1))

# A program is a table here: the attributes of <algo>, and for each GPU its chunks and its thread blocks
# (send, recv, chan, steps); a step is (type, src, dst, cnt, wait, hasdep).
NO = (-1, -1)


def step(kind: str, src: str = "i0", dst: str = "o0", cnt: int = 1, dep: tuple[int, int] = NO, tells: int = 0) -> str:
    ends = f'srcbuf="{src[0]}" srcoff="{src[1:]}" dstbuf="{dst[0]}" dstoff="{dst[1:]}"'
    return f'type="{kind}" {ends} cnt="{cnt}" depid="{dep[0]}" deps="{dep[1]}" hasdep="{tells}"'


def program(coll: str, chunks: int, gpus: list[tuple[tuple[int, int, int], list[Any]]], **more: Any) -> str:
    given = {"name": "test", "proto": "Simple", "nchannels": 2, "nchunksperloop": chunks, "ngpus": len(gpus)}
    given |= {"coll": coll, "inplace": 0, **more}
    said = " ".join(f'{key}="{value}"' for key, value in given.items())
    lines = [f"<algo {said}>"]
    for number, (sizes, blocks) in enumerate(gpus):
        lines.append('  <gpu id="{}" i_chunks="{}" o_chunks="{}" s_chunks="{}">'.format(number, *sizes))
        for tb, (send, recv, chan, steps) in enumerate(blocks):
            lines.append(f'    <tb id="{tb}" send="{send}" recv="{recv}" chan="{chan}">')
            lines += [f'      <step s="{s}" {one}/>' for s, one in enumerate(steps)]
            lines.append("    </tb>")
        lines.append("  </gpu>")
    return "\n".join([*lines, "</algo>\n"])


def ring_allreduce() -> str:
    """Three GPUs, a chunk for each, in place: partial sums go around, then the sums."""
    gpus: list[tuple[tuple[int, int, int], list[Any]]] = []
    for g in range(3):
        a, b, c = g, (g - 1) % 3, (g - 2) % 3
        steps = [
            step("s", f"i{a}", f"i{a}"),
            step("rrs", f"i{b}", f"i{b}"),
            step("rrcs", f"i{c}", f"i{c}"),
            step("rcs", f"i{a}", f"i{a}"),
            step("r", f"i{b}", f"i{b}"),
        ]
        gpus.append(((3, 0, 0), [((g + 1) % 3, (g - 1) % 3, 0, steps)]))
    return program("allreduce", 3, gpus, inplace=1)


def exchange(*, wait: tuple[int, int] = NO, tells: int = 0) -> str:
    """An all-to-all of two GPUs: a copy, a send and a receive, each in a thread block."""
    gpus: list[tuple[tuple[int, int, int], list[Any]]] = []
    for g in range(2):
        copy = (-1, -1, 0, [step("cpy", f"i{g}", f"o{g}", tells=tells)])
        send = (1 - g, -1, 0, [step("s", f"i{1 - g}", f"o{g}", dep=wait)])
        gpus.append(((2, 2, 0), [copy, send, (-1, 1 - g, 0, [step("r", "i0", f"o{1 - g}")])]))
    return program("alltoall", 2, gpus)


def read(text: str, **more: Any) -> fw.Msccl:
    chunks = int(re.search(r'nchunksperloop="(\d+)"', text)[1])  # type: ignore[index]
    return fw.Msccl(text, message_bytes=64 * chunks, **more)


def judged(text: str, *, runs: int = 5) -> bool:
    """Whether interpreter and product agree about a program that can end; whether it is complete."""
    found = read(text)
    check = found.verify()
    table = check.table
    kept = []
    for in_place, rows in table.groupby("in_place") if len(table) else ():
        for seed in range(runs):
            machine = Machine(text, bool(in_place))
            machine.run(random.Random(seed))
            kept.append(machine.done())
            if "nothing orders them" not in check.problem:
                ours = {(r.gpu, r.chunk): r.holds for r in rows.itertuples()}
                assert ours == {cell: shown(chunk) for cell, chunk in machine.output().items()}
            sent = found.schedule.table()
            sent = sent[sent["operation"] == "send"]
            sizes = sent["bytes" if "bytes" in sent else "flits"]
            assert sorted(machine.sent) == sorted(
                zip(sent["rank"], sent["peer"], sent["tag"], sizes // 64, strict=True)
            )
    if check.complete:
        assert all(kept)
    return bool(check.complete)


def test_a_file_is_read_run_and_proved(tmp_path: Path) -> None:
    (tmp_path / "ring.xml").write_text(ring_allreduce())
    ring = fw.read_msccl(tmp_path / "ring.xml", message_bytes=3072, packet_flits=16)
    assert (ring.collective, ring.ranks, ring.chunks, ring.chunk_bytes) == ("allreduce", 3, 3, 1024)
    assert (ring.thread_blocks, ring.steps, ring.messages, ring.over_limits) == (1, 15, 12, [])
    assert ring.verify().complete is True and judged(ring_allreduce())
    found = fw.simulate(NET, ring)
    same = fw.collective("allreduce", "ring", message_bytes=3072, packet_flits=16)
    three = fw.Host(placement=fw.placement.List(terminals=[0, 1, 2]))
    assert found.row["packets"] == 12 * 4
    assert found.completion_cycles == fw.simulate(NET, same, host=three).completion_cycles
    assert ring.schedule.check()["messages"] == 12
    assert fw.Msccl(ring.text, message_flits=3).write(tmp_path / "b.xml").read_text() == ring_allreduce()


@pytest.mark.parametrize(
    ("given", "said"),
    [({"message_bytes": 65}, "64 or 66"), ({"message_bytes": 2, "message_flits": 2}, "one of the two")],
)
def test_a_size_that_does_not_divide_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(fw.ConfigError, match=said):
        fw.Msccl(exchange(), **given)


def test_a_wait_holds_up_a_send_and_thread_blocks_do_not() -> None:
    """GPU 0 sends on as soon as it has received; its other send goes at once, though it stands behind."""
    for wait in (True, False):
        late = step("s", "i0", dep=(2, 0) if wait else NO)
        blocks = [(1, -1, 0, [late]), (1, -1, 1, [step("s", "i0")]), (-1, 2, 0, [step("r", cnt=4, tells=1)])]
        other = [(-1, 0, 0, [step("r")]), (-1, 0, 1, [step("r", dst="o1")])]
        gpus = [((1, 4, 0), blocks), ((1, 2, 0), other), ((4, 0, 0), [(0, -1, 0, [step("s", cnt=4)])])]
        text = program("custom", 1, gpus)
        run = fw.simulate(NET, read(text), packets=True)
        at = run.packets.set_index(["src", "dst"])["injected_cycle"]
        first, second = sorted(at[0, 1])
        received = int(run.packets.set_index(["src", "dst"])["arrived_cycle"][2, 0])
        assert first < received
        assert bool(second >= received) is wait


def test_in_place_buffers_share_memory() -> None:
    """An allgather of two GPUs: in place nothing has to be copied; out of place its own chunk is missing."""
    gpus: list[tuple[tuple[int, int, int], list[Any]]] = [
        ((1, 2, 0), [(1 - g, 1 - g, 0, [step("s", f"o{g}" if g else "i0"), step("r", dst=f"o{1 - g}")])])
        for g in range(2)
    ]
    assert judged(program("allgather", 2, gpus, inplace=1))
    assert not judged(program("allgather", 2, gpus))
    both = read(program("allgather", 2, gpus, inplace=1, outofplace=1)).verify()
    assert both.problem == "out of place: chunk 0 of the output of gpu 0 is nothing, not 0:0"
    assert len(both.table) == 8 and list(both.table["in_place"]) == 4 * [False] + 4 * [True]


def test_a_wrong_sum_is_found() -> None:
    """Of two GPUs one adds what it has to the sum that it is already part of."""
    gpus: list[tuple[tuple[int, int, int], list[Any]]] = [
        ((1, 0, 0), [(1, 1, 0, [step("s", "i0"), step("rrc", "i0", "i0")])]),
        ((1, 0, 0), [(0, 0, 0, [step("rrc", "i0", "i0"), step("s", "i0")])]),
    ]
    text = program("allreduce", 1, gpus, inplace=1)
    assert not judged(text)
    assert read(text).verify().problem == "chunk 0 of the output of gpu 0 is 0:0 1:0 0:0, not 0:0 1:0"
    fixed = text.replace('s="1" type="rrc"', 's="1" type="r"')
    assert judged(fixed) and "complete" in repr(read(fixed).verify())


def test_a_broadcast_and_a_reduction_find_their_root() -> None:
    send, take = [step("s", "i0")], [step("r", dst="o0")]
    gpus: list[tuple[tuple[int, int, int], list[Any]]] = [
        ((1, 1, 0), [(-1, 1, 0, take)]),
        ((1, 1, 0), [(0, -1, 0, send), (-1, -1, 0, [step("cpy")])]),
    ]
    assert read(program("broadcast", 1, gpus)).verify().complete
    added = program("reduce", 1, [gpus[1], ((1, 1, 0), [(-1, 0, 0, [step("rrc", "i0", "o0")])])])
    added = added.replace('send="0"', 'send="1"')
    assert read(added).verify().complete
    assert not read(added.replace('"rrc"', '"r"')).verify().complete
    assert read(program("custom", 1, gpus)).verify().complete is None


def test_steps_in_no_order_are_found() -> None:
    """A send that does not wait for the copy that it sends is complete by luck only."""
    gpus: list[tuple[tuple[int, int, int], list[Any]]] = []
    for g in range(2):
        copy = (-1, -1, 0, [step("cpy", f"i{1 - g}", "s0", tells=1), step("cpy", f"i{g}", f"o{g}")])
        send = (1 - g, -1, 0, [step("s", "s0", dep=(0, 0))])
        gpus.append(((2, 2, 1), [copy, send, (-1, 1 - g, 0, [step("r", dst=f"o{1 - g}")])]))
    text = program("alltoall", 2, gpus)
    assert judged(text)
    check = read(text.replace('depid="0" deps="0"', 'depid="-1" deps="-1"')).verify()
    assert check.complete is False and "nothing orders them" in check.problem and "s[0] of gpu 0" in check.problem


def test_a_wait_ends_with_the_next_signal() -> None:
    """MSCCL signals behind steps with hasdep = 1 alone: a wait for one before it lasts until then."""
    gpus: list[tuple[tuple[int, int, int], list[Any]]] = [
        ((1, 2, 1), [(-1, 1, 0, [step("r"), step("r", dst="o1", tells=1)]), (1, -1, 0, [step("s", dep=(0, 0))])]),
        ((1, 1, 0), [(0, 0, 0, [step("s"), step("s"), step("r")])]),
    ]
    assert read(program("custom", 2, gpus)).messages == 3
    gpus[1] = ((1, 1, 0), [(0, 0, 0, [step("s"), step("r"), step("s")])])
    with pytest.raises(fw.ConfigError, match="each of these waits for the next"):
        read(program("custom", 2, gpus))
    assert judged(exchange(wait=(0, 0), tells=1))


GOOD = exchange()
RING = ring_allreduce()
DEAD = RING.replace('s="0" type="s"', 's="0" type="rcs"').replace('s="4" type="r"', 's="4" type="cpy"')
BOMB = '<!DOCTYPE algo [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>' + GOOD.replace(
    '"test"', '"&b;"'
)
#: What is wrong, in which program, what stands there, what instead; parts of the path, and of the rest.
WRONG: list[tuple[str, str, str, str, str, str]] = [
    ("not XML", GOOD, "</algo>", "", "line 25", "no element found"),
    ("text", GOOD, "<gpu id", "hello <gpu id", "line 2", "hello"),
    ("empty", GOOD, GOOD, "", "line 1", "no element found"),
    ("another root", GOOD, "algo", "system", "line 1", "a topology of NCCL"),
    ("another element", GOOD, "<tb ", "<step ", "line 3", "<tb> in <gpu>"),
    ("entities", BOMB, "zzz", "", "line 1", "<!DOCTYPE"),
    ("type", GOOD, 'type="cpy"', 'type="copy"', "gpu[0].tb[0].step[0].type", "did you mean `cpy`?"),
    ("ra", GOOD, 'type="cpy"', 'type="ra"', "gpu[0].tb[0].step[0].type", "its threads end there"),
    ("no attribute", GOOD, ' hasdep="0"', "", "gpu[0].tb[0].step[0].hasdep", "nothing"),
    ("buffer", GOOD, 'srcbuf="i"', 'srcbuf="x"', "gpu[0].tb[0].step[0].srcbuf", "i, o, s"),
    ("offset", GOOD, 'srcoff="1"', 'srcoff="2"', "gpu[0].tb[1].step[0].srcoff", "2 chunks of buffer i"),
    ("no offset", GOOD, 'dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>\n    </tb>\n    <tb id="1"', 'dstbuf="o" dstoff="-1" cnt="1" depid="-1" deps="-1" hasdep="0"/>\n    </tb>\n    <tb id="1"', "gpu[0].tb[0].step[0].dstoff", "at least 0"),
    ("count", GOOD, 'cnt="1"', 'cnt="3"', "gpu[0].tb[0].step[0].srcoff", "3 of the 2 chunks"),
    ("no chunks", GOOD, 'cnt="1"', 'cnt="0"', "gpu[0].tb[0].step[0].cnt", "1 to"),
    ("no number", GOOD, 'cnt="1"', 'cnt="one"', "gpu[0].tb[0].step[0].cnt", '"one"'),
    ("long number", GOOD, 'cnt="1"', f'cnt="{"9" * 5000}"', "gpu[0].tb[0].step[0].cnt", "..."),
    ("order of steps", GOOD, ' s="0"', ' s="1"', "gpu[0].tb[0].step[0].s", "number them so"),
    ("no thread block", GOOD, 'depid="-1" deps="-1"', 'depid="3" deps="0"', "gpu[0].tb[0].step[0].depid", "0 to 2"),
    ("no step", GOOD, 'depid="-1" deps="-1"', 'depid="1" deps="1"', "gpu[0].tb[0].step[0].deps", "0 to 0"),
    ("no signal", GOOD, 'depid="-1" deps="-1"', 'depid="1" deps="0"', "gpu[0].tb[0].step[0].deps", "set hasdep = 1 at gpu[0].tb[1].step[0]"),
    ("itself", GOOD, 'depid="-1" deps="-1" hasdep="0"', 'depid="0" deps="0" hasdep="1"', "gpu[0].tb[0].step[0]", "a wait without end"),
    ("deadlock", DEAD, "zzz", "", "gpu[0].tb[0].step[0]", "gpu[0].tb[0].step[0] (rcs), gpu[2].tb[0].step[0] (rcs), gpu[1]"),
    ("no receive", GOOD, 'type="r"', 'type="nop"', "gpu[0].tb[2].step[0].depid", "the thread block that a nop waits for"),
    ("unmatched receive", GOOD, 'type="s"', 'type="cpy"', "gpu[1].tb[2].step[0].type", "gpu 0 lacks a send"),
    ("unmatched send", GOOD, 'type="r"', 'type="cpy"', "gpu[1].tb[1].step[0].type", "gpu 0 lacks a receive"),
    ("another channel", GOOD, 'send="1" recv="-1" chan="0"', 'send="1" recv="-1" chan="1"', "gpu[1].tb[2].step[0].type", "on channel 0"),
    ("counts", GOOD, 'srcoff="1" dstbuf="o" dstoff="0" cnt="1"', 'srcoff="0" dstbuf="o" dstoff="0" cnt="2"', "gpu[1].tb[2].step[0].cnt", "2, as gpu[0].tb[1].step[0] sends"),
    ("connection twice", GOOD, 'send="-1" recv="-1"', 'send="1" recv="-1"', "gpu[0].tb[1].send", "tb 0 has it already"),
    ("no peer", GOOD, 'send="1" recv="-1"', 'send="-1" recv="-1"', "gpu[0].tb[1].step[0].type", "send = a GPU"),
    ("peer", GOOD, 'send="1"', 'send="2"', "gpu[0].tb[1].send", "0 to 1"),
    ("itself as peer", GOOD, 'send="1"', 'send="0"', "gpu[0].tb[1].send", "another GPU"),
    ("channel of a peer", GOOD, 'recv="1" chan="0"', 'recv="1" chan="2"', "gpu[0].tb[2].chan", "0 to 1"),
    ("tb twice", GOOD, 'tb id="1"', 'tb id="0"', "gpu[0].tb[0].id", "each number"),
    ("tb missing", GOOD, 'tb id="2"', 'tb id="3"', "gpu[0].tb.id", "0 to 2"),
    ("gpu twice", GOOD, 'gpu id="1"', 'gpu id="0"', "gpu[0].id", "each number"),
    ("gpus", GOOD, 'ngpus="2"', 'ngpus="1000000000"', "algo.ngpus", "65,536"),
    ("gpus missing", GOOD, 'ngpus="2"', 'ngpus="3"', "algo.ngpus", "the number of elements <gpu>, 2"),
    ("chunks", GOOD, 'nchunksperloop="2"', 'nchunksperloop="3"', "algo.nchunksperloop", "multiple of the 2 GPUs"),
    ("chunks of a gpu", GOOD, 'i_chunks="2"', 'i_chunks="4"', "gpu[0].i_chunks", "2 (nchunksperloop = 2"),
    ("collective", GOOD, '"alltoall"', '"all_to_all"', "algo.coll", "did you mean `alltoall`?"),
    ("protocol", GOOD, '"Simple"', '"Simpel"', "algo.proto", "did you mean `Simple`?"),
    ("inplace", GOOD, 'inplace="0"', 'inplace="2"', "algo.inplace", "0 or 1"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "was", "becomes", "path", "said"), [row[1:] for row in WRONG], ids=[w[0] for w in WRONG]
)
def test_what_is_wrong_is_named(text: str, was: str, becomes: str, path: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(text.replace(was, becomes, -1 if was == "algo" else 1))
    with pytest.raises(fw.ConfigError) as found:
        fw.read_msccl(tmp_path / "a.xml", message_bytes=6)
    assert found.value.path.startswith(f"{tmp_path / 'a.xml'}: ") and path in found.value.path, found.value
    assert said in str(found.value)


@pytest.mark.parametrize(("text", "said"), [("num_ranks 2\n", "a GOAL program"), ("<platform/>", "SimGrid")])
def test_other_files_are_named(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(text)
    with pytest.raises(fw.ConfigError, match=f"a.xml: expected an MSCCL program: this is .*{said}"):
        fw.read_msccl(tmp_path / "a.xml")


def test_reductions_that_msccl_would_change_are_refused() -> None:
    def adding(*steps: str) -> str:
        wait = (-1, -1, 0, [step("cpy", "i1", "s3", tells=1)])
        return program("custom", 2, [((2, 2, 4), [(-1, -1, 0, list(steps)), wait])])

    one, other = step("re", "s0", "o0"), step("re", "s1", "o0")
    assert read(adding(one, other)).steps == 3
    with pytest.raises(fw.ConfigError, match="skips its wait"):
        read(adding(one, step("nop", dep=(1, 0)), other))
    assert read(adding(step("re", "s0", "o0", tells=1), step("nop", dep=(1, 0)), other)).over_limits != []
    with pytest.raises(fw.ConfigError, match="with one cnt"):
        read(adding(one, step("re", "s1", "o0", 2)))


def drawn(draw: random.Random) -> str:
    """A program drawn at random: steps in an order that can be carried out, with some waits, or too few of them."""
    gpus, chunks = draw.randint(2, 3), draw.randint(1, 3)
    coll = draw.choice(["custom", "allreduce", "custom"])
    blocks: list[list[tuple[int, int, int, list[str]]]] = []
    for g in range(gpus):
        blocks.append([])
        for _ in range(draw.randint(1, 3)):
            send, recv = (draw.choice([-1, *(o for o in range(gpus) if o != g)]) for _ in range(2))
            chan = draw.randint(0, 1)
            if any(c == chan and ((s == send and s >= 0) or (r == recv and r >= 0)) for s, r, c, _ in blocks[g]):
                send, recv = -1, -1
            blocks[g].append((send, recv, chan, []))
    for _ in range(draw.randint(2, 14)):
        g = draw.randrange(gpus)
        send, recv, _, steps = block = draw.choice(blocks[g])
        cnt = draw.randint(1, chunks)
        src, dst = (draw.choice("ios") + str(draw.randint(0, chunks - cnt)) for _ in range(2))
        earlier = [(b, len(one[3]) - 1) for b, one in enumerate(blocks[g]) if one is not block and one[3]]
        dep = draw.choice([NO, *earlier])
        to = [one for one in blocks[send] if one[1] == g and one[2] == block[2]] if send >= 0 else []
        if to and draw.random() < 0.7:
            steps.append(step("s", src, dst, cnt, dep, 1))
            kind = draw.choice(["r", "rrc", "r"])
            to[0][3].append(step(kind, src, dst, cnt, NO, 1))
        elif draw.random() < 0.9:
            steps.append(step(draw.choice(["cpy", "re", "cpy"]), src, dst, cnt, dep, 1))
    return program(coll, chunks, [((chunks, chunks, chunks), one) for one in blocks], inplace=draw.randint(0, 1))


def test_random_programs_do_what_the_interpreter_does() -> None:
    raced = ended = 0
    for seed in range(150):
        text = drawn(random.Random(seed))
        try:
            found = read(text)
        except fw.ConfigError as error:
            assert "with one cnt" in str(error) or "without end" in str(error), (seed, str(error))
            continue
        ended += 1
        judged(text)
        results = []
        for run in range(8):
            machine = Machine(text, 'inplace="1"' in text)
            machine.run(random.Random(run))
            results.append(machine.output())
        if "nothing orders them" in found.verify().problem:
            raced += 1
        else:
            assert all(one == results[0] for one in results), seed
    assert ended > 100 and raced > 25


def test_damaged_files_are_refused_or_right(tmp_path: Path) -> None:
    """Attributes edited at random: an error, or what the interpreter does with the same file."""
    draw = random.Random(7)
    refused = accepted = 0
    for text in (RING, GOOD, *(drawn(random.Random(seed)) for seed in range(8))):
        attributes = [*re.finditer(r'\w+="([^"]*)"', text)]
        for _ in range(60):
            damaged = text
            for _ in range(draw.randint(1, 2)):
                at = draw.choice(attributes)
                value = draw.choice(
                    ["-1", "0", "1", "2", "99", "-7", "", "x", "r", "s", "re", "rrcs", "nop", "1e9", "o"]
                )
                damaged = damaged[: at.start(1)] + value + damaged[at.end(1) :] if damaged is text else damaged
            try:
                fw.Msccl(damaged, message_flits=6)
            except fw.ConfigError:
                refused += 1
                continue
            accepted += 1
            judged(damaged, runs=2)
    assert refused > 200 and accepted > 50


def test_bytes_at_random_are_refused() -> None:
    draw = random.Random(3)
    for _ in range(300):
        data = bytearray(GOOD.encode())
        for _ in range(draw.randint(1, 4)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            fw.Msccl(bytes(data), message_flits=6).verify()
        except fw.ConfigError:
            continue


UNIT = fw.Units(flit_bytes=16, cycle_ns=1)
SIX, EIGHT = (fw.Torus(*size, router=fw.Router(vcs=2), units=UNIT) for size in ((6,), (4, 2)))
KNOWN = ("all_to_all", "allgather", "allreduce", "broadcast", "reduce", "reduce_scatter")
ALGORITHMS = [
    (row["operation"], row["name"])
    for row in json.loads(_core.components())["collectives"]
    if row["operation"] in KNOWN
]


def written(network: fw.Network, work: fw.Workload, host: fw.Host | None = None) -> fw.Msccl:
    """A workload as MSCCL: complete, read back, the same messages, and as fast as the workload itself."""
    made = fw.Msccl.of(network, work, host=host)
    assert made.verify().complete is True, made.verify()
    for seed in range(2):
        machine = Machine(made.text, in_place=False)
        machine.run(random.Random(seed))
        assert machine.done()
    sent = []
    for one in (work, made):
        columns = plan_of(simulation(network, one, host=host)).messages()
        sent.append(Counter(zip(*(columns[key].tolist() for key in ("from", "to", "flits")), strict=True)))
    assert sent[0] == sent[1]
    cycles = fw.simulate(network, work, host=host).completion_cycles
    # Ends of sends stand for starts of sends: a cycle may be lost or won.
    assert abs(fw.simulate(network, made, host=host).completion_cycles - cycles) <= 1
    return made


@pytest.mark.parametrize("network", [SIX, EIGHT], ids=["6", "8"])
@pytest.mark.parametrize(("operation", "algorithm"), ALGORITHMS)
def test_collectives_are_written(operation: str, algorithm: str, network: fw.Network) -> None:
    vector = operation in ("allreduce", "broadcast", "reduce")
    sizes: dict[str, Any] = {"message_bytes": 768 if vector else 128, "packet_flits": 8}
    try:
        written(network, fw.collective(operation, algorithm, **sizes))
    except fw.ConfigError as error:
        assert "power of two" in str(error) and network is SIX


@pytest.mark.parametrize("root", [0, 3])
def test_a_root_stays_the_root(root: int) -> None:
    for operation in ("broadcast", "reduce"):
        made = fw.Msccl.of(EIGHT, fw.collective(operation, "binomial", root=root, message_flits=8))
        assert made.verify().complete
        held = made.verify().table.query("chunk == 0")["holds"].tolist()
        full = " ".join(f"{gpu}:0" for gpu in range(8))
        assert held == 8 * [f"{root}:0"] if operation == "broadcast" else held[root] == full


def test_all_to_alls_are_written(tmp_path: Path) -> None:
    def ring(rank: int, ranks: int) -> Any:
        for step in range(1, ranks):
            yield fw.Receive((rank - step) % ranks, bytes=64), fw.Send((rank + step) % ranks, bytes=64)

    four = fw.Torus(4, 2, ports=4, router=fw.Router(vcs=2))
    for network, work in (
        (EIGHT, fw.all_to_all("a2at", message_bytes=100, packet_bytes=128)),
        (fw.Torus(4, 2, router=fw.Router(vcs=2)), fw.all_to_all("a2a", message_flits=8, packet_flits=8)),
        (EIGHT, fw.all_to_all("a2at", message_flits=8, packet_flits=8, sync="local")),
        (four, fw.all_to_all("a2at", message_flits=8, packet_flits=8, sync="local_sliding")),
        (EIGHT, fw.Schedule.of(ring, 8)),
        (EIGHT, fw.Schedule.of(ring, 8, blocking=False)),
    ):
        made = written(network, work)
        assert (made.collective, made.ranks, made.messages, made.thread_blocks) == ("alltoall", 8, 56, 15)
        size = {"message_bytes": 8 * made.chunk_bytes} if made.chunk_bytes else {"message_flits": 64}
        again = fw.read_msccl(made.write(tmp_path / "a.xml"), **size)
        assert again.schedule.table().equals(made.schedule.table())


def test_servers_are_written() -> None:
    host = fw.Host(ranks_per_terminal=2)
    for algorithm in ("hierarchical", "node_aware", "birkhoff"):
        work = fw.collective("all_to_all", algorithm, message_flits=8, packet_flits=8)
        assert written(fw.Crossbar(terminals=4), work, host).ranks == 8


def test_a_timetable_is_written_as_an_order() -> None:
    """Two directions on a ring of three, one after the other."""
    entries = [[1, 0, 0], [-1, 1, 0]]
    times = {"sizes": [3], "period_cycles": 2, "hop_cycles": 1, "block_flits": 1, "shifts": [[0]], "entries": entries}
    plan = fw.Timetable.of_json(json.dumps(times), message_flits=4)
    made = fw.Msccl.of(fw.Torus(3, tie="by_message"), plan)
    assert made.verify().complete and judged(made.text) and made.messages == 6
    sent = made.schedule.table().query("operation == 'send'").groupby("rank")["peer"].agg(list)
    assert sent.tolist() == [[1, 2], [2, 0], [0, 1]]


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (fw.uniform(offered_load=0.1), "a schedule"),
        (fw.Schedule([[fw.Send(1, bytes=1)], [fw.Receive(0, bytes=1)]]), "from rank 1 to rank 0"),
        (fw.Schedule([[]]), "from rank 0"),
        (fw.collective("scan", "linear", message_flits=8), "MSCCL has no such one"),
        (fw.collective("allreduce", "ring", message_bytes=9), "a multiple of 8"),
        (fw.collective("allreduce", "ring", message_bytes=64, repeats=2), "once and without barriers"),
        (fw.collective("all_to_all", "bruck", message_bytes=64, step_barriers=True), "without barriers"),
        (fw.collective("all_to_all", "bruck", message_bytes=64, blocks="doubling"), "no sizes, repeats"),
        (fw.Schedule([[fw.Send(1, bytes=2), fw.Receive(1, bytes=9)], [fw.Send(0, bytes=1), fw.Receive(0, bytes=9)]]), "of one length"),
        (fw.Schedule([[fw.Send(1, bytes=2), fw.Receive(None, bytes=2)], [fw.Send(0, bytes=2), fw.Receive(0, bytes=2)]]), "name the rank"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_refused(work: fw.Workload, said: str) -> None:
    with pytest.raises(fw.ConfigError, match=said):
        fw.Msccl.of(EIGHT, work)


def test_limits_of_msccl_are_refused_unless_asked_for() -> None:
    work = fw.all_to_all("a2at", message_flits=1)
    with pytest.raises(fw.ConfigError, match="at most 216"):
        fw.Msccl.of(fw.Torus(11, 10), work)
    large = fw.Msccl.of(fw.Torus(11, 10), work, limits=False)
    assert large.verify().complete and large.messages == 110 * 109 and len(large.over_limits) == 110
    two_channels = fw.Msccl.of(fw.Torus(6, 6), work)
    assert two_channels.over_limits == [] and set(two_channels.schedule.table()["tag"]) == {0, 1}


def test_the_command_line_writes_checks_and_runs(cli: Cli, tmp_path: Path) -> None:
    units = "units = { flit_bytes = 16, cycle_ns = 1 }"
    (tmp_path / "net.toml").write_text(f'[network]\ntopology = {{ kind = "torus", size = [4, 2] }}\n{units}\n')
    made = cli("msccl", "a2at", "--size", "4x2", "-o", "a.xml")
    assert made.returncode == 0 and "written  a.xml" in made.stdout
    again = cli("msccl", "a2at", "--size", "4x2", "-o", "a.xml")
    assert again.returncode == 2 and "--overwrite" in again.stderr
    assert json.loads(cli("msccl", "a.xml", "--json").stdout)["complete"] is True
    run = ("run", "a.xml", "--network", "net.toml", "--message-bytes")
    row = json.loads(cli(*run, "8192", "--packet-flits", "16", "--json").stdout)
    read = fw.read_msccl(tmp_path / "a.xml", message_bytes=8192, packet_flits=16)
    assert row["completion_cycles"] == fw.simulate(fw.Torus(4, 2, units=UNIT), read).completion_cycles
    assert (row["messages"], row["packets"], row["problem"]) == (56, 56 * 4, None)
    (tmp_path / "bad.xml").write_text((tmp_path / "a.xml").read_text().replace('type="cpy"', 'type="re"', 1))
    bad = cli("run", "bad.xml", "--network", "net.toml", "--message-bytes", "64")
    for done in (bad, cli("msccl", "bad.xml")):
        said = " ".join(done.stderr.split())
        assert done.returncode == 1 and "bad.xml: chunk 0 of the output of gpu 0 is nothing, not 0:0" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run a.xml --network net.toml", "--message-bytes = nothing"),
        ("run a.xml --message-bytes 64", "--network = nothing"),
        ("run a.xml --network net.toml --message-bytes 1", "for example 2"),
        ("run a.xml --quick", "it goes with a study"),
        ("run a.xml --per-rank", "it goes with a GOAL program"),
        ("run a.goal --message-bytes 3", "it goes with an MSCCL program"),
        ("run no.xml --network net.toml --message-bytes 4", "No such file"),
        ("msccl a.xml -o b.xml", "no other options"),
        ("msccl a2at --size 2x2", "--output = nothing"),
        ("msccl a2at --size 2x2 -o b.json", "a file .xml"),
        ("msccl a2at --size 11x10 -o b.xml", "--no-limits"),
        ("simulate a.xml", "flitwork run FILE.xml"),
    ],
)
def test_the_command_line_says_what_is_wrong(cli: Cli, tmp_path: Path, words: str, said: str) -> None:
    (tmp_path / "a.xml").write_text(GOOD)
    (tmp_path / "net.toml").write_text('[network]\ntopology = { kind = "torus", size = [2] }\n')
    done = cli(*words.split())
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


def test_small_files_stay_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many chunks that nothing touches take no time; more to follow than is possible is an error."""
    idle = program("allreduce", 65_536, [((0, 0, 0), [])] * 4096)
    assert "chunk 0 of the output of gpu 0 is nothing" in read(idle).verify().problem
    monkeypatch.setattr("flitwork.msccl.verify.MOST_FOLLOWED", 3)
    with pytest.raises(fw.ConfigError, match="at most 3 chunks of steps"):
        read(GOOD).verify()
