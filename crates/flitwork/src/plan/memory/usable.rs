//! How much memory this process may use: what the machine has, or less where a control group, `ulimit` or SLURM says
//! less.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is taken for the memory of a machine that does not tell \[bytes].
const UNKNOWN_MACHINE: u64 = 8_000_000_000;
/// Many plans ask; limits change rarely.
const FRESH: Duration = Duration::from_secs(1);

/// Memory, and what limits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usable {
    /// Three quarters of what may be used \[bytes].
    pub bytes: u64,
    /// What says so, in words.
    pub of: &'static str,
}

/// Three quarters of the memory that this process may use.
pub fn usable() -> Usable {
    static LAST: Mutex<Option<(Instant, Usable)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match *last {
        Some((when, found)) if when.elapsed() < FRESH => found,
        _ => {
            last.insert((
                Instant::now(),
                least(machine(), &|file| std::fs::read_to_string(file).ok(), &|name| std::env::var(name).ok()),
            ))
            .1
        }
    }
}

/// What gives the text of a file, or of a variable, if it is there.
type Text<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The least of what the machine and all limits allow.
fn least(machine: u64, file: Text, variable: Text) -> Usable {
    let limits = [
        (control_group(file), "the control group"),
        (ulimit(file, "Max address space", "VmSize:"), "ulimit -v"),
        (ulimit(file, "Max data size", "VmData:"), "ulimit -d"),
        (slurm(variable), "SLURM"),
    ];
    let known = limits.into_iter().filter_map(|(bytes, of)| Some((bytes?, of)));
    let (bytes, of) = known.fold((machine, "this machine"), |least, one| if one.0 < least.0 { one } else { least });
    Usable { bytes: bytes / 4 * 3, of }
}

fn machine() -> u64 {
    sysinfo::System::new().map_or(UNKNOWN_MACHINE, |mut system| {
        system.refresh_memory();
        system.total_memory()
    })
}

/// The least limit of the control groups that this process is in, of version 1 or 2; a group is bound by those above
/// it.
fn control_group(text: Text) -> Option<u64> {
    let groups = text("/proc/self/cgroup")?;
    let limit = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, group) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        let (folder, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|one| one == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        // In a container, `group` may be a place that is not mounted there: what is mounted is its own then.
        let folder_of_group = Path::new(folder).join(group);
        let groups = folder_of_group.ancestors().take_while(|group| group.starts_with(folder));
        groups.filter_map(|group| text(group.join(file).to_str()?)?.trim().parse().ok()).min()
    };
    groups.lines().filter_map(limit).min()
}

/// What a limit of the process (`name` in its list of limits) leaves beside what it has taken of that already
/// (`taken`).
fn ulimit(text: Text, name: &str, taken: &str) -> Option<u64> {
    let value = |file: &str, name: &str| -> Option<u64> {
        let text = text(file)?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let limit = value("/proc/self/limits", name)?;
    Some(limit.saturating_sub(value("/proc/self/status", taken).unwrap_or(0).saturating_mul(1024)))
}

/// What SLURM gives a job on this machine: memory of the node, or of each of its CPUs \[MiB]; 0 is all of it.
fn slurm(variable: Text) -> Option<u64> {
    let number = |name: &str| variable(name)?.trim().parse::<u64>().ok().filter(|number| *number > 0);
    let of_cpus = || Some(number("SLURM_MEM_PER_CPU")?.saturating_mul(number("SLURM_CPUS_ON_NODE")?));
    Some(number("SLURM_MEM_PER_NODE").or_else(of_cpus)?.saturating_mul(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: u64 = 1 << 36;

    /// What is usable of a machine with these files and variables.
    fn found(files: &[(&str, &str)], variables: &[(&str, &str)]) -> (u64, &'static str) {
        let text = |of: &[(&str, &str)], name: &str| of.iter().find(|one| one.0 == name).map(|one| one.1.to_string());
        let usable = least(MACHINE, &|file| text(files, file.trim_start_matches('/')), &|name| text(variables, name));
        (usable.bytes / 3 * 4, usable.of)
    }

    #[test]
    fn without_limits_it_is_the_machine() {
        assert_eq!(found(&[], &[]), (MACHINE, "this machine"));
        let unlimited = "Max address space         unlimited            unlimited            bytes\n";
        assert_eq!(
            found(&[("proc/self/limits", unlimited)], &[("SLURM_MEM_PER_NODE", "0")]),
            (MACHINE, "this machine")
        );
    }

    #[test]
    fn a_control_group_is_bound_by_those_above() {
        let membership = ("proc/self/cgroup", "0::/a/b\n");
        let files = [membership, ("sys/fs/cgroup/a/memory.max", "4096\n"), ("sys/fs/cgroup/a/b/memory.max", "max\n")];
        assert_eq!(found(&files, &[]), (4096, "the control group"));
        let mounted = [("proc/self/cgroup", "0::/elsewhere\n"), ("sys/fs/cgroup/memory.max", "8192\n")];
        assert_eq!(found(&mounted, &[]), (8192, "the control group"));
        let old = [
            ("proc/self/cgroup", "5:cpu:/x\n4:memory:/x\n0::/\n"),
            ("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "16384\n"),
        ];
        assert_eq!(found(&old, &[]), (16384, "the control group"));
    }

    #[test]
    fn ulimit_counts_what_is_taken() {
        let limits =
            ("proc/self/limits", "Max data size   8192   unlimited   bytes\nMax address space   12288   x   bytes\n");
        let status = ("proc/self/status", "VmSize:\t    8 kB\nVmData:\t    1 kB\n");
        assert_eq!(found(&[limits, status], &[]), (4096, "ulimit -v"));
    }

    #[test]
    fn slurm_tells_for_a_node_or_a_cpu() {
        assert_eq!(found(&[], &[("SLURM_MEM_PER_NODE", "100")]), (100 << 20, "SLURM"));
        let cpus = [("SLURM_MEM_PER_CPU", "100"), ("SLURM_CPUS_ON_NODE", "4")];
        assert_eq!(found(&[], &cpus), (400 << 20, "SLURM"));
        assert_eq!(found(&[], &cpus[..1]), (MACHINE, "this machine"));
    }
}
