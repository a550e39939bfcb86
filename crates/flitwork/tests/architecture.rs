//! The tree keeps to docs/architecture.md: who may use whom, nothing knows Python, files stay readable.
//!
//! Paths are read from the text: `use crate::module::...` and `crate::module::...`, without comments and unit tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What the non-test code of each module of the crate may use, from the bottom up: a module names only modules above it
/// in this table, so there is no cycle among them.
const MAY_USE: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("component", &[]),
    ("mix", &[]),
    ("topology", &["component", "error", "mix"]),
    ("timers", &[]),
    ("unchecked", &[]),
    ("routing", &["component", "error", "mix", "topology", "unchecked"]),
    ("units", &["error"]),
    ("schedule", &["error", "mix", "units"]),
    // A table of numbers may be a schedule.
    ("timetable", &["error", "schedule", "topology"]),
    ("traffic", &["component", "error", "mix", "schedule", "timetable", "topology"]),
    ("collective", &["error", "schedule", "topology"]),
    ("synthesis", &["error", "mix", "timetable", "topology"]),
    // What can be chosen is defined where it is done (`Tie`, `Sync`); the specification only quotes it.
    ("measure", &["mix"]),
    ("router", &["component"]),
    // Another simulator's rules wrap schemes from outside: no routing knows them.
    ("compat", &["error", "routing", "topology"]),
    ("bound", &["collective", "error", "routing", "schedule", "topology"]),
    ("pace", &["bound", "error", "routing", "schedule", "topology"]),
    (
        "spec",
        &[
            "collective",
            "compat",
            "component",
            "error",
            "pace",
            "router",
            "measure",
            "mix",
            "routing",
            "schedule",
            "topology",
            "traffic",
            "units",
        ],
    ),
    ("transit", &["measure", "routing", "unchecked"]),
    (
        "plan",
        &[
            "collective",
            "compat",
            "error",
            "measure",
            "pace",
            "routing",
            "schedule",
            "spec",
            "synthesis",
            "timetable",
            "topology",
            "traffic",
            "transit",
        ],
    ),
    // Detours are drawn from the streams that traffic is drawn from; what ranks did is recorded in the result.
    ("host", &["error", "measure", "mix", "schedule", "timers", "traffic"]),
    (
        "terminal",
        &[
            "error",
            "host",
            "measure",
            "mix",
            "pace",
            "plan",
            "routing",
            "schedule",
            "spec",
            "timers",
            "timetable",
            "topology",
            "traffic",
            "transit",
        ],
    ),
    (
        "kernel",
        &[
            "compat",
            "error",
            "host",
            "measure",
            "mix",
            "plan",
            "router",
            "routing",
            "schedule",
            "spec",
            "terminal",
            "timers",
            "topology",
            "traffic",
            "transit",
            "unchecked",
        ],
    ),
    ("run", &["bound", "error", "kernel", "measure", "plan", "schedule", "traffic"]),
    ("components", &["collective", "component", "router", "routing", "spec", "topology", "traffic"]),
];

/// Most lines of a file.
const LONGEST_FILE: usize = 600;

/// Most columns of a line with a comment: rustfmt on stable wraps code only.
const WIDEST_COMMENT: usize = 120;

fn crate_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files below `folder`.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The code of a file: without comments, and without the unit tests, which stand at its end.
fn code(text: &str) -> String {
    let production = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    production.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The first module of `path` below `src`, and how many modules deep the file is: `src/kernel/flit/step.rs` is in
/// `kernel`, three deep.
fn module_of(path: &Path) -> (String, usize) {
    let inside = path.strip_prefix(crate_folder().join("src")).unwrap().with_extension("");
    let mut parts: Vec<String> = inside.iter().map(|p| p.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|p| p == "mod") {
        parts.pop();
    }
    (parts[0].clone(), parts.len())
}

/// The modules that follow each `crate::` in `code`; `{a, b}` counts as both.
fn modules_named(code: &str) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        // Another crate's name may end in "crate".
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        assert!(!rest.starts_with('{'), "write one `use crate::module::...` for each module, not `use crate::{{...}}`");
        named.insert(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
    }
    named
}

/// Who uses whom, outside of tests: (user, used) to the files.
fn uses() -> BTreeMap<(String, String), Vec<String>> {
    let mut uses: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for path in rust_files(&crate_folder().join("src")) {
        if path.ends_with("lib.rs") || path.ends_with("tests.rs") {
            continue;
        }
        let (module, depth) = module_of(&path);
        let text = code(&fs::read_to_string(&path).unwrap());
        let out = "super::".repeat(depth);
        assert!(!text.contains(&out), "{}: write crate:: for what is outside of {module}", path.display());
        for used in modules_named(&text) {
            if used != module {
                uses.entry((module.clone(), used)).or_default().push(path.display().to_string());
            }
        }
    }
    uses
}

