//! `restricted_shell`: one program, from `restricted_shell_input` to `restricted_shell_output` of the
//! tool pool's schema.

use crate::bindings::agent::handler::program::run;
use crate::bindings::exports::agent::handler::handler::Guest;
use serde::{Deserialize, Serialize};

/// The handler.
pub(crate) struct Handler;

#[derive(Deserialize)]
struct Input {
    program: String,
    arguments: Vec<String>,
    #[serde(default)]
    stdin: String,
}

#[derive(Serialize)]
struct Output<'o> {
    exit_code: i32,
    stdout: &'o str,
}

impl Guest for Handler {
    fn handle(input: String) -> Result<String, String> {
        let input: Input = serde_json::from_str(&input)
            .map_err(|error| format!("the input is not a program: {error}"))?;
        let exited = run(&input.program, &input.arguments, input.stdin.as_bytes());
        let stdout = str::from_utf8(&exited.stdout)
            .map_err(|_| "standard output is not UTF-8".to_owned())?;
        let output = Output {
            exit_code: exited.code,
            stdout,
        };
        serde_json::to_string(&output).map_err(|error| error.to_string())
    }
}
