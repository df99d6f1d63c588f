//! `run.start`: its input, and what it answers with \[2, 2.3\].

use super::document::{text_of, whole, with_document};
use super::failure::{ErrorCode, Failure, Problems, quoted};
use super::limits::{ENV_VALUE_MAX_BYTES, READY_TIMEOUT_SEC};
use super::readiness::lowered;
use super::schemas::SchemaOf;
use super::steps::Steps;
use super::verb::DaemonVerb;
use agent_syntax::Value;
use agent_syntax::json::Writer;
use agent_syntax::members::{member, string};

/// A limit of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunLimit {
    /// Percent of one CPU.
    CpuPct,
    /// MiB of memory.
    MemMb,
    /// Seconds from its start to its end.
    WallSec,
}

impl RunLimit {
    /// Every limit.
    pub const ALL: [Self; 3] = [Self::CpuPct, Self::MemMb, Self::WallSec];

    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::CpuPct => "cpu_pct",
            Self::MemMb => "mem_mb",
            Self::WallSec => "wall_sec",
        }
    }
}

/// The input of `run.start`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStart {
    /// The command line.
    pub cmd: String,
    /// Its steps.
    pub steps: Steps,
    /// The environment, in order.
    pub env: Vec<(String, String)>,
    /// The expression of readiness, lowered to the syntax of the crate `regex`. Without one an application is ready
    /// once it accepts a connection.
    pub ready_regex: Option<String>,
    /// The time that it has to become ready, in seconds.
    pub ready_timeout_sec: u32,
    /// The limits that were asked for, in the order of [`RunLimit::ALL`].
    pub limits: Vec<(RunLimit, u32)>,
    /// Whether the application gets no network, whatever the policy allows.
    pub denies_egress: bool,
}

impl RunStart {
    /// Reads the input.
    ///
    /// # Errors
    /// `E_PLAN`, with every problem: the input violates its schema, or its command, its expression or a variable
    /// can't be used.
    pub fn read(input: &[u8]) -> Result<Self, Failure> {
        with_document(SchemaOf::Input(DaemonVerb::RunStart), input, |root| {
            let mut problems = Problems::new();
            let cmd = text_of(root, "cmd").unwrap_or_default();
            let steps = Steps::read(cmd).map_err(|it| problems.take(it)).ok();
            let mut env = Vec::new();
            if let Some(Value::Mapping(entries)) = member(root, "env").map(|it| &it.value) {
                for entry in entries {
                    let value = string(&entry.value).unwrap_or_default();
                    if value.contains('\0') || value.len() > ENV_VALUE_MAX_BYTES {
                        problems.add(
                            format!(
                                "the variable {} has a NUL or too many bytes",
                                quoted(&entry.key)
                            ),
                            "write the value into a file of the application",
                        );
                    }
                    env.push((entry.key.clone().into_owned(), value.to_owned()));
                }
            }
            let ready = member(root, "ready");
            let ready_regex = ready.and_then(|it| text_of(it, "regex")).map(lowered);
            let ready_regex = ready_regex.and_then(|it| it.map_err(|it| problems.take(it)).ok());
            let timeout = ready.and_then(|it| whole(it, "timeout_sec", "/ready", &mut problems));
            let mut limits = Vec::new();
            if let Some(asked) = member(root, "limits") {
                for limit in RunLimit::ALL {
                    let value = whole(asked, limit.name(), "/limits", &mut problems);
                    limits.extend(value.map(|value| (limit, value)));
                }
            }
            let Some(steps) = steps else {
                return Err(problems.failure(ErrorCode::Plan));
            };
            problems.finish(ErrorCode::Plan)?;
            Ok(Self {
                cmd: cmd.to_owned(),
                steps,
                env,
                ready_regex,
                ready_timeout_sec: timeout.unwrap_or(READY_TIMEOUT_SEC),
                limits,
                denies_egress: member(root, "egress").is_some(),
            })
        })
    }

