//! The manifest of a task, which a runner makes \[2, 3\].

use super::document::{text_of, texts_of, whole, with_document, with_json};
use super::failure::{ErrorCode, Failure, Problems, quoted};
use super::language::Language;
use super::limits::SOCKET_PATH_MAX_BYTES;
use super::path::check_path;
use super::schemas::SchemaOf;
use super::steps::Steps;
use agent_syntax::json::Writer;
use agent_syntax::members::{boolean, member};

/// The manifest of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The task.
    pub task_id: String,
    /// The command line that starts the application.
    pub cmd: String,
    /// The Unix socket; `None` if the application is reached over TCP alone.
    pub socket: Option<String>,
    /// The leased port of `127.0.0.1`.
    pub tcp_port: Option<u16>,
    /// The files below `source/`.
    pub files: Vec<String>,
    /// The language.
    pub language: Language,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// `E_PLAN`, with every problem: it violates its schema, it is of another task, its command has a form that is
    /// not supported, or a path is not allowed.
    pub fn read(text: &[u8], task_id: &str) -> Result<Self, Failure> {
        with_document(SchemaOf::Manifest, text, |root| {
            let mut problems = Problems::new();
            let named = text_of(root, "task_id").unwrap_or_default();
            if named != task_id {
                problems.add(
                    format!(
                        "`/task_id` is {}, and the task is `{task_id}`",
                        quoted(named)
                    ),
                    "write the id that the runner was given",
                );
            }
            let cmd = member(root, "entry")
                .and_then(|it| text_of(it, "cmd"))
                .unwrap_or_default();
            if let Err(failure) = Steps::read(cmd) {
                problems.take(failure);
            }
            let transport = member(root, "transport");
            let socket = transport.and_then(|it| text_of(it, "path"));
            if socket.is_some_and(|it| !is_socket_path(it)) {
                problems.add(
                    format!("`/transport/path` is not an absolute path of at most {SOCKET_PATH_MAX_BYTES} bytes"),
                    "write the path of the socket that the runner was given",
                );
            }
            let fallback = transport.and_then(|it| member(it, "tcp_fallback"));
            let port =
                fallback.and_then(|it| whole(it, "port", "/transport/tcp_fallback", &mut problems));
            let files = texts_of(root, "files");
            for (number, path) in files.iter().enumerate() {
                check_path(path, &format!("/files/{number}"), &mut problems);
            }
            let language = Language::of_plan(text_of(root, "lang").unwrap_or_default());
            let language = language.map_err(|it| problems.take(it)).ok();
            let Some(language) = language else {
                return Err(problems.failure(ErrorCode::Plan));
            };
            problems.finish(ErrorCode::Plan)?;
            Ok(Self {
                task_id: named.to_owned(),
                cmd: cmd.to_owned(),
                socket: socket.map(str::to_owned),
                tcp_port: port.and_then(|it| u16::try_from(it).ok()),
                files,
                language,
            })
        })
    }

    /// Returns the manifest as JSON that ends with a newline.
    pub fn json(&self) -> String {
        let mut w = Writer::pretty();
        w.object(|w| {
            w.key("entry").object(|w| w.key("cmd").string(&self.cmd));
            w.key("files")
                .strings(self.files.iter().map(String::as_str));
            w.key("lang").string(self.language.name());
            w.key("task_id").string(&self.task_id);
            w.key("transport").object(|w| {
                if let Some(socket) = &self.socket {
                    w.key("path").string(socket);
                }
                if let Some(port) = self.tcp_port {
                    w.key("tcp_fallback").object(|w| {
                        w.key("host").string("127.0.0.1");
                        w.key("port").number(port.into());
                    });
                }
                w.key("type")
                    .string(if self.socket.is_some() { "uds" } else { "tcp" });
            });
        });
        w.finish()
    }
}

fn is_socket_path(path: &str) -> bool {
    let is_dots = |it: &str| matches!(it, "." | "..");
    path.starts_with('/')
        && path.len() <= SOCKET_PATH_MAX_BYTES
        && !path.contains(char::is_control)
        && !path.split('/').any(is_dots)
}

