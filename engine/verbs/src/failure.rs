//! Failures of verbs \[2, 8\].

use super::limits::PROBLEMS_MAX;
use agent_diagnostic::Code;
use agent_syntax::json::Writer;
use agent_text::code_point;

/// The code of a failure \[2, 8\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorCode {
    /// The request, the plan or the state of the task does not allow the verb.
    Plan,
    /// A file can't be read, written or patched.
    Fs,
    /// The policy does not allow it.
    Policy,
    /// The dependencies can't be installed, or the application can't be built.
    Build,
    /// The application failed.
    Runtime,
    /// Something took too long.
    Timeout,
    /// A connection failed.
    Network,
    /// No port is free.
    Port,
}

impl ErrorCode {
    /// Every code.
    pub const ALL: [Self; 8] = [
        Self::Plan,
        Self::Fs,
        Self::Policy,
        Self::Build,
        Self::Runtime,
        Self::Timeout,
        Self::Network,
        Self::Port,
    ];

    /// Returns the code of the catalogue.
    pub fn catalogued(self) -> Code {
        self.row().0
    }

    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        self.catalogued().name()
    }

    /// Returns the exit code of a runner that fails with it \[2, 3\].
    ///
    /// The specification has four: 10 for a plan that can't be applied, 20 for blocked dependencies, 30 for
    /// a build and 40 for a run. A registry that can't be reached fails a build.
    pub fn exit_code(self) -> u8 {
        self.row().1
    }

    /// Returns the code of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }

    fn row(self) -> (Code, u8) {
        match self {
            Self::Plan => (Code::EPlan, 10),
            Self::Fs => (Code::EFs, 10),
            Self::Policy => (Code::EPolicy, 20),
            Self::Build => (Code::EBuild, 30),
            Self::Network => (Code::ENetwork, 30),
            Self::Runtime => (Code::ERuntime, 40),
            Self::Timeout => (Code::ETimeout, 40),
            Self::Port => (Code::EPort, 40),
        }
    }
}

/// The failure of a verb: `error` of a response \[2, 8\].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The code.
    pub code: ErrorCode,
    /// Every problem in one text, without a final stop.
    pub message: String,
    /// What to do, most useful first.
    pub hints: Vec<String>,
    /// The task.
    pub task_id: Option<String>,
}

impl Failure {
    /// Returns a failure without hints.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hints: Vec::new(),
            task_id: None,
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Sets the task.
    #[must_use]
    pub fn of_task(mut self, task_id: &str) -> Self {
        self.task_id = Some(task_id.to_owned());
        self
    }

    pub(crate) fn write(&self, w: &mut Writer) {
        w.object(|w| {
            w.key("code").string(self.code.name());
            w.key("hints").array(|w| {
                self.hints.iter().for_each(|hint| w.string(hint));
                if self.hints.is_empty() {
                    w.string(self.code.catalogued().help());
                }
            });
            w.key("message").string(&self.message);
            if let Some(task_id) = &self.task_id {
                w.key("task_id").string(task_id);
            }
        });
    }
}

/// The problems of one request, which become one failure.
#[derive(Debug)]
pub(crate) struct Problems {
    messages: Vec<String>,
    hints: Vec<String>,
    unlisted: usize,
}

impl Problems {
    pub(crate) const fn new() -> Self {
        Self {
            messages: Vec::new(),
            hints: Vec::new(),
            unlisted: 0,
        }
    }

    /// Adds a problem, up to [`PROBLEMS_MAX`], with what to do about it.
    pub(crate) fn add(&mut self, message: impl Into<String>, hint: impl Into<String>) {
        if self.messages.len() >= PROBLEMS_MAX {
            self.unlisted += 1;
            return;
        }
        self.messages.push(message.into());
        let hint = hint.into();
        if !hint.is_empty() && !self.hints.contains(&hint) {
            self.hints.push(hint);
        }
    }

    /// Adds the problem of a failure.
    pub(crate) fn take(&mut self, failure: Failure) {
        let mut hints = failure.hints.into_iter();
        self.add(failure.message, hints.next().unwrap_or_default());
        for hint in hints {
            if !self.hints.contains(&hint) {
                self.hints.push(hint);
            }
        }
    }

    /// Returns the problems as one failure, if there are any.
    pub(crate) fn finish(self, code: ErrorCode) -> Result<(), Failure> {
        match self.messages.is_empty() {
            true => Ok(()),
            false => Err(self.failure(code)),
        }
    }

    /// Returns the problems as one failure.
    pub(crate) fn failure(self, code: ErrorCode) -> Failure {
        let mut message = self.messages.join("; ");
        if self.unlisted > 0 {
            message.push_str(&format!("; and {} more", self.unlisted));
        }
        Failure {
            hints: self.hints,
            ..Failure::new(code, message)
        }
    }
}

/// Returns a text from outside in backquotes, cut to a readable size, with the code points of characters
/// that can't be seen.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN_MAX_BYTES: usize = 80;
    let end = text.floor_char_boundary(SHOWN_MAX_BYTES);
    let shown: String = text[..end]
        .chars()
        .map(|c| match c.is_control() {
            true => code_point(c),
            false => c.to_string(),
        })
        .collect();
    let shown = agent_text::visible(&shown);
    let more = if end < text.len() { "…" } else { "" };
    format!("`{shown}{more}`")
}

#[cfg(test)]
mod tests {
    use super::{ErrorCode, Failure, PROBLEMS_MAX, Problems, quoted};

    #[test]
    fn every_code_has_the_exit_code_of_its_stage() {
        let table = ErrorCode::ALL.map(|code| (code.name(), code.exit_code()));
        let expected = [
            ("E_PLAN", 10),
            ("E_FS", 10),
            ("E_POLICY", 20),
            ("E_BUILD", 30),
            ("E_RUNTIME", 40),
            ("E_TIMEOUT", 40),
            ("E_NETWORK", 30),
            ("E_PORT", 40),
        ];
        assert_eq!(table, expected);
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::named(code.name()), Some(code));
        }
        assert_eq!(ErrorCode::named("E_OTHER"), None);
        let page = include_str!("../../../docs/reference/verbs.md");
        for (name, exit_code) in table {
            let is_row = |line: &str| {
                line.starts_with(&format!("| `{name}` | "))
                    && line.ends_with(&format!(" | {exit_code} |"))
            };
            assert_eq!(page.lines().filter(|it| is_row(it)).count(), 1, "{name}");
        }
    }

    #[test]
    fn problems_become_one_failure() {
        let mut problems = Problems::new();
        for number in 0..PROBLEMS_MAX + 2 {
            problems.add(format!("problem {number}"), "correct it");
        }
        let failure = problems.finish(ErrorCode::Fs).expect_err("problems");
        assert!(failure.message.starts_with("problem 0; problem 1; "));
        assert!(failure.message.ends_with("; and 2 more"));
        assert_eq!(failure.hints, ["correct it"]);
        assert_eq!(Problems::new().finish(ErrorCode::Fs), Ok(()));
        let mut problems = Problems::new();
        problems.take(Failure::new(ErrorCode::Plan, "no").hint("a").hint("b"));
        let failure = problems.finish(ErrorCode::Plan).expect_err("a problem");
        assert_eq!(failure.hints, ["a", "b"]);
    }

    #[test]
    fn quoted_texts_are_short_and_visible() {
        assert_eq!(quoted("a\n\u{200b}b"), "`a<U+000A><U+200B>b`");
        assert!(quoted(&"é".repeat(1000)).len() < 100);
    }
}
