//! GOAL in binary: little endian, unpadded, offsets counted from behind the magic number.
//!
//! ```text
//! u64 4223 | u32 ranks, u8 highest cpu, u8 highest nic, ranks × (u64 start, u64 end) | ranks
//! rank: u32 nodes, u32 roots, roots × u32, nodes × 39 bytes, appendix of u32 to the end of the rank
//! node: u32 needs, i8 type, u32 peer, u64 size, u32 tag, u8 cpu, u8 nic, 2 × (u32 dependants, u32 place)
//! ```
//! `place` is that of the first dependant in the appendix of the rank.
//!
//! Nothing that a header says is believed before it fits into the bytes that are there: ranks do not overlap, nor do
//! the lists of their nodes, so a program is never larger than its file.

use super::build::GoalBuilder;
use super::{ANY, Goal, GoalKind, GoalOp, MOST_OPERATIONS, Until};
use crate::error::{Error, Result};

const MAGIC: u64 = 4223;
/// Offsets are counted from here.
const ORIGIN: usize = 8;
/// Bytes of a node.
const NODE: usize = 39;

/// Whether these bytes are GOAL in binary.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC.to_le_bytes())
}

/// What the program in GOAL binary is.
pub(super) fn read(bytes: &[u8], name: &str) -> Result<Goal> {
    let mut file = Reader { bytes, name, at: ORIGIN };
    let ranks = file.u32()?;
    let streams = (file.u8()?, file.u8()?);
    let room = (bytes.len() - file.at) / 16;
    if ranks == 0 || ranks as usize > room {
        return Err(file.fault(ORIGIN, ranks, format!("a number of ranks, 1 to {room} in a file of this length"), ""));
    }
    let mut used = file.at + 16 * ranks as usize - ORIGIN;
    let mut builder = GoalBuilder::new();
    for rank in 0..ranks {
        let at = file.at;
        let (start, end) = (file.u64()?, file.u64()?);
        let length = end.checked_sub(start).filter(|_| end <= (bytes.len() - ORIGIN) as u64);
        let Some(length) = length.map(|length| length as usize) else {
            let expected = format!("start and end of rank {rank} in this order in {} bytes", bytes.len() - ORIGIN);
            return Err(file.fault(at, format!("{start}, {end}"), expected, "is the file truncated?"));
        };
        used += length;
        if used > bytes.len() - ORIGIN {
            return Err(file.fault(at, format!("{start}, {end}"), "ranks that do not overlap", ""));
        }
        let from = ORIGIN + start as usize;
        let of_rank = Reader { bytes: &bytes[..from + length], name, at: from };
        read_rank(of_rank, &mut builder, rank, ranks, streams)?;
    }
    Ok(builder.build())
}

fn read_rank(mut file: Reader<'_>, builder: &mut GoalBuilder, rank: u32, ranks: u32, streams: (u8, u8)) -> Result<()> {
    let at = file.at;
    let (nodes, roots) = (file.u32()? as usize, file.u32()? as usize);
    let room = file.bytes.len() - file.at;
    let needed = nodes.saturating_mul(NODE).saturating_add(roots.saturating_mul(4));
    if needed > room || roots > nodes || builder.in_all() + nodes > MOST_OPERATIONS {
        let value = format!("{nodes} nodes, {roots} roots");
        return Err(file.fault(at, value, format!("what fits into the {room} bytes of rank {rank}"), ""));
    }
    let mut is_root = vec![false; nodes];
    for _ in 0..roots {
        let at = file.at;
        let root = file.u32()?;
        match is_root.get_mut(root as usize) {
            Some(seen @ false) => *seen = true,
            _ => return Err(file.fault(at, root, format!("each root of rank {rank} once, below {nodes}"), "")),
        }
    }
    let first_node = file.at;
    let appendix = first_node + nodes * NODE;
    let mut room = (file.bytes.len() - appendix) / 4;
    let mut needs = Vec::with_capacity(nodes);
    for (node, is_root) in is_root.into_iter().enumerate() {
        let at = file.at;
        let (need, op) = read_node(&mut file, ranks, streams)?;
        if (need == 0) != is_root {
            let value = format!("{need} dependencies of operation {node}");
            return Err(file.fault(at, value, "roots are the operations without dependencies", ""));
        }
        needs.push(need);
        builder.op(op);
        for until in [Until::Finished, Until::Started] {
            let at = file.at;
            let (count, index) = (file.u32()? as usize, file.u32()? as usize);
            let end = if count == 0 { 0 } else { appendix.saturating_add((index + count).saturating_mul(4)) };
            if end > file.bytes.len() || count > room {
                let expected = format!("a part of its own in the appendix of rank {rank}");
                return Err(file.fault(at, format!("{count} dependants from {index} on"), expected, ""));
            }
            room -= count;
            let mut list = Reader { at: appendix + index * 4, ..file };
            for _ in 0..count {
                let at = list.at;
                let of = list.u32()?;
                if of as usize >= nodes {
                    return Err(file.fault(at, of, format!("an operation of rank {rank}, below {nodes}"), ""));
                }
                builder.depend(of, node as u32, until);
            }
        }
    }
    let ended = builder.end_rank();
    if let Some(op) = builder.needs_of_last().iter().zip(&needs).position(|(found, said)| found != said) {
        let expected = format!("{}, as many as operation {op} of rank {rank} has", builder.needs_of_last()[op]);
        return Err(file.fault(first_node + op * NODE, format!("{} dependencies", needs[op]), expected, ""));
    }
    ended.map_err(|ring| {
        let mut names: Vec<String> = ring.iter().take(8).map(u32::to_string).collect();
        names.push(names[0].clone());
        let at = first_node + ring[0] as usize * NODE;
        let expected = format!("operations of rank {rank} of which none waits for itself");
        file.fault(at, names.join(" waits for "), expected, "")
    })
}