    /// Decides whether an application may start where some limits can't be enforced.
    ///
    /// # Errors
    /// `E_PLAN`: one of them was asked for. The others are reported by [`Running::unenforced`].
    pub fn check_limits(&self, unenforceable: &[RunLimit]) -> Result<(), Failure> {
        let mut problems = Problems::new();
        for (limit, _) in self
            .limits
            .iter()
            .filter(|(it, _)| unenforceable.contains(it))
        {
            problems.add(
                format!(
                    "the limit `{}` can't be enforced on this machine",
                    limit.name()
                ),
                format!(
                    "remove `/limits/{}`, or give the daemon a control group",
                    limit.name()
                ),
            );
        }
        problems.finish(ErrorCode::Plan)
    }
}

/// An application that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// The task.
    pub task_id: String,
    /// The Unix socket; `None` if the application is reached over TCP alone.
    pub socket: Option<String>,
    /// The host of its leased port.
    pub host: String,
    /// Its leased port.
    pub port: u16,
    /// The process; `None` for a component, which is none.
    pub pid: Option<u32>,
    /// The limits that can't be enforced.
    pub unenforced: Vec<RunLimit>,
}

impl Running {
    /// Returns `data` of the response as JSON that ends with a newline.
    pub fn data(&self) -> String {
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("host").string(&self.host);
            match self.pid {
                Some(pid) => w.key("pid").number(pid),
                None => w.key("pid").null(),
            }
            w.key("port").number(self.port.into());
            if let Some(socket) = &self.socket {
                w.key("socket").string(socket);
            }
            w.key("task_id").string(&self.task_id);
            let transport = if self.socket.is_some() { "uds" } else { "tcp" };
            w.key("transport").string(transport);
            if !self.unenforced.is_empty() {
                w.key("unenforced")
                    .strings(self.unenforced.iter().map(|it| it.name()));
            }
        });
        w.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{RunLimit, RunStart, Running};
    use crate::document::with_document;
    use crate::envelope::success;
    use crate::failure::ErrorCode;
    use crate::limits::{ENV_VALUE_MAX_BYTES, READY_TIMEOUT_SEC};
    use crate::schemas::SchemaOf;
    use crate::verb::DaemonVerb;

    #[test]
    fn inputs_are_read() {
        let text = r#"{"cmd": "pip install flask && python app.py", "env": {"PORT": "1", "A_B": ""},
            "ready": {"regex": "Running", "timeout_sec": 600},
            "limits": {"wall_sec": 3600, "cpu_pct": 1, "mem_mb": 8192}}"#;
        let read = RunStart::read(text.as_bytes()).expect("an input");
        assert_eq!(read.steps.start, ["python", "app.py"]);
        assert_eq!(read.steps.packages().count(), 1);
        assert_eq!(read.env[1], ("A_B".to_owned(), String::new()));
        assert_eq!(read.ready_timeout_sec, 600);
        assert!(!read.denies_egress);
        let denies = RunStart::read(br#"{"cmd": "python app.py", "egress": "deny"}"#);
        assert!(denies.expect("an input").denies_egress);
        assert!(RunStart::read(br#"{"cmd": "python app.py", "egress": "allow"}"#).is_err());
        let limits = [
            (RunLimit::CpuPct, 1),
            (RunLimit::MemMb, 8192),
            (RunLimit::WallSec, 3600),
        ];
        assert_eq!(read.limits, limits);
        assert_eq!(read.check_limits(&[]), Ok(()));
        let failure = read.check_limits(&[RunLimit::CpuPct]).expect_err("a limit");
        assert_eq!(
            failure.message,
            "the limit `cpu_pct` can't be enforced on this machine"
        );
        let read = RunStart::read(br#"{"cmd": "x"}"#).expect("an input");
        assert_eq!(read.ready_timeout_sec, READY_TIMEOUT_SEC);
        assert_eq!(read.check_limits(&RunLimit::ALL), Ok(()));
    }

    #[test]
    fn wrong_inputs_are_refused() {
        let long = format!(
            r#"{{"cmd": "a", "env": {{"A": "{}"}}}}"#,
            "é".repeat(ENV_VALUE_MAX_BYTES / 2 + 1)
        );
        for (text, message) in [
            ("{}", "the document "),
            (&long, "the variable `A` has a NUL or too many bytes"),
            (r#"{"cmd": ""}"#, "`/cmd` "),
            (r#"{"cmd": "a; b"}"#, "character 2 of the command"),
            (
                r#"{"cmd": "a", "env": {"A": 1}}"#,
                "`/env/A` must be a string",
            ),
            (r#"{"cmd": "a", "env": {"A=B": ""}}"#, "`/env"),
            (r#"{"cmd": "a", "env": {"": ""}}"#, "`/env"),
            (
                r#"{"cmd": "a", "env": {"A": "\u0000"}}"#,
                "the variable `A` has a NUL",
            ),
            (
                r#"{"cmd": "a", "ready": {"regex": "(?=a)"}}"#,
                "`/ready/regex` can't be used: look-around",
            ),
            (
                r#"{"cmd": "a", "ready": {"timeout_sec": 0}}"#,
                "`/ready/timeout_sec` ",
            ),
            (
                r#"{"cmd": "a", "ready": {"timeout_sec": 601}}"#,
                "`/ready/timeout_sec` ",
            ),
            (
                r#"{"cmd": "a", "ready": {"timeout_sec": 6e1}}"#,
                "`/ready/timeout_sec` must be written in digits",
            ),
            (
                r#"{"cmd": "a", "limits": {"cpu_pct": 101}}"#,
                "`/limits/cpu_pct` ",
            ),
            (
                r#"{"cmd": "a", "limits": {"mem_mb": 31}}"#,
                "`/limits/mem_mb` ",
            ),
            (
                r#"{"cmd": "a", "limits": {"wall_sec": 3601}}"#,
                "`/limits/wall_sec` ",
            ),
            (
                r#"{"cmd": "a", "limits": {"disk_mb": 1}}"#,
                "`/limits/disk_mb` ",
            ),
            (r#"{"cmd": "a", "limit": {}}"#, "`/limit` "),
            (
                r#"{"cmd": "a |", "ready": {"regex": "("}}"#,
                "character 3 of the command: `|` is shell syntax other than words and `&&`; `/ready/regex` ",
            ),
        ] {
            let failure = RunStart::read(text.as_bytes()).expect_err(text);
            assert_eq!(failure.code, ErrorCode::Plan);
            assert!(
                failure.message.starts_with(message),
                "{text}\n{}",
                failure.message
            );
            assert!(!failure.hints.is_empty(), "{text}");
        }
    }

    #[test]
    fn answers_obey_their_schema() {
        let running = Running {
            task_id: "ab12cd".to_owned(),
            socket: Some("/run/mcpd/sock/ab12cd.sock".to_owned()),
            host: "127.0.0.1".to_owned(),
            port: 61_842,
            pid: Some(23_121),
            unenforced: Vec::new(),
        };
        assert_eq!(
            running.data(),
            "{\"host\":\"127.0.0.1\",\"pid\":23121,\"port\":61842,\
             \"socket\":\"/run/mcpd/sock/ab12cd.sock\",\"task_id\":\"ab12cd\",\"transport\":\"uds\"}\n"
        );
        let tcp = Running {
            socket: None,
            pid: None,
            unenforced: vec![RunLimit::CpuPct],
            ..running.clone()
        };
        assert_eq!(
            tcp.data(),
            "{\"host\":\"127.0.0.1\",\"pid\":null,\"port\":61842,\"task_id\":\"ab12cd\",\
             \"transport\":\"tcp\",\"unenforced\":[\"cpu_pct\"]}\n"
        );
        let output = SchemaOf::Output(DaemonVerb::RunStart);
        let check = |data: &str| with_document(output, success(data).as_bytes(), |_| Ok(()));
        for answer in [&running, &tcp] {
            assert_eq!(check(&answer.data()), Ok(()));
        }
        for (from, to) in [
            ("uds", "tcp"),
            ("\"socket\"", "\"socked\""),
            ("61842", "0"),
            ("ab12cd\",\"t", "ab\",\"t"),
        ] {
            let wrong = running.data().replace(from, to);
            assert!(check(&wrong).is_err(), "{wrong}");
        }
    }
}
