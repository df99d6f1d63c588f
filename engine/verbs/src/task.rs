//! Tasks: their names, their states, and which task a request is for.

use super::document::with_json;
use super::failure::{ErrorCode, Failure, quoted};
use super::limits::TASKS_LISTED_MAX;
use super::verb::DaemonVerb;
use agent_syntax::members::{member, string};
use agent_syntax::{Node, Value, write_string};

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskState {
    /// It has a file plan, and no file.
    Planned,
    /// Its files are written.
    Applied,
    /// Its dependencies are being installed.
    Installing,
    /// Its application was started, and is not ready.
    Starting,
    /// Its application is ready.
    Ready,
    /// Its dependencies can't be installed, or its application failed.
    Failed,
    /// It was stopped, or was idle for too long. Nothing follows.
    Ended,
}

impl TaskState {
    /// Every state.
    pub const ALL: [Self; 7] = [
        Self::Planned,
        Self::Applied,
        Self::Installing,
        Self::Starting,
        Self::Ready,
        Self::Failed,
        Self::Ended,
    ];

    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Applied => "applied",
            Self::Installing => "installing",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Failed => "failed",
            Self::Ended => "ended",
        }
    }

    /// Returns the state of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Returns whether a task may go from this state to another one. A restart goes back to `installing` or
    /// `starting`; files that change while the application is ready leave it ready.
    pub fn may_follow(self, next: Self) -> bool {
        use TaskState::{Applied, Ended, Failed, Installing, Planned, Ready, Starting};
        match self {
            Planned => matches!(next, Applied | Ended),
            Applied => matches!(next, Applied | Installing | Starting | Failed | Ended),
            Installing => matches!(next, Starting | Failed | Ended),
            Starting => matches!(next, Ready | Failed | Ended),
            Ready => matches!(next, Ready | Installing | Starting | Failed | Ended),
            Failed => matches!(next, Applied | Installing | Starting | Ended),
            Ended => false,
        }
    }

    /// Decides whether a verb is allowed in this state.
    ///
    /// # Errors
    /// `E_RUNTIME`: the application failed or has ended. `E_PLAN`: another verb must come before.
    pub fn admit(self, verb: DaemonVerb) -> Result<(), Failure> {
        use DaemonVerb::{FsApply, HttpcheckAssert, PlanCreate, ReportFinish, RunStart};
        use TaskState::{Applied, Ended, Failed, Installing, Planned, Ready, Starting};
        let hint = match (verb, self) {
            // It opens a task of its own.
            (PlanCreate, _) | (ReportFinish, _) => return Ok(()),
            (FsApply, Planned | Applied | Ready | Failed)
            | (RunStart, Applied | Ready | Failed)
            | (HttpcheckAssert, Ready) => return Ok(()),
            (_, Ended) => "call `plan.create` for another task",
            (_, Installing | Starting) => "wait until the application is ready or has failed",
            (_, Planned) => "call `fs.apply` first",
            (HttpcheckAssert, Failed) => "read `run.log`, correct the files and call `run.start`",
            (HttpcheckAssert, Applied) => "call `run.start` first",
        };
        let code = match (verb, self) {
            (HttpcheckAssert, Failed | Ended) => ErrorCode::Runtime,
            _ => ErrorCode::Plan,
        };
        let message = format!(
            "`{}` is not allowed for a task that is {}",
            verb.name(),
            self.name()
        );
        Err(Failure::new(code, message).hint(hint))
    }
}

/// A task of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The id.
    pub id: String,
    /// The state.
    pub state: TaskState,
}

/// Returns whether a text is the id of a task: 6 lower-case hex digits.
pub fn is_task_id(text: &str) -> bool {
    text.len() == 6
        && text
            .bytes()
            .all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

/// Chooses the task of a request: the named one, otherwise the client's only task that has not ended.
///
/// # Errors
/// `E_PLAN`: the client has no such task, none, or several.
pub fn choose_task<'t>(named: Option<&str>, tasks: &'t [Task]) -> Result<&'t Task, Failure> {
    let live: Vec<_> = tasks
        .iter()
        .filter(|it| it.state != TaskState::Ended)
        .collect();
    let ids = || {
        let listed = live.iter().take(TASKS_LISTED_MAX);
        let mut ids: Vec<_> = listed
            .map(|it| format!("{} ({})", it.id, it.state.name()))
            .collect();
        if live.len() > TASKS_LISTED_MAX {
            ids.push(format!("{} more", live.len() - TASKS_LISTED_MAX));
        }
        ids.join(", ")
    };
    let name_one = || match live.is_empty() {
        true => "call `plan.create` first".to_owned(),
        false => format!("set `task_id` to one of {}", ids()),
    };
    match (named, &live[..]) {
        (Some(id), _) => tasks.iter().find(|it| it.id == id).ok_or_else(|| {
            let message = match is_task_id(id) {
                true => format!("there is no task `{id}`"),
                false => format!("{} is not a task: an id has 6 hex digits", quoted(id)),
            };
            Failure::new(ErrorCode::Plan, message).hint(name_one())
        }),
        (None, [only]) => Ok(only),
        (None, []) => {
            let message = "there is no task that has not ended";
            Err(Failure::new(ErrorCode::Plan, message).hint(name_one()))
        }
        (None, several) => {
            let message = format!("{} tasks have not ended: {}", several.len(), ids());
            Err(Failure::new(ErrorCode::Plan, message).hint("set `task_id` to one of them"))
        }
    }
}

