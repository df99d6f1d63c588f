//! A judge with the rules of the engine.

use agent_runners::conformance::{Judge, Refusal};
use serde_json::{Map, Value};

/// Judges as `runner-answer` of `agent:engine/daemon` does; the host links no engine.
pub(crate) struct Double;

fn broken(message: &str) -> Refusal {
    Refusal {
        code: "E_RUNTIME".to_owned(),
        message: format!("the runner broke its protocol: {message}"),
    }
}

impl Judge for Double {
    fn answer(&self, stdout: &[u8], stderr: &[u8], exit_code: i32) -> Result<String, Refusal> {
        if !stderr.is_empty() {
            return Err(broken("it wrote to its standard error"));
        }
        let read = serde_json::from_slice::<Map<String, Value>>(stdout);
        let envelope = read.map_err(|error| broken(&error.to_string()))?;
        let is_ok = envelope.get("ok").and_then(Value::as_bool);
        let version = envelope.get("version").and_then(Value::as_str);
        let (Some(is_ok), Some("v1")) = (is_ok, version) else {
            return Err(broken("its answer has no `ok`, or another `version`"));
        };
        if is_ok {
            let data = envelope
                .get("data")
                .map_or("{}".to_owned(), Value::to_string);
            return match exit_code {
                0 => Ok(data),
                _ => Err(broken("it succeeded, with an exit code other than 0")),
            };
        }
        let of_error = |name: &str| envelope.get("error")?.get(name)?.as_str();
        let code = of_error("code").unwrap_or_default();
        let expected = match code {
            "E_PLAN" | "E_FS" => 10,
            "E_POLICY" => 20,
            "E_BUILD" | "E_NETWORK" => 30,
            "E_RUNTIME" | "E_TIMEOUT" | "E_PORT" => 40,
            _ => return Err(broken("its error has no known `code`")),
        };
        Err(match exit_code == expected {
            false => broken("its exit code is not that of its error"),
            true => Refusal {
                code: code.to_owned(),
                message: of_error("message")
                    .unwrap_or("the runner failed")
                    .to_owned(),
            },
        })
    }

    fn manifest(&self, text: &[u8], task_id: &str) -> Result<(), Refusal> {
        let manifest: Value = serde_json::from_slice(text).unwrap_or_default();
        let is_of_task = manifest["task_id"].as_str() == Some(task_id);
        match is_of_task && manifest["entry"]["cmd"].is_string() {
            true => Ok(()),
            false => Err(Refusal {
                code: "E_PLAN".to_owned(),
                message: "the manifest is of another task, or has no command".to_owned(),
            }),
        }
    }
}