/// A node up to its lists: how many dependencies, and what it does.
fn read_node(file: &mut Reader<'_>, ranks: u32, streams: (u8, u8)) -> Result<(u32, GoalOp)> {
    let need = file.u32()?;
    let at = file.at;
    let kind = match file.u8()? {
        1 => GoalKind::Send,
        2 => GoalKind::Receive,
        3 => GoalKind::Calc,
        other => return Err(file.fault(at, other, "a type: 1 send, 2 recv, 3 calc", "")),
    };
    let at = file.at;
    let (peer, size, tag, cpu, nic) = (file.u32()?, file.u64()?, file.u32()?, file.u8()?, file.u8()?);
    if kind != GoalKind::Calc && peer >= ranks && (peer != ANY || kind == GoalKind::Send) {
        return Err(file.fault(at, peer, format!("a rank, 0 to {}", ranks - 1), ""));
    }
    if cpu > streams.0 || nic > streams.1 {
        let expected = format!("cpu and nic up to {} and {}, which the header says", streams.0, streams.1);
        return Err(file.fault(at + 16, format!("cpu {cpu}, nic {nic}"), expected, ""));
    }
    Ok(match kind {
        GoalKind::Calc => (need, GoalOp { kind, cpu, nic: 0, peer: 0, tag: 0, size }),
        _ => (need, GoalOp { kind, cpu, nic, peer, tag, size }),
    })
}

/// The program as GOAL binary.
pub(super) fn write(goal: &Goal) -> Vec<u8> {
    let ranks = goal.ranks();
    let roots = goal.needs().iter().filter(|&&needs| needs == 0).count();
    let header = 6 + 16 * ranks as usize;
    let size = ORIGIN + header + 8 * ranks as usize + 4 * (roots + goal.dependencies()) + NODE * goal.operations();
    let mut out = Vec::with_capacity(size);
    let (cpu, nic) = goal.highest_streams();
    out.extend(MAGIC.to_le_bytes());
    out.extend(ranks.to_le_bytes());
    out.extend([cpu, nic]);
    out.resize(ORIGIN + header, 0);
    for rank in 0..ranks {
        let start = out.len() - ORIGIN;
        write_rank(goal, rank, &mut out);
        let end = out.len() - ORIGIN;
        let place = ORIGIN + 6 + 16 * rank as usize;
        out[place..place + 8].copy_from_slice(&(start as u64).to_le_bytes());
        out[place + 8..place + 16].copy_from_slice(&(end as u64).to_le_bytes());
    }
    out
}

fn write_rank(goal: &Goal, rank: u32, out: &mut Vec<u8>) {
    let (first, ops) = (goal.first(rank), goal.of_rank(rank));
    let needs = &goal.needs()[first..first + ops.len()];
    let roots: Vec<u32> = (0..ops.len() as u32).filter(|&op| needs[op as usize] == 0).collect();
    out.extend((ops.len() as u32).to_le_bytes());
    out.extend((roots.len() as u32).to_le_bytes());
    roots.iter().for_each(|root| out.extend(root.to_le_bytes()));
    let lists = |op: usize| [Until::Finished, Until::Started].map(|until| goal.waiting_for(first + op, until));
    let mut index = 0_u32;
    for (number, op) in ops.iter().enumerate() {
        out.extend(needs[number].to_le_bytes());
        out.push(match op.kind {
            GoalKind::Send => 1,
            GoalKind::Receive => 2,
            GoalKind::Calc => 3,
        });
        out.extend(op.peer.to_le_bytes());
        out.extend(op.size.to_le_bytes());
        out.extend(op.tag.to_le_bytes());
        out.extend([op.cpu, op.nic]);
        for list in lists(number) {
            out.extend((list.len() as u32).to_le_bytes());
            out.extend(index.to_le_bytes());
            index += list.len() as u32;
        }
    }
    for number in 0..ops.len() {
        lists(number).into_iter().flatten().for_each(|op| out.extend(op.to_le_bytes()));
    }
}

/// Numbers one behind the other.
struct Reader<'b> {
    bytes: &'b [u8],
    name: &'b str,
    at: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let found = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>());
        let Some(found) = found else {
            let left = self.bytes.len().saturating_sub(self.at);
            return Err(self.fault(self.at, format!("{left} bytes"), format!("{N} bytes"), "is the file truncated?"));
        };
        self.at += N;
        Ok(*found)
    }

    fn u8(&mut self) -> Result<u8> {
        self.take::<1>().map(|b| b[0])
    }

    fn u32(&mut self) -> Result<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn fault(&self, at: usize, value: impl ToString, expected: impl Into<String>, hint: impl Into<String>) -> Error {
        Error::config(format!("{}, byte {at}", self.name), value, expected, hint)
    }
}
