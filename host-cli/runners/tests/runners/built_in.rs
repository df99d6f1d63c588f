//! The built-in runners: they pass the test of runners, and see one folder alone.

use agent_runners::built_in::{
    BuiltIn, Command, Condition, ErrorCode, Failure, File, Language, Manifest, Process, Started,
};
use agent_runners::conformance::{App, Outcome, test_built_in};
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::symlink;

/// The checks that need invocations of an executable.
const OF_INVOCATIONS: [&str; 9] = [
    "unknown-method",
    "other-version",
    "not-json",
    "app-output",
    "ends",
    "one-object",
    "quiet",
    "envelope",
    "exit-code",
];

async fn passes(language: Language, app: &App) {
    let runners = BuiltIn::load().unwrap();
    let report = test_built_in(&runners, language, app).await.unwrap();
    let mut checks = report.checks.iter();
    assert!(checks.all(|it| it.outcome == Outcome::Passed), "{report}");
    let page = include_str!("../../../../docs/reference/runner.md");
    let (_, listed) = page.split_once("| check |").expect("the table of checks");
    let (listed, _) = listed.split_once("\n\n").unwrap();
    let names = listed.split('`').skip(1).step_by(2);
    for name in names.filter(|name| {
        !["..", "writes", "target", "start", "stop", "PORT", "E_PLAN"].contains(name)
    }) {
        let is_checked = report.checks.iter().any(|it| it.name == name);
        assert_eq!(is_checked, !OF_INVOCATIONS.contains(&name), "{name}");
    }
}

#[tokio::test]
async fn the_runner_of_python_passes_every_check() {
    passes(Language::Python, &App::python()).await;
}

#[tokio::test]
async fn the_runner_of_node_passes_every_check() {
    passes(Language::Node, &App::node()).await;
}

/// What needs a toolchain of Go in `PATH`.
mod go_apps {
    use super::{App, Language, passes};

    #[tokio::test]
    async fn the_runner_of_go_passes_every_check() {
        passes(Language::Go, &App::go()).await;
    }
}

/// A host that starts nothing, and keeps what it is asked for.
#[derive(Default)]
struct Kept(RefCell<Vec<Command>>);

impl Process for Kept {
    async fn toolchain(&self, program: &str) -> Option<String> {
        (program == "go").then(|| "/opt/go/bin/go".to_owned())
    }

    async fn start(&self, command: Command) -> Result<Started, Failure> {
        self.0.borrow_mut().push(command);
        Ok(Started {
            pid: Some(7),
            port: Some(8080),
        })
    }

    async fn stop(&self) -> Result<(), Failure> {
        Ok(())
    }

    async fn check(&self) -> Condition {
        Condition {
            live: true,
            ready: false,
        }
    }
}

fn manifest(line: &str) -> Manifest {
    Manifest {
        words: line.split(' ').map(str::to_owned).collect(),
        env: vec![("MODE".to_owned(), "test".to_owned())],
    }
}

#[tokio::test]
async fn a_command_line_becomes_the_command_of_its_language() {
    let runners = BuiltIn::load().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in ["app.py", "index.js", "main.go"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let cases = [
        (Language::Python, "python app.py", "python3 app.py"),
        (Language::Python, "python -m app", "python3 -m app"),
        (Language::Node, "node ./index.js", "node ./index.js"),
        (Language::Go, "go run main.go", "/opt/go/bin/go run main.go"),
        (Language::Go, "go run .", "/opt/go/bin/go run ."),
    ];
    for (language, line, expected) in cases {
        let host = Kept::default();
        let manifest = manifest(line);
        let started = runners
            .start(language, folder.path(), &manifest, &host)
            .await;
        assert_eq!(started.unwrap().port, Some(8080), "{line}");
        let asked = host.0.into_inner();
        let [command] = &asked[..] else {
            panic!("{line}: {asked:?}");
        };
        assert_eq!(command.words.join(" "), expected);
        // What the request wants is the last word on a variable.
        let (name, value) = command.env.last().unwrap();
        assert_eq!((&**name, &**value), ("MODE", "test"));
    }
}

#[tokio::test]
async fn an_app_without_its_file_is_refused_before_it_starts() {
    let runners = BuiltIn::load().unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("folder.py")).unwrap();
    for (language, line, file) in [
        (Language::Python, "python app.py", "app.py"),
        (Language::Python, "python3 folder.py", "folder.py"),
        (Language::Node, "node server/index.mjs", "server/index.mjs"),
        (Language::Go, "go run main.go", "main.go"),
    ] {
        let host = Kept::default();
        let manifest = manifest(line);
        let started = runners
            .start(language, folder.path(), &manifest, &host)
            .await;
        let failure = started.unwrap_err();
        assert_eq!(failure.code, ErrorCode::Plan, "{line}");
        assert_eq!(failure.message, format!("the app has no file `{file}`"));
        assert!(host.0.into_inner().is_empty(), "{line}");
    }
}

fn file(path: &str, content: &[u8]) -> File {
    File {
        path: path.to_owned(),
        content: content.to_owned(),
    }
}

#[tokio::test]
async fn files_stay_in_the_folder() {
    let host = Kept::default();
    let runners = BuiltIn::load().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("folder");
    fs::create_dir(&folder).unwrap();
    symlink(outside.path(), folder.join("link")).unwrap();
    symlink(outside.path().join("new.txt"), folder.join("new")).unwrap();
    for path in [
        "../new.txt",
        "/tmp/new.txt",
        "a/../../new.txt",
        "",
        "a//b",
        "link/new.txt",
        "new",
    ] {
        let files = [file(path, b"outside")];
        let applied = runners.apply(Language::Node, &folder, &files, &host);
        let failure = applied.await.unwrap_err();
        assert!(
            matches!(failure.code, ErrorCode::Plan | ErrorCode::Fs),
            "{path}: {failure:?}"
        );
        assert!(!outside.path().join("new.txt").exists(), "{path}");
    }
    let large = vec![b'x'; 3 << 20];
    let files = [file("a/b/large.txt", &large), file("empty", b"")];
    let applied = runners.apply(Language::Node, &folder, &files, &host);
    let applied = applied.await.unwrap();
    assert_eq!((applied.writes, &*applied.target), (2, "/app"));
    assert_eq!(fs::read(folder.join("a/b/large.txt")).unwrap(), large);
    assert_eq!(fs::read(folder.join("empty")).unwrap(), b"");
}

#[tokio::test]
async fn a_runner_at_its_limit_of_memory_fails_alone() {
    let host = Kept::default();
    let runners = BuiltIn::load().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let files = [file("huge.txt", &vec![b'x'; 80 << 20])];
    let applied = runners.apply(Language::Python, folder.path(), &files, &host);
    let failure = applied.await.unwrap_err();
    assert_eq!(failure.code, ErrorCode::Runtime);
    assert!(
        failure
            .message
            .starts_with("the runner of python stopped: "),
        "{failure:?}"
    );
    // The next call has its own instance.
    let health = runners.health(Language::Python, folder.path(), &host);
    assert!(health.await.unwrap().live);
}