/// Decides what a foreign runner answered with \[2, 3\]: one envelope on its standard output, nothing on its
/// standard error, and the exit code of its error. Returns `data` as JSON.
///
/// # Errors
/// That of the runner; `E_RUNTIME` if it broke the protocol.
pub fn runner_answer(stdout: &[u8], stderr: &[u8], exit_code: i32) -> Result<String, Failure> {
    let broken = |message: &str| {
        let hint = "check the runner with `agent test-runner`";
        Failure::new(
            ErrorCode::Runtime,
            format!("the runner broke its protocol: {message}"),
        )
        .hint(hint)
    };
    if !stderr.is_empty() {
        return Err(broken("it wrote to its standard error"));
    }
    let read = with_json(stdout, |text, root| {
        let is_ok = member(root, "ok").and_then(boolean);
        let (Some(is_ok), Some("v1")) = (is_ok, text_of(root, "version")) else {
            return Err(broken(
                "its answer has no `ok`, or another `version` than `v1`",
            ));
        };
        let data = member(root, "data").map(|it| it.span.of(text).to_owned());
        let Some(error) = member(root, "error").filter(|_| !is_ok) else {
            return match (is_ok, exit_code) {
                (true, 0) => Ok(Ok(data.unwrap_or_else(|| "{}".to_owned()))),
                (true, _) => Err(broken("it succeeded, with an exit code other than 0")),
                (false, _) => Err(broken("it failed without an `error`")),
            };
        };
        let Some(code) = text_of(error, "code").and_then(ErrorCode::named) else {
            return Err(broken("its error has no known `code`"));
        };
        if exit_code != i32::from(code.exit_code()) {
            return Err(broken("its exit code is not that of its error"));
        }
        Ok(Err(Failure {
            hints: texts_of(error, "hints"),
            task_id: text_of(error, "task_id").map(str::to_owned),
            ..Failure::new(
                code,
                text_of(error, "message").unwrap_or("the runner failed"),
            )
        }))
    });
    match read {
        Ok(answer) => answer,
        // What it wrote is not one JSON object.
        Err(failure) if failure.code == ErrorCode::Plan => Err(broken(&failure.message)),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::{Manifest, runner_answer};
    use crate::failure::ErrorCode;
    use crate::limits::SOCKET_PATH_MAX_BYTES;

    /// The example of section 3.
    const EXAMPLE: &str = r#"{
  "task_id": "ab12cd",
  "entry": {"cmd": "python app.py"},
  "transport": {"type":"uds","path":"/run/mcpd/sock/ab12cd.sock","tcp_fallback":{"host":"127.0.0.1","port":61842}},
  "files": ["app.py"],
  "lang": "python"
}"#;

    #[test]
    fn manifests_are_read_and_written() {
        let manifest = Manifest::read(EXAMPLE.as_bytes(), "ab12cd").expect("the example");
        assert_eq!(manifest.tcp_port, Some(61_842));
        let written = Manifest::read(manifest.json().as_bytes(), "ab12cd");
        assert_eq!(written.as_ref(), Ok(&manifest));
        let tcp = Manifest {
            socket: None,
            ..manifest
        };
        assert_eq!(Manifest::read(tcp.json().as_bytes(), "ab12cd"), Ok(tcp));
    }

    #[test]
    fn wrong_manifests_are_refused() {
        for (from, to, message) in [
            (
                "ab12cd\"",
                "ab12ce\"",
                "`/task_id` is `ab12ce`, and the task is `ab12cd`",
            ),
            ("\"ab12cd\"", "\"ab12\"", "`/task_id` "),
            (
                "python app.py",
                "python app.py | x",
                "character 15 of the command",
            ),
            ("\"uds\"", "\"tcp\"", "`/transport/path` "),
            ("\"uds\"", "\"pipe\"", "`/transport/type` "),
            ("\"path\"", "\"paths\"", "`/transport"),
            (
                "/run/mcpd",
                "run/mcpd",
                "`/transport/path` is not an absolute path",
            ),
            (
                "/run/mcpd",
                "/run/../etc",
                "`/transport/path` is not an absolute path",
            ),
            ("127.0.0.1", "0.0.0.0", "`/transport/tcp_fallback/host` "),
            ("61842", "60999", "`/transport/tcp_fallback/port` "),
            ("61842", "65000", "`/transport/tcp_fallback/port` "),
            (
                "\"app.py\"",
                "\"../app.py\"",
                "`/files/0` has a segment of dots",
            ),
            ("\"python\"", "\"java\"", "`/lang` "),
            ("\"lang\"", "\"pid\": 1, \"lang\"", "`/pid` "),
        ] {
            let text = EXAMPLE.replace(from, to);
            assert_ne!(text, EXAMPLE);
            let failure = Manifest::read(text.as_bytes(), "ab12cd").expect_err(to);
            assert_eq!(failure.code, ErrorCode::Plan);
            assert!(
                failure.message.starts_with(message),
                "{to}\n{}",
                failure.message
            );
        }
        let socket = |path: &str| {
            let text = EXAMPLE.replace("/run/mcpd/sock/ab12cd.sock", path);
            Manifest::read(text.as_bytes(), "ab12cd").is_ok()
        };
        let long = |bytes: usize| format!("/{}", "x".repeat(bytes - 1));
        assert!(socket(&long(SOCKET_PATH_MAX_BYTES)));
        assert!(!socket(&long(SOCKET_PATH_MAX_BYTES + 1)));
        assert!(!socket("/a\\u0000b"));
        for port in [61_000, 64_999] {
            let text = EXAMPLE.replace("61842", &port.to_string());
            assert!(Manifest::read(text.as_bytes(), "ab12cd").is_ok(), "{port}");
        }
    }

    #[test]
    fn a_runner_keeps_its_protocol() {
        let error = |code: &str| {
            format!(
                r#"{{"ok": false, "version": "v1", "error": {{"code": "{code}", "message": "no", "hints": ["h"]}}}}"#
            )
        };
        let ok = r#"{"ok": true, "version": "v1", "data": {"pid": 1}}"#;
        let answer = |stdout: &str, exit| runner_answer(stdout.as_bytes(), b"", exit);
        assert_eq!(answer(ok, 0), Ok("{\"pid\": 1}".to_owned()));
        assert_eq!(
            answer(r#"{"ok": true, "version": "v1"}"#, 0),
            Ok("{}".to_owned())
        );
        for code in ErrorCode::ALL {
            let failure =
                answer(&error(code.name()), code.exit_code().into()).expect_err("an error");
            assert_eq!((failure.code, &*failure.message), (code, "no"));
            assert_eq!(failure.hints, ["h"]);
        }
        for (stdout, exit, reason) in [
            ("", 0, "not JSON"),
            ("starting\n{\"ok\": true}", 0, "not JSON"),
            (&format!("{ok}\n{ok}"), 0, "line 2"),
            (&ok.replace("v1", "v2"), 0, "another `version`"),
            (&ok.replace("true", "\"true\""), 0, "has no `ok`"),
            ("[]", 0, "has no `ok`"),
            (ok, 1, "exit code other than 0"),
            (
                r#"{"ok": false, "version": "v1"}"#,
                40,
                "without an `error`",
            ),
            (&error("E_OTHER"), 40, "no known `code`"),
            (&error("E_POLICY"), 40, "exit code is not that of its error"),
            (&error("E_POLICY"), 0, "exit code is not that of its error"),
        ] {
            let failure = answer(stdout, exit).expect_err(stdout);
            assert_eq!(failure.code, ErrorCode::Runtime, "{stdout}");
            assert!(
                failure.message.contains(reason),
                "{stdout}: {}",
                failure.message
            );
        }
        let failure = runner_answer(ok.as_bytes(), b"warning", 0).expect_err("a warning");
        assert!(failure.message.contains("standard error"));
    }
}