/// The input of a verb, and the task named beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addressed {
    /// The input as JSON, without `task_id`.
    pub input: String,
    /// The named task. It may not be an id.
    pub task_id: Option<String>,
}

/// Takes `task_id` out of the arguments of an MCP tool.
///
/// # Errors
/// `E_PLAN`: the arguments are not a strict JSON object, or `task_id` is not a string.
pub fn addressed_by_argument(arguments: &[u8]) -> Result<Addressed, Failure> {
    with_json(arguments, |text, root| {
        let Value::Mapping(entries) = &root.value else {
            return Err(not_an_object("the document"));
        };
        let task_id = named_task(root)?;
        let mut input = String::with_capacity(text.len());
        input.push('{');
        for entry in entries.iter().filter(|it| it.key != "task_id") {
            if input.len() > 1 {
                input.push(',');
            }
            write_string(&entry.key, &mut input);
            input.push(':');
            input.push_str(entry.value.span.of(text));
        }
        input.push('}');
        Ok(Addressed { input, task_id })
    })
}

/// Reads a request outside of MCP: an object with `input`, and `task_id` beside it.
///
/// # Errors
/// `E_PLAN`: the request is not such an object.
pub fn addressed_beside(request: &[u8]) -> Result<Addressed, Failure> {
    with_json(request, |text, root| {
        let Value::Mapping(entries) = &root.value else {
            return Err(not_an_object("the request"));
        };
        let unknown = entries
            .iter()
            .find(|it| !matches!(&*it.key, "input" | "task_id"));
        if let Some(unknown) = unknown {
            let message = format!("{} is not a member of a request", quoted(&unknown.key));
            let hint = "put the input of the verb into `input`";
            return Err(Failure::new(ErrorCode::Plan, message).hint(hint));
        }
        let input = member(root, "input").ok_or_else(|| {
            let hint = "put the input of the verb into `input`";
            Failure::new(ErrorCode::Plan, "the request has no `input`").hint(hint)
        })?;
        Ok(Addressed {
            input: input.span.of(text).to_owned(),
            task_id: named_task(root)?,
        })
    })
}

fn not_an_object(what: &str) -> Failure {
    Failure::new(ErrorCode::Plan, format!("{what} is not a JSON object")).hint("send an object")
}

