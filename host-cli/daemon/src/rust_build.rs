//! Apps in Rust: cargo builds a component in the sandbox, without a network, and no process runs it.

use super::daemon::Daemon;
use super::refusal::{Answered, Refusal, broken, refused, was_ended};
use super::rust_toolchain::{Rust, Target};
use super::task::Task;
use agent_host::Failure;
use agent_host::contract::daemon::{Build, ErrorCode};
use agent_ownership::create_private;
use agent_packages::AppPackages;
use agent_sandbox::{Command, Exit, Finished, Limits, Log, Mount, RunError, Sandbox, Tier};
use agent_syntax::json::parse_strict;
use agent_syntax::members::{items, member, string};
use agent_tasks::Artifact;
use agent_tasks::disk::{Quota, exceeded};
use agent_tasks::limits::{DEFAULT_DISK_MB, DEFAULT_FILES};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use tokio::select;
use tokio::task::spawn_blocking;

/// The sources of the app, in the sandbox.
const SOURCE: &str = "/app";

/// The folder for what cargo writes, in the sandbox.
const BUILD: &str = "/build";

/// The folder of builds, in that of the states of tasks.
const BUILDS: &str = ".state/builds";

/// Time of a build.
const BUILD_TIME: Duration = Duration::from_secs(600);

/// Memory of a build, in bytes.
const BUILD_MEMORY: u64 = 4 << 30;

/// Size of the largest file of a build, in bytes.
const BUILD_FILE_BYTES: u64 = 1 << 30;

/// What a build may leave in its own folder.
const BUILD_QUOTA: Quota = Quota {
    bytes: 4 << 30,
    files: 100_000,
};

/// What a build may leave in the folder of the app.
const SOURCE_QUOTA: Quota = Quota {
    bytes: DEFAULT_DISK_MB << 20,
    files: DEFAULT_FILES,
};

/// Number of processes and threads of a build.
const BUILD_PROCESSES: u32 = 256;

/// What cargo may report of its work, in bytes.
const REPORT_BYTES: u64 = 64 << 20;

/// What the compiler may write, in bytes.
const LOG_BYTES: u64 = 1 << 20;

/// The options by which cargo finds the crates of an app.
const CRATES: [&str; 2] = ["--config", "/crates/config.toml"];

/// Options of cargo without a value that choose what is built.
const SWITCHES: [&str; 8] = [
    "--release",
    "-r",
    "--all-features",
    "--no-default-features",
    "--lib",
    "--locked",
    "--offline",
    "--frozen",
];

/// Options of cargo with a value that choose what is built.
const CHOICES: [&str; 6] = ["--bin", "--package", "-p", "--features", "-F", "--profile"];

impl Daemon {
    /// Builds an app in Rust with its crates, and returns the file of its component. The build works in the copy of the
    /// app's files, like an app, and may write there if an app may.
    pub(crate) async fn built(
        &self,
        task: &Rc<Task>,
        Build { words, may_write }: Build,
        crates: Option<&AppPackages>,
    ) -> Answered<PathBuf> {
        let options = options(&words)?;
        let rust = blocking(Rust::find).await?;
        let rust = rust.map_err(|why| {
            let hint = "install Rust, such as with rustup, and start the daemon with it in `PATH`";
            refused(ErrorCode::Build, why, hint)
        })?;
        let Some(target) = rust.target else {
            let root = rust.root.display();
            let message =
                format!("the toolchain in `{root}` has no standard library for components");
            let hint = "run `rustup target add wasm32-wasip2`";
            return Err(refused(ErrorCode::Build, message, hint));
        };
        let sandbox = Sandbox::of(Tier::Bubblewrap).await.map_err(|none| {
            let hint = "run `agent sandbox` for what is missing";
            refused(ErrorCode::Runtime, none.to_string(), hint)
        })?;
        let folder = self.builds(task);
        let kept = folder.join("target");
        create_private(&kept).map_err(failed)?;
        let source = self
            .with_folder(task, ErrorCode::Fs, |folder| Ok(folder.work()?))
            .await?;
        let mounted = mount(&source, may_write);
        let command = command(&rust, target, mounted, &kept, crates, options);
        let cut = Cell::new(None);
        let cancel = async {
            // A build script is untrusted code.
            let refusal = select! {
                limit = exceeded(folder.clone(), || None, BUILD_QUOTA) => too_large(limit),
                limit = exceeded(source, || None, SOURCE_QUOTA) => too_large(limit),
                () = task.is_killed() => was_ended(),
            };
            cut.set(Some(refusal));
        };
        let ended = sandbox.run(command, Vec::new(), limits(), cancel).await;
        let log = match &ended {
            Ok(finished) => Some(finished.stderr.clone()),
            Err(error) => error.log().cloned(),
        };
        if let Some(Log { bytes, .. }) = log.filter(|log| !log.bytes.is_empty()) {
            self.with_folder(task, ErrorCode::Fs, move |folder| {
                Ok(folder.append(Artifact::RunLog, &bytes)?)
            })
            .await?;
        }
        if let Some(refusal) = cut.take() {
            self.remove_builds(task).await;
            return Err(refusal);
        }
        let built = built(ended)?;
        let done = blocking(move || {
            let wasm = artifact(&kept, &built)?;
            let component = agent_wasi_app::component(wasm);
            let component = component.map_err(|why| {
                let name = built.display();
                let hint = "export `wasi:http/incoming-handler`, as the services of the template planner do";
                refused(ErrorCode::Build, format!("`{name}` {why}"), hint)
            })?;
            let path = folder.join("app.wasm");
            written(&path, &component).map_err(failed)?;
            Ok(path)
        });
        done.await?
    }

