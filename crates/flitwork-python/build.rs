//! Puts the sources of the MPI library (`mpi/`) into the extension: it is compiled with the mpicc of whoever uses it.
//! The step functions come with them as a static library, so nobody needs a Rust compiler for that.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

/// Name of the static library.
const STEPS: &str = "libflitwork_steps.a";

/// What belongs to the sources of the library, by how its name ends, or by its whole name.
const ENDINGS: &[&str] = &["c", "f90", "h", "mk"];
const NAMES: &[&str] = &["Makefile"];

fn main() -> io::Result<()> {
    let this = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let root = this.join("../../mpi").canonicalize()?;
    println!("cargo::rerun-if-changed={}", root.display());
    let steps = made(&this.join("../flitwork-steps"), &out)?;
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in &files {
        let name = file.strip_prefix(&root).expect("it was found there").to_string_lossy().replace('\\', "/");
        writeln!(table, "    ({name:?}, include_bytes!({:?})),", file.display().to_string()).expect("a string");
    }
    writeln!(table, "    ({STEPS:?}, include_bytes!({:?})),", steps.display().to_string()).expect("a string");
    table.push(']');
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

/// The static library of the step functions, made by one call of the compiler.
fn made(steps: &Path, out: &Path) -> io::Result<PathBuf> {
    let (sources, arguments) = (steps.join("src"), steps.join("static-library.args"));
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-changed={}", arguments.display());
    let library = out.join(STEPS);
    let mut compiler = Command::new(env::var_os("RUSTC").expect("cargo sets it"));
    compiler
        .arg(format!("@{}", arguments.display()))
        .arg("--target")
        .arg(env::var_os("TARGET").expect("cargo sets it"));
    let done = compiler.arg("-o").arg(&library).arg(sources.join("lib.rs")).status()?;
    if !done.success() {
        return Err(io::Error::other(format!("the step functions do not compile: {done}")));
    }
    shorten(&library);
    Ok(library)
}

/// Takes out what the linkers of C bring themselves, and what only debuggers read: most of the file. Where the tools
/// for that are missing it stays as it is.
fn shorten(library: &Path) {
    let Ok(listed) = Command::new("ar").arg("t").arg(library).stderr(Stdio::null()).output() else { return };
    let members = String::from_utf8_lossy(&listed.stdout).into_owned();
    let others: Vec<&str> = members.lines().filter(|member| !member.contains("flitwork_steps")).collect();
    if listed.status.success() && !others.is_empty() && others.len() < members.lines().count() {
        let _ = Command::new("ar").arg("d").arg(library).args(others).status();
    }
    let _ = Command::new("strip").arg("--strip-debug").arg(library).status();
}
