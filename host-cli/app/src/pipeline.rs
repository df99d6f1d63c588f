//! From a prompt to an app that answers: the verbs one after the other.

use crate::args::{Change, Limits, Run};
use crate::client::{Response, VerbClient};
use crate::refusal::Refusal;
use agent_host::{Failure, output};
use agent_planner::quoted;
use agent_syntax::json_string;
use agent_syntax::members::{items, member, string};
use std::fmt;

/// How a pipeline ended.
pub(crate) enum PipelineOutcome {
    /// The app answers as expected.
    Passed(Response),
    /// It does not, or a verb failed.
    Failed(Refusal),
}

/// Calls verbs, and says what it does.
pub(crate) struct Pipeline<'c> {
    pub(crate) client: &'c VerbClient,
    pub(crate) quiet: bool,
}

impl Pipeline<'_> {
    fn step(&self, text: impl fmt::Display) {
        if !self.quiet {
            output::note(text);
        }
    }

    /// Creates an app.
    pub(crate) async fn run(&self, args: &Run) -> Result<PipelineOutcome, Refusal> {
        let lang = args.lang.iter().map(|lang| json_string(lang));
        let lang: Vec<_> = lang.collect();
        let constraints = match lang.is_empty() {
            true => String::new(),
            false => format!(r#","constraints":{{"lang_hint":[{}]}}"#, lang.join(",")),
        };
        let prompt = json_string(&args.prompt);
        let input = format!(r#"{{"prompt":{prompt}{constraints}}}"#);
        let plan = self.client.verb("plan.create@v1", None, &input).await?;
        if let Some(failure) = plan.failure() {
            return Ok(PipelineOutcome::Failed(failure));
        }
        let (Some(task), Some(files), Some(start)) =
            (plan.data("task_id"), plan.json("files"), plan.data("start"))
        else {
            return Err(Failure::internal("the plan has no files").into());
        };
        self.step(format_args!("planned {task}: {start}"));
        let apply = format!(r#"{{"writes":{files}}}"#);
        if let Some(failure) = self.apply(&task, &apply).await? {
            return Ok(PipelineOutcome::Failed(failure));
        }
        let expected = quoted(&args.prompt);
        self.start_and_test(&task, &start, &args.limits, expected)
            .await
    }

    /// Changes an app. A change with which it does not pass is taken back.
    pub(crate) async fn change(&self, args: &Change) -> Result<PipelineOutcome, Refusal> {
        let task = &*args.task;
        let before = self.client.get("/tasks").await?;
        let before = super::list::tasks(&before).into_iter();
        let before = before
            .filter(|it| it.task_id == task)
            .find_map(|it| it.start);
        let body = format!(r#"{{"prompt":{}}}"#, json_string(&args.delta));
        let path = format!("/tasks/{task}/plan-change");
        let plan = self.client.post(&path, body).await?;
        if let Some(failure) = plan.failure() {
            return Ok(PipelineOutcome::Failed(failure));
        }
        let (Some(apply), Some(start)) = (plan.json("apply"), plan.data("start")) else {
            return Err(Failure::internal("the plan has no files").into());
        };
        self.step(format_args!("planned a change of {task}: {start}"));
        if let Some(failure) = self.apply(task, &apply).await? {
            return Ok(PipelineOutcome::Failed(failure));
        }
        let expected = quoted(&args.delta);
        let tested = self.start_and_test(task, &start, &args.limits, expected);
        let failure = match tested.await {
            Ok(PipelineOutcome::Failed(failure)) | Err(failure) => failure,
            Ok(passed @ PipelineOutcome::Passed(_)) => return Ok(passed),
        };
        self.step("the change is taken back");
        let path = format!("/tasks/{task}/revert");
        let reverted = self.client.post(&path, String::new()).await?;
        if let Some(failure) = reverted.failure() {
            return Ok(PipelineOutcome::Failed(failure));
        }
        if let Some(before) = before {
            let again = self.start_and_test(task, &before, &args.limits, None);
            if let PipelineOutcome::Failed(failure) = again.await? {
                self.step(format_args!(
                    "the app before the change does not start: {}",
                    failure.failure.message
                ));
            }
        }
        Ok(PipelineOutcome::Failed(failure))
    }

    async fn apply(&self, task: &str, input: &str) -> Result<Option<Refusal>, Refusal> {
        let applied = self.client.verb("fs.apply@v1", Some(task), input).await?;
        Ok(applied.failure())
    }

    async fn start_and_test(
        &self,
        task: &str,
        start: &str,
        limits: &Limits,
        expected: Option<&str>,
    ) -> Result<PipelineOutcome, Refusal> {
        let asked = [("cpu_pct", limits.cpu), ("mem_mb", limits.mem)];
        let asked = asked
            .into_iter()
            .filter_map(|(name, value)| Some(format!(r#""{name}":{}"#, value?)));
        let asked: Vec<_> = asked.collect();
        let input = format!(
            r#"{{"cmd":{},"ready":{{"timeout_sec":{}}},"limits":{{{}}}{}}}"#,
            json_string(start),
            limits.timeout,
            asked.join(","),
            if limits.no_egress {
                r#","egress":"deny""#
            } else {
                ""
            },
        );
        let started = self.client.verb("run.start@v1", Some(task), &input).await?;
        if let Some(failure) = started.failure() {
            return Ok(PipelineOutcome::Failed(failure));
        }
        self.step(format_args!("started {task}"));
        let expected = expected.map_or_else(|| "null".to_owned(), json_string);
        let input = format!(
            r#"{{"probes":[{{"method":"GET","path":"/","expect_status":200,"expect_body":{expected}}}]}}"#
        );
        let checked = self
            .client
            .verb("httpcheck.assert@v1", Some(task), &input)
            .await?;
        if let Some(failure) = checked.failure() {
            return Ok(PipelineOutcome::Failed(failure));
        }
        let passes = checked.json("pass").as_deref() == Some("true");
        let verdict = if passes { "pass" } else { "fail" };
        let input = format!(r#"{{"verdict":"{verdict}"}}"#);
        let report = self
            .client
            .verb("report.finish@v1", Some(task), &input)
            .await?;
        if let Some(failure) = report.failure() {
            return Ok(PipelineOutcome::Failed(failure));
        }
        if !passes {
            let reason = checked.read(|root| {
                let details = items(member(member(root, "data")?, "details")?)?;
                let mut reasons = details
                    .iter()
                    .filter_map(|it| string(member(it, "reason")?));
                reasons.next().map(str::to_owned)
            });
            let reason = reason.unwrap_or_else(|| "it failed".to_owned());
            let message = format!("`GET /` of {task}: {reason}");
            let help = "read `run.log` and `probes.log` in the task's folder";
            let failure = Failure::new(message).help(help);
            return Ok(PipelineOutcome::Failed(Refusal::new(
                "E_RUNTIME",
                failure,
                Some(task),
            )));
        }
        Ok(PipelineOutcome::Passed(report))
    }
}
