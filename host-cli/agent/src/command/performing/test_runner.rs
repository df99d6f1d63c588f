//! `agent test-runner`: whether a runner keeps the protocol.

use crate::args::{DataFormat, RunnerLanguage, TestRunner};
use crate::command::CommandAnswer;
use agent_host::contract::daemon::Failure as Refused;
use agent_host::{Engine, Failure, block_on, call, output};
use agent_runners::Runner;
use agent_runners::built_in::{BuiltIn, Language};
use agent_runners::conformance::{App, CheckOutcome, Judge, Refusal, Report, test, test_built_in};
use agent_syntax::json::Writer;
use std::path;

pub(super) fn run(args: &TestRunner) -> Result<CommandAnswer, Failure> {
    let (language, app) = match args.lang {
        RunnerLanguage::Python => (Language::Python, App::python()),
        RunnerLanguage::Node => (Language::Node, App::node()),
        RunnerLanguage::Go => (Language::Go, App::go()),
    };
    let report = match &args.program {
        Some(program) => {
            let program = path::absolute(program).map_err(Failure::new)?;
            let runner = Runner::new(&program).map_err(Failure::new)?;
            let judge = ByEngine(Engine::embedded()?);
            block_on(async { test(&runner, &app, &judge).await.map_err(Failure::new) })?
        }
        None => {
            let runners = BuiltIn::load().map_err(Failure::internal)?;
            block_on(async {
                let tested = test_built_in(&runners, language, &app).await;
                tested.map_err(Failure::new)
            })?
        }
    };
    match args.format {
        DataFormat::Text => output::print_text(&report.to_string())?,
        DataFormat::Json => output::print_data(&json(&report))?,
    }
    Ok(CommandAnswer::yes_if(report.passed()))
}

/// The engine says what a runner's documents mean.
struct ByEngine(Engine);

impl Judge for ByEngine {
    fn answer(&self, stdout: &[u8], stderr: &[u8], exit_code: i32) -> Result<String, Refusal> {
        let mut engine = self.0.instantiate().map_err(broken)?;
        let answer = call!(engine, daemon.runner_answer(stdout, stderr, exit_code));
        answer.map_err(broken)?.map_err(refusal)
    }

    fn manifest(&self, text: &[u8], task_id: &str) -> Result<(), Refusal> {
        let mut engine = self.0.instantiate().map_err(broken)?;
        let read = call!(engine, daemon.read_manifest(text, task_id));
        read.map_err(broken)?.map(drop).map_err(refusal)
    }
}

fn refusal(refused: Refused) -> Refusal {
    Refusal {
        code: refused.code.name().to_owned(),
        message: refused.message,
    }
}

/// Returns the refusal of an engine that fails.
fn broken(failure: Failure) -> Refusal {
    Refusal {
        code: "E_RUNTIME".to_owned(),
        message: failure.message,
    }
}

fn json(report: &Report) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("checks").array(|w| {
            for check in &report.checks {
                w.object(|w| {
                    w.key("name").string(check.name);
                    w.key("outcome").string(match check.outcome {
                        CheckOutcome::Passed => "passed",
                        CheckOutcome::Failed => "failed",
                        CheckOutcome::Skipped => "skipped",
                    });
                    w.key("sentence").string(&check.sentence);
                });
            }
        });
        w.key("passed").bool(report.passed());
    });
    w.finish()
}