    /// Returns the folder for the builds of a task. It is not part of the task: nothing in it is the user's.
    fn builds(&self, task: &Task) -> PathBuf {
        self.root.join(BUILDS).join(&task.id)
    }

    /// Removes what builds of a task have left.
    pub(crate) async fn remove_builds(&self, task: &Task) {
        let folder = self.builds(task);
        // What can't be removed takes room and does no harm.
        let _ = spawn_blocking(move || agent_sandbox::remove_folder(&folder)).await;
    }
}

/// Runs work in a thread that may wait.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Answered<T> {
    let done = spawn_blocking(work).await;
    done.map_err(|error| broken(Failure::internal(error)))
}

fn too_large(limit: &str) -> Refusal {
    let message = format!("the build exceeded its limit `{limit}`");
    refused(ErrorCode::Build, message, "make the app smaller")
}

fn failed(error: io::Error) -> Refusal {
    let message = format!("the build can't be kept: {error}");
    refused(ErrorCode::Build, message, "free some room on the disk")
}

/// Returns the options of the command that starts an app. It is `cargo run`, which here builds a component.
fn options(start: &[String]) -> Answered<Vec<String>> {
    let no = |message: String| {
        let hint = "start the app with `cargo run` or `cargo run --release`";
        Err(refused(ErrorCode::Plan, message, hint))
    };
    let mut words = start.iter();
    let begin = [words.next(), words.next()].map(|it| it.map(String::as_str));
    if begin != [Some("cargo"), Some("run")] {
        let line = start.join(" ");
        return no(format!("`{line}` starts no app in Rust"));
    }
    let mut options = Vec::new();
    while let Some(word) = words.next() {
        let name = word.split_once('=').map_or(&**word, |(name, _)| name);
        if SWITCHES.contains(&&**word) || (CHOICES.contains(&name) && word.contains('=')) {
            options.push(word.clone());
        } else if CHOICES.contains(&&**word) {
            let Some(value) = words.next() else {
                return no(format!("`{word}` has no value"));
            };
            options.extend([word.clone(), value.clone()]);
        } else {
            return no(format!("`cargo run` has no option `{word}` here"));
        }
    }
    Ok(options)
}

/// Returns the call of cargo.
fn command(
    rust: &Rust,
    target: Target,
    source: Mount,
    kept: &Path,
    crates: Option<&AppPackages>,
    options: Vec<String>,
) -> Command {
    let mut command = Command::new(&rust.cargo);
    let format = "--message-format=json-render-diagnostics";
    let own = ["build", "--offline", format, "--target", target.name()].map(str::to_owned);
    command.arguments = own.into_iter().chain(options).map(Into::into).collect();
    if crates.is_some() {
        command.arguments.extend(CRATES.map(Into::into));
    }
    let programs = rust.root.join("bin");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display());
    let env = [
        ("CARGO_HOME", "/tmp/cargo"),
        ("CARGO_INCREMENTAL", "0"),
        ("CARGO_TARGET_DIR", BUILD),
        ("CARGO_TERM_COLOR", "never"),
        ("PATH", &*path),
    ];
    command.env = env.map(|(name, value)| (name.into(), value.into())).into();
    command
        .env
        .insert("RUSTC".into(), rust.rustc.clone().into());
    command.read = rust.read.clone();
    command.mounts = BTreeMap::from([(SOURCE.into(), source), (BUILD.into(), mount(kept, true))]);
    let folders = crates.iter().flat_map(|it| &it.folders);
    let folders = folders.map(|(inside, folder)| (inside.clone(), mount(folder, false)));
    command.mounts.extend(folders);
    command.cwd = Some(SOURCE.into());
    command
}