#[test]
fn modules_use_only_what_is_below_them() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    for ((user, used), files) in uses() {
        let may =
            allowed.get(user.as_str()).unwrap_or_else(|| panic!("{user} is missing in MAY_USE: say what it may use"));
        assert!(
            may.contains(&used.as_str()),
            "{user} must not use {used} (docs/architecture.md): {}",
            files.join(", ")
        );
    }
}

#[test]
fn the_table_has_no_cycle_and_every_module() {
    for (i, (module, may)) in MAY_USE.iter().enumerate() {
        for used in *may {
            assert!(MAY_USE[..i].iter().any(|m| m.0 == *used), "{module} -> {used} does not point up in MAY_USE");
        }
    }
    for path in rust_files(&crate_folder().join("src")) {
        let (module, _) = module_of(&path);
        assert!(module == "lib" || MAY_USE.iter().any(|m| m.0 == module), "{module} is missing in MAY_USE");
    }
}

#[test]
fn the_page_shows_the_table() {
    let page = fs::read_to_string(crate_folder().join("../../docs/architecture.md")).unwrap();
    let row = |(module, may): &(&str, &[&str])| match may.is_empty() {
        true => format!("{module}\n"),
        false => format!("{module} → {}\n", may.join(", ")),
    };
    let table: String = MAY_USE.iter().map(row).collect();
    assert!(page.contains(&format!("```\n{table}```")), "docs/architecture.md, Who uses whom, should be\n{table}");
}

#[test]
fn nothing_here_knows_python() {
    let manifest = fs::read_to_string(crate_folder().join("Cargo.toml")).unwrap();
    let sources = rust_files(&crate_folder().join("src"));
    let texts = sources.iter().map(|p| (p.display().to_string(), code(&fs::read_to_string(p).unwrap())));
    for (name, text) in texts.chain([("Cargo.toml".to_string(), manifest)]) {
        for word in ["python", "pyo3", "numpy"] {
            assert!(!text.to_lowercase().contains(word), "{name} mentions {word}");
        }
    }
}

/// The step functions are compiled into the MPI library by one call of the compiler, without a registry.
#[test]
fn the_step_functions_need_nothing() {
    let steps = crate_folder().join("../flitwork-steps");
    let manifest = fs::read_to_string(steps.join("Cargo.toml")).unwrap();
    let (_, rest) = manifest.split_once("[dependencies]\n").unwrap();
    for line in rest.lines().take_while(|line| !line.starts_with('[')).filter(|line| !line.is_empty()) {
        assert!(line.contains("optional = true"), "flitwork-steps requires {line}");
    }
    for path in rust_files(&steps.join("src")) {
        let text = code(&fs::read_to_string(&path).unwrap());
        assert!(!text.contains("flitwork::") && !text.contains("pyo3"), "{}", path.display());
    }
}

#[test]
fn files_stay_readable() {
    let this = crate_folder();
    let bindings = this.join("../flitwork-python/src");
    let folders = [this.join("src"), this.join("tests"), bindings, this.join("../flitwork-steps/src")];
    for path in folders.iter().filter(|f| f.exists()).flat_map(|f| rust_files(f)) {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= LONGEST_FILE, "{}: {lines} lines, at most {LONGEST_FILE}", path.display());
    }
}

/// The numbers of the lines that are comments and longer than the limit.
fn too_wide(text: &str) -> Vec<usize> {
    let is_too_wide = |line: &str| line.trim_start().starts_with("//") && line.chars().count() > WIDEST_COMMENT;
    text.lines().enumerate().filter(|(_, line)| is_too_wide(line)).map(|(i, _)| i + 1).collect()
}

#[test]
fn comments_keep_to_the_width_of_the_code() {
    for path in rust_files(&crate_folder().join("..")) {
        let lines = too_wide(&fs::read_to_string(&path).unwrap());
        let hint = "python tools/wrap_comments.py wraps them";
        assert!(
            lines.is_empty(),
            "{}: comments wider than {WIDEST_COMMENT} in lines {lines:?}; {hint}",
            path.display()
        );
    }
}

#[test]
fn wide_comments_are_found() {
    let comment = |columns: usize| format!("// {}", "é".repeat(columns - 3));
    let text = [format!("    {}", comment(117)), comment(120), comment(121), "x".repeat(130)].join("\n");
    assert_eq!(too_wide(&text), [1, 3]);
}

/// `rust-version` of the Python module is the oldest version that builds everything; what people read names it.
#[test]
fn pages_name_the_supported_version_of_rust() {
    let root = crate_folder().join("../..");
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let manifest = read("crates/flitwork-python/Cargo.toml");
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap().trim_matches('"');
    for name in ["README.md", "CONTRIBUTING.md", "Makefile", "docs/getting-started.md"] {
        assert!(read(name).contains(&format!("Rust {version} or later")), "{name} should say: Rust {version} or later");
    }
}

#[test]
fn paths_are_found_in_code_only() {
    let text = "use crate::spec::A; // crate::run\nlet x = crate::plan::B; mycrate::y();\n#[cfg(test)]\nmod tests { use crate::z; }";
    assert_eq!(modules_named(&code(text)), ["plan", "spec"].map(String::from).into());
}
