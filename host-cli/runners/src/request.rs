//! What a runner is asked.

use crate::limits::{APPLY_TIME, HEALTH_TIME, START_TIME, STOP_TIME};
use serde_json::Value;
use serde_json::value::RawValue;
use std::time::Duration;

/// The version of the protocol.
pub(crate) const VERSION: &str = "v1";

/// A method of the protocol. \[2, 3\]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Writes the files of a plan.
    Apply,
    /// Starts the app, and ends once it listens.
    Start,
    /// Ends the app.
    Stop,
    /// Says how the app does. A runner may do without.
    Health,
}

impl Method {
    /// Returns its name in requests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Health => "health",
        }
    }

    /// Returns the time that an invocation may take.
    #[must_use]
    pub const fn time(self) -> Duration {
        match self {
            Self::Apply => APPLY_TIME,
            Self::Start => START_TIME,
            Self::Stop => STOP_TIME,
            Self::Health => HEALTH_TIME,
        }
    }
}

/// A request to a runner. Plan and manifest are JSON that the engine has accepted.
#[derive(Clone, Copy, Debug)]
pub enum RunnerRequest<'a> {
    /// Write the files of a plan.
    Apply {
        /// The task.
        task_id: &'a str,
        /// The file plan.
        plan: &'a RawValue,
    },
    /// Start the app.
    Start {
        /// The task.
        task_id: &'a str,
        /// The manifest of the task.
        manifest: &'a RawValue,
    },
    /// End the app.
    Stop {
        /// The task.
        task_id: &'a str,
    },
    /// Say how the app does.
    Health {
        /// The task.
        task_id: &'a str,
    },
}

impl RunnerRequest<'_> {
    /// Returns the method.
    #[must_use]
    pub const fn method(&self) -> Method {
        match self {
            Self::Apply { .. } => Method::Apply,
            Self::Start { .. } => Method::Start,
            Self::Stop { .. } => Method::Stop,
            Self::Health { .. } => Method::Health,
        }
    }

    /// Returns the JSON object of the request.
    pub(crate) fn json(&self) -> Vec<u8> {
        let (task_id, document) = match *self {
            Self::Apply { task_id, plan } => (task_id, Some(("plan", plan))),
            Self::Start { task_id, manifest } => (task_id, Some(("manifest", manifest))),
            Self::Stop { task_id } | Self::Health { task_id } => (task_id, None),
        };
        let method = self.method().name();
        let task_id = Value::from(task_id);
        let mut text =
            format!(r#"{{"method":"{method}","version":"{VERSION}","task_id":{task_id}"#);
        if let Some((name, document)) = document {
            text.push_str(&format!(r#","{name}":{document}"#));
        }
        text.push('}');
        text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::RunnerRequest;
    use serde_json::value::RawValue;

    #[test]
    fn a_request_keeps_the_bytes_of_a_plan() {
        let plan = RawValue::from_string("{\"files\": [ ]}".to_owned()).unwrap();
        let task_id = "ab12cd";
        let text = RunnerRequest::Apply {
            task_id,
            plan: &plan,
        };
        let expected =
            r#"{"method":"apply","version":"v1","task_id":"ab12cd","plan":{"files": [ ]}}"#;
        assert_eq!(text.json(), expected.as_bytes());
        let manifest = &*plan;
        let text = RunnerRequest::Start { task_id, manifest };
        let expected =
            r#"{"method":"start","version":"v1","task_id":"ab12cd","manifest":{"files": [ ]}}"#;
        assert_eq!(text.json(), expected.as_bytes());
        let task_id = "\"\n";
        let expected = r#"{"method":"health","version":"v1","task_id":"\"\n"}"#;
        assert_eq!(
            RunnerRequest::Health { task_id }.json(),
            expected.as_bytes()
        );
    }
}