fn named_task(root: &Node<'_>) -> Result<Option<String>, Failure> {
    let Some(value) = member(root, "task_id") else {
        return Ok(None);
    };
    let text = string(value).ok_or_else(|| {
        let message = "`/task_id` is not a string";
        Failure::new(ErrorCode::Plan, message).hint("set `task_id` to the id of a task")
    })?;
    Ok(Some(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{
        Task, TaskState, addressed_beside, addressed_by_argument, choose_task, is_task_id,
    };
    use crate::failure::ErrorCode;
    use crate::verb::DaemonVerb;

    #[test]
    fn states_follow_each_other() {
        let row = |state: TaskState| -> String {
            let may = TaskState::ALL
                .iter()
                .map(|next| match state.may_follow(*next) {
                    true => 'x',
                    false => '.',
                });
            may.collect()
        };
        // Columns: planned, applied, installing, starting, ready, failed, ended.
        let table = TaskState::ALL.map(|state| (state.name(), row(state)));
        let expected = [
            ("planned", ".x....x"),
            ("applied", ".xxx.xx"),
            ("installing", "...x.xx"),
            ("starting", "....xxx"),
            ("ready", "..xxxxx"),
            ("failed", ".xxx..x"),
            ("ended", "......."),
        ];
        assert_eq!(table, expected.map(|(name, row)| (name, row.to_owned())));
        let page = include_str!("../../../docs/reference/verbs.md");
        for state in TaskState::ALL {
            assert_eq!(TaskState::named(state.name()), Some(state));
            let next = TaskState::ALL
                .into_iter()
                .filter(|next| state.may_follow(*next));
            let next: Vec<_> = next.map(|it| format!("`{}`", it.name())).collect();
            // Verbs that are allowed in every state have no column.
            let verbs = [
                DaemonVerb::FsApply,
                DaemonVerb::RunStart,
                DaemonVerb::HttpcheckAssert,
            ];
            let verbs = verbs.into_iter().filter(|verb| state.admit(*verb).is_ok());
            let verbs: Vec<_> = verbs.map(|it| format!("`{}`", it.name())).collect();
            let row = format!(
                "| `{}` | {} | {} |",
                state.name(),
                next.join(", "),
                verbs.join(", ")
            );
            let row = row.replace(" |  |", " | |").replace(" |  |", " | |");
            assert!(page.lines().any(|it| it == row), "{row}");
        }
    }

    #[test]
    fn verbs_are_allowed_in_their_states() {
        let row = |state: TaskState| {
            DaemonVerb::ALL.map(|verb| match state.admit(verb) {
                Ok(()) => "yes",
                Err(failure) => {
                    assert_eq!(failure.hints.len(), 1, "{failure:?}");
                    failure.code.name()
                }
            })
        };
        let table = TaskState::ALL.map(|state| (state.name(), row(state)));
        let (yes, plan, runtime) = ("yes", "E_PLAN", "E_RUNTIME");
        let expected = [
            ("planned", [yes, yes, plan, plan, yes]),
            ("applied", [yes, yes, yes, plan, yes]),
            ("installing", [yes, plan, plan, plan, yes]),
            ("starting", [yes, plan, plan, plan, yes]),
            ("ready", [yes, yes, yes, yes, yes]),
            ("failed", [yes, yes, yes, runtime, yes]),
            ("ended", [yes, plan, plan, runtime, yes]),
        ];
        assert_eq!(table, expected);
    }

    fn task(id: &str, state: TaskState) -> Task {
        Task {
            id: id.to_owned(),
            state,
        }
    }

    #[test]
    fn the_only_task_that_has_not_ended_is_the_default() {
        let ended = task("000001", TaskState::Ended);
        let ready = task("000002", TaskState::Ready);
        let other = task("000003", TaskState::Planned);
        let id = |named, tasks: &[Task]| choose_task(named, tasks).map(|it| it.id.clone());
        let one = [ended.clone(), ready.clone()];
        assert_eq!(id(None, &one), Ok("000002".to_owned()));
        assert_eq!(id(Some("000001"), &one), Ok("000001".to_owned()));
        let failure = id(None, &[ended, ready, other]).expect_err("two tasks");
        assert_eq!(failure.code, ErrorCode::Plan);
        assert_eq!(
            failure.message,
            "2 tasks have not ended: 000002 (ready), 000003 (planned)"
        );
        let failure = id(Some("ffffff"), &one).expect_err("another task");
        assert_eq!(failure.hints, ["set `task_id` to one of 000002 (ready)"]);
        let failure = id(Some("../etc"), &one).expect_err("no id");
        assert_eq!(
            failure.message,
            "`../etc` is not a task: an id has 6 hex digits"
        );
        let failure = id(None, &[]).expect_err("no task");
        assert_eq!(failure.hints, ["call `plan.create` first"]);
        let many: Vec<_> = (0..50)
            .map(|number| task(&format!("{number:06x}"), TaskState::Ready))
            .collect();
        let failure = id(None, &many).expect_err("many tasks");
        assert!(
            failure.message.ends_with(", 30 more"),
            "{}",
            failure.message
        );
    }

    #[test]
    fn ids_are_six_hex_digits() {
        for (text, expected) in [
            ("ab12cd", true),
            ("000000", true),
            ("AB12CD", false),
            ("ab12c", false),
            ("ab12cdd", false),
            ("ab12c/", false),
            ("", false),
        ] {
            assert_eq!(is_task_id(text), expected, "{text}");
        }
    }

    #[test]
    fn the_task_is_taken_out_of_the_arguments() {
        for (arguments, input, task_id) in [
            (
                r#"{"cmd": "x", "task_id": "ab12cd", "n": [1.0, {"a": 2}]}"#,
                r#"{"cmd":"x","n":[1.0, {"a": 2}]}"#,
                Some("ab12cd"),
            ),
            (r#"{"task_id": "x"}"#, "{}", Some("x")),
            (r#"{"a\n": 1}"#, r#"{"a\n":1}"#, None),
            (
                r#"{"via": {"task_id": "ab12cd"}}"#,
                r#"{"via":{"task_id": "ab12cd"}}"#,
                None,
            ),
        ] {
            let found = addressed_by_argument(arguments.as_bytes()).expect(arguments);
            assert_eq!((&*found.input, found.task_id.as_deref()), (input, task_id));
        }
        for wrong in [
            "[]",
            "{\"task_id\": 1}",
            "{\"task_id\": \"a\", \"task_id\": \"b\"}",
            "{",
            "",
        ] {
            let failure = addressed_by_argument(wrong.as_bytes()).expect_err(wrong);
            assert_eq!(failure.code, ErrorCode::Plan, "{wrong}");
        }
        let beside = addressed_beside(br#"{"input": {"cmd": "x"}, "task_id": "ab12cd"}"#);
        let beside = beside.expect("a request");
        assert_eq!(beside.input, r#"{"cmd": "x"}"#);
        assert_eq!(beside.task_id.as_deref(), Some("ab12cd"));
        for wrong in [
            "[]",
            "{}",
            r#"{"input": {}, "cmd": "x"}"#,
            r#"{"input": {}, "task_id": null}"#,
        ] {
            assert!(addressed_beside(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