fn mount(folder: &Path, writable: bool) -> Mount {
    Mount {
        folder: folder.to_owned(),
        writable,
    }
}

fn limits() -> Limits {
    Limits {
        wall_time: Some(BUILD_TIME),
        cpu_time: None,
        memory_bytes: BUILD_MEMORY,
        processes: BUILD_PROCESSES,
        file_bytes: BUILD_FILE_BYTES,
        open_files: 4096,
        stdout_bytes: REPORT_BYTES,
        stderr_bytes: LOG_BYTES,
        ..Limits::default()
    }
}

/// Returns the path of the one artifact below the folder of the build.
fn built(ended: Result<Finished, RunError>) -> Answered<PathBuf> {
    let no = |message: String, hint: &str| Err(refused(ErrorCode::Build, message, hint));
    let read = "read `run.log`, correct the files and call `run.start`";
    let finished = match ended {
        Ok(finished) => finished,
        Err(RunError::Timeout(_)) => {
            let seconds = BUILD_TIME.as_secs();
            let message = format!("the build took longer than {seconds} s");
            return no(message, "make the app smaller");
        }
        Err(error) => return no(format!("the build failed: {error}"), read),
    };
    if finished.exit != Exit::Code(0) {
        let log = String::from_utf8_lossy(&finished.stderr.bytes);
        let message = match first_error(&log) {
            Some(error) => format!("the build failed: {error}"),
            None => format!("the build failed with {}", finished.exit),
        };
        return no(message, read);
    }
    let report = String::from_utf8_lossy(&finished.stdout);
    let mut artifacts = artifacts(&report);
    match (artifacts.pop(), artifacts.pop()) {
        (Some(path), None) => Ok(path),
        (None, _) => no(
            "the build made no WebAssembly".to_owned(),
            "give the crate a binary, or a library with `crate-type = [\"cdylib\"]`",
        ),
        (Some(_), Some(_)) => no(
            "the build made several components".to_owned(),
            "name one, as in `cargo run --bin NAME`",
        ),
    }
}

/// Returns the paths of the WebAssembly that cargo reports for the packages of the app, below the folder of the
/// build, each once. What it makes for other packages is in `deps`.
fn artifacts(report: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for line in report.lines() {
        let Some(message) = parse_strict(line) else {
            continue;
        };
        let files = member(&message, "filenames").and_then(items);
        for file in files.unwrap_or_default().iter().filter_map(string) {
            let Ok(path) = Path::new(file).strip_prefix(BUILD) else {
                continue;
            };
            let parts: Vec<_> = path.components().collect();
            let is_plain = parts.iter().all(|it| matches!(it, Component::Normal(_)));
            let is_wasm = path.extension().is_some_and(|it| it == "wasm");
            // The target, the profile, and the file.
            if is_plain && is_wasm && parts.len() == 3 && !found.iter().any(|it| it == path) {
                found.push(path.to_owned());
            }
        }
    }
    found
}

/// Returns the first error of a compiler's log with its place.
fn first_error(log: &str) -> Option<String> {
    let mut lines = log.lines();
    let error = lines.find(|line| line.starts_with("error"))?;
    let place = lines
        .take_while(|line| !line.is_empty())
        .find_map(|line| line.trim_start().strip_prefix("--> "));
    Some(match place {
        Some(place) => format!("{error} ({place})"),
        None => error.to_owned(),
    })
}

