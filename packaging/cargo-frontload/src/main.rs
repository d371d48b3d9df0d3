//! `cargo frontload`: what docs/how-to/cargo.md does by hand, without a change of the crate. It runs
//! cargo with frontload-cc as the linker, and hands everything else on to `frontload`, which must be
//! installed.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{exit, Command, Output, Stdio};

const USAGE: &str = "\
usage: cargo frontload record [ARGUMENTS of cargo run] [-- ARGUMENTS]
       cargo frontload build|run|test|bench|install [ARGUMENTS of cargo]
       cargo frontload VERB [ARGUMENTS of frontload]

record runs the program once and writes startup/NAME.startup, to be checked in. build and the like
link each program that has such a profile with its front. Example:

  cargo frontload record --release -- --version
  cargo frontload build --release
  cargo frontload check target/release/app --profile startup/app.startup";
/// Set for this program where cargo starts it in place of the recorded one: the folder for profiles.
const RECORDING: &str = "FRONTLOAD_CARGO_RECORDS_TO";

fn fail(what: &str, note: &str) -> ! {
    eprintln!("cargo-frontload: error: {what}\ncargo-frontload: note: {note}");
    exit(2)
}

/// Runs a command. If it fails, this program ends with its exit status.
fn run(command: &mut Command) -> Output {
    match command.stdin(Stdio::inherit()).stderr(Stdio::inherit()).output() {
        Ok(output) if output.status.success() => output,
        Ok(output) => exit(output.status.code().unwrap_or(1)),
        Err(error) => fail(
            &format!("{}: {error}", command.get_program().to_string_lossy()),
            "cargo, frontload and frontload-cc must be in PATH (pipx install frontload)",
        ),
    }
}

fn run_aloud(command: &mut Command) {
    run(command.stdout(Stdio::inherit()));
}

fn text_of(command: &mut Command) -> String {
    String::from_utf8_lossy(&run(command).stdout).into()
}

/// A path in the JSON that cargo prints on one line.
fn path_of(metadata: &str, key: &str) -> PathBuf {
    let found = metadata.split_once(&format!("\"{key}\":\"")).and_then(|at| at.1.split_once('"'));
    match found {
        Some((path, _)) if !path.contains('\\') => path.into(),
        _ => fail(&format!("cargo metadata: no usable {key}"), "the path may have no quotes"),
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

/// Removes what cargo linked, to be linked again: cargo does not know that a link reads a profile.
fn forget_program(folder: &Path, name: &str, depth: u32) {
    for entry in entries(folder) {
        if entry.file_name() == "deps" {
            let is_its = |file: &fs::DirEntry| file.file_name().to_string_lossy().starts_with(name);
            entries(&entry.path()).filter(is_its).for_each(|it| drop(fs::remove_file(it.path())));
        } else if depth > 0 {
            forget_program(&entry.path(), name, depth - 1);
        }
    }
}

/// As the runner that cargo starts: records the program, and writes its profile.
fn record(program: &Path, arguments: &[OsString], profiles: &Path) {
    let traces = program.with_extension("traces");
    let _ = fs::remove_dir_all(&traces);
    let mut command = Command::new("frontload");
    command.env_remove(RECORDING).arg("record").arg("-o").arg(&traces).arg("--");
    run_aloud(command.arg(program).args(arguments));
    let mut profile = program.file_name().unwrap_or_default().to_owned();
    profile.push(".startup");
    let _ = fs::create_dir_all(profiles);
    let mut command = Command::new("frontload");
    run_aloud(command.arg("profile").arg(&traces).arg("-o").arg(profiles.join(profile)));
}

/// Runs cargo with frontload-cc as its linker.
fn cargo(verb: &str, arguments: &[OsString], recording: bool) {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let metadata =
        text_of(Command::new(&cargo).args(["metadata", "--no-deps", "--format-version=1"]));
    let folder = path_of(&metadata, "target_directory");
    let profiles = env::var_os("FRONTLOAD_PROFILE_DIR")
        .map_or_else(|| path_of(&metadata, "workspace_root").join("startup"), PathBuf::from);
    let rustc = text_of(Command::new(env::var_os("RUSTC").unwrap_or("rustc".into())).arg("-vV"));
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let target = env::var("CARGO_BUILD_TARGET").unwrap_or(host.into());
    let prefix = format!("CARGO_TARGET_{}", target.to_uppercase().replace(['-', '.'], "_"));

    let mut command = Command::new(&cargo);
    command.arg(verb).args(arguments).env(format!("{prefix}_LINKER"), "frontload-cc");
    // Rust 1.90 and newer bring an lld, which gcc would find first.
    let minor = rustc.split('.').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    if minor >= 90 && target == "x86_64-unknown-linux-gnu" {
        let own = format!("{prefix}_RUSTFLAGS");
        let name = if env::var_os("RUSTFLAGS").is_some() { "RUSTFLAGS" } else { &own };
        let flags = env::var(name).unwrap_or_default() + " -Clinker-features=-lld";
        command.env(name, flags.trim_start());
    }
    if recording {
        let program = env::current_exe().unwrap_or_else(|_| "cargo-frontload".into());
        command.env("FRONTLOAD", "record").env(RECORDING, &profiles);
        // Never taken for what build makes.
        command.env("CARGO_TARGET_DIR", folder.join("frontload"));
        command.env(format!("{prefix}_RUNNER"), program);
    } else {
        command.env("FRONTLOAD_PROFILE_DIR", &profiles);
        for profile in entries(&profiles) {
            if let Some(name) = profile.file_name().to_string_lossy().strip_suffix(".startup") {
                forget_program(&folder, &(name.replace('-', "_") + "-"), 2);
            }
        }
    }
    run_aloud(&mut command);
}

fn main() {
    let mut arguments: Vec<OsString> = env::args_os().skip(1).collect();
    if let Some(profiles) = env::var_os(RECORDING) {
        return record(Path::new(&arguments[0]), &arguments[1..], Path::new(&profiles));
    }
    // cargo says `frontload` first.
    if arguments.first().map_or(false, |word| word == "frontload") {
        arguments.remove(0);
    }
    match arguments.first().and_then(|word| word.to_str()) {
        None | Some("-h" | "--help") => println!("{USAGE}"),
        Some("record") => cargo("run", &arguments[1..], true),
        Some(verb @ ("build" | "run" | "test" | "bench" | "install")) => {
            cargo(verb, &arguments[1..], false);
        }
        Some(_) => run_aloud(Command::new("frontload").args(&arguments)),
    }
}
