//! Puts the sources of the MPI library (`mpi/`) into the extension: it is compiled with the mpicc of whoever uses it.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What belongs to the sources of the library, by how its name ends, or by its whole name.
const ENDINGS: &[&str] = &["c", "h", "mk"];
const NAMES: &[&str] = &["Makefile"];

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../mpi").canonicalize()?;
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in &files {
        let name = file.strip_prefix(&root).expect("it was found there").to_string_lossy().replace('\\', "/");
        writeln!(table, "    ({name:?}, include_bytes!({:?})),", file.display().to_string()).expect("a string");
    }
    table.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("mpi_library_files.rs"), table)
}

/// The sources in a folder and those below it.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') {
            collect(&path, files)?;
        } else if NAMES.contains(&&*name) || path.extension().is_some_and(|e| ENDINGS.iter().any(|known| e == *known)) {
            files.push(path);
        }
    }
    Ok(())
}
