//! Failures, for people and in the error model of the verbs \[2, 8\].

use agent_host::Failure;
use agent_syntax::json::Writer;

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The failure for people.
    pub(crate) failure: Failure,
    /// The response of a verb that says the same, as JSON that ends with a newline.
    pub(crate) envelope: String,
}

impl Refusal {
    /// Returns a failure with its code.
    pub(crate) fn new(code: &str, failure: Failure, task: Option<&str>) -> Self {
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("error").object(|w| {
                w.key("code").string(code);
                w.key("hints").strings(failure.help.as_deref());
                w.key("message").string(&failure.message);
                if let Some(task) = task {
                    w.key("task_id").string(task);
                }
            });
            w.key("ok").bool(false);
            w.key("version").string("v1");
        });
        Self {
            envelope: w.finish(),
            failure,
        }
    }

    /// Returns the failure of a folder or a file.
    pub(crate) fn of_files(failure: Failure) -> Self {
        Self::new("E_FS", failure, None)
    }

    /// Returns the failure of a connection to the daemon.
    pub(crate) fn of_network(failure: Failure) -> Self {
        Self::new("E_NETWORK", failure, None)
    }

    /// Returns the refusal of an unknown task.
    pub(crate) fn no_task(id: &str) -> Self {
        let failure = Failure::new(format_args!("there is no task `{id}`"));
        Self::new(
            "E_PLAN",
            failure.help("list the tasks with `mcp list`"),
            Some(id),
        )
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::new("E_RUNTIME", failure, None)
    }
}