/// Reads a file that a build has made. Nothing of the build runs any more.
fn artifact(folder: &Path, path: &Path) -> Answered<Vec<u8>> {
    let no = |why: &str| {
        let message = format!("`{}` {why}", path.display());
        refused(ErrorCode::Build, message, "read `run.log`")
    };
    let read = || -> io::Result<Option<Vec<u8>>> {
        let file = folder.join(path);
        // A link could lead to a file of the machine.
        if file.canonicalize()? != folder.canonicalize()?.join(path) || !file.is_file() {
            return Ok(None);
        }
        let mut wasm = Vec::new();
        let limit = agent_wasi_app::limits::COMPONENT_BYTES;
        fs::File::open(file)?
            .take(limit + 1)
            .read_to_end(&mut wasm)?;
        Ok((wasm.len() as u64 <= limit).then_some(wasm))
    };
    match read() {
        Ok(Some(wasm)) => Ok(wasm),
        Ok(None) => Err(no("is too large, or not a file")),
        Err(error) => Err(no(&format!("can't be read: {error}"))),
    }
}

/// Replaces a file as a whole.
fn written(path: &Path, content: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = fs::File::create(&beside)?;
    file.write_all(content)?;
    fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::{artifact, artifacts, first_error, options};
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_command_line_chooses_what_is_built() {
        for (line, expected) in [
            ("cargo run", ""),
            ("cargo run --release", "--release"),
            ("cargo run -p app --bin=x -r", "-p app --bin=x -r"),
        ] {
            assert_eq!(options(&words(line)).unwrap().join(" "), expected, "{line}");
        }
        for (line, reason) in [
            ("cargo", "starts no app"),
            ("cargo test", "starts no app"),
            ("./target/release/app", "starts no app"),
            (
                "cargo run --target x86_64-unknown-linux-gnu",
                "no option `--target`",
            ),
            ("cargo run --config a=b", "no option `--config`"),
            ("cargo run --release=1", "no option"),
            ("cargo run -- --port 1", "no option `--`"),
            ("cargo run --bin", "has no value"),
        ] {
            let refusal = options(&words(line)).unwrap_err();
            assert!(
                refusal.message.contains(reason),
                "{line}: {}",
                refusal.message
            );
        }
    }

    #[test]
    fn artifacts_are_those_of_the_app() {
        let report = [
            r#"{"reason":"compiler-artifact","filenames":["/build/wasm32-wasip2/debug/deps/other.wasm"]}"#,
            r#"{"reason":"compiler-artifact","filenames":["/build/debug/build/app/build-script-build"]}"#,
            r#"{"reason":"compiler-artifact","filenames":["/build/wasm32-wasip2/debug/app.wasm","/build/a/b/app.d"]}"#,
            r#"{"reason":"compiler-artifact","filenames":["/build/../etc/x.wasm","/etc/a/b/c.wasm",3]}"#,
            r#"{"reason":"compiler-artifact","filenames":["/build/wasm32-wasip2/debug/app.wasm"]}"#,
            "no JSON",
            r#"{"reason":"build-finished","success":true}"#,
        ];
        let found = artifacts(&report.join("\n"));
        assert_eq!(found, [PathBuf::from("wasm32-wasip2/debug/app.wasm")]);
    }

    #[test]
    fn the_first_error_has_its_place() {
        let log = "   Compiling app v0.1.0 (/app)\nwarning: unused\n --> src/lib.rs:1:1\n\n\
                   error[E0425]: cannot find value `x` in this scope\n --> src/lib.rs:5:9\n  |\n\n\
                   error: aborting\n";
        assert_eq!(
            first_error(log).unwrap(),
            "error[E0425]: cannot find value `x` in this scope (src/lib.rs:5:9)"
        );
        let log = "error: no matching package named `x` found\n\n --> elsewhere";
        assert_eq!(
            first_error(log).unwrap(),
            "error: no matching package named `x` found"
        );
        assert_eq!(first_error("warning: a"), None);
    }

    #[test]
    fn a_link_is_no_artifact() {
        let place = tempfile::tempdir().unwrap();
        let (folder, secret) = (place.path().join("target"), place.path().join("secret"));
        fs::create_dir(&folder).unwrap();
        fs::write(&secret, "secret").unwrap();
        fs::write(folder.join("app.wasm"), "app").unwrap();
        symlink(&secret, folder.join("link.wasm")).unwrap();
        symlink(place.path(), folder.join("up")).unwrap();
        let read = |path: &str| artifact(&folder, Path::new(path));
        assert_eq!(read("app.wasm").unwrap(), b"app");
        for wrong in ["link.wasm", "up/secret", "missing.wasm", ""] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
