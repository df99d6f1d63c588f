//! What a runner is asked.

use crate::limits::{APPLY_TIME, HEALTH_TIME, START_TIME, STOP_TIME};
use serde::Serialize;
use serde_json::value::RawValue;
use std::time::Duration;

/// The version of the protocol.
pub(crate) const VERSION: &str = "v1";

/// A method of the protocol. \[2, 3\]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
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
pub enum Request<'a> {
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

/// A request as it is written.
#[derive(Serialize)]
struct Written<'a> {
    method: Method,
    version: &'static str,
    task_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest: Option<&'a RawValue>,
}

impl Request<'_> {
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
    ///
    /// # Errors
    ///
    /// None in practice: every member has a form in JSON.
    pub(crate) fn json(&self) -> serde_json::Result<Vec<u8>> {
        let (task_id, plan, manifest) = match *self {
            Self::Apply { task_id, plan } => (task_id, Some(plan), None),
            Self::Start { task_id, manifest } => (task_id, None, Some(manifest)),
            Self::Stop { task_id } | Self::Health { task_id } => (task_id, None, None),
        };
        serde_json::to_vec(&Written {
            method: self.method(),
            version: VERSION,
            task_id,
            plan,
            manifest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Request;
    use serde_json::value::RawValue;

    #[test]
    fn a_request_keeps_the_bytes_of_a_plan() {
        let plan = RawValue::from_string("{\"files\": [ ]}".to_owned()).unwrap();
        let task_id = "ab12cd";
        let text = Request::Apply {
            task_id,
            plan: &plan,
        };
        let expected =
            r#"{"method":"apply","version":"v1","task_id":"ab12cd","plan":{"files": [ ]}}"#;
        assert_eq!(text.json().unwrap(), expected.as_bytes());
        let expected = r#"{"method":"health","version":"v1","task_id":"ab12cd"}"#;
        assert_eq!(
            Request::Health { task_id }.json().unwrap(),
            expected.as_bytes()
        );
    }
}
