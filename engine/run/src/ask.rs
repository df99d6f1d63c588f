//! The pipeline of one call \[1\]. Its nine steps follow each other in [`Run::ask`]; none can be skipped.

use super::action::PlannerTask;
use super::answer::{Answer, Problem};
use super::call::{CallDecision, accept_query, decide_call};
use super::catalogue::{call_request, list_tools, snapshot};
use super::documents::Goal;
use super::lifecycle::{Decided, Run};
use super::planning::{self, ask_planner};
use super::stop::Stop;
use agent_api::complete;
use agent_api::decide::CallResult;
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::lower::tools_snapshot;
use agent_api::model::ToolsSnapshot;

impl Run<'_> {
    /// Answers a query with one call of one tool, or with the reason why none is made.
    ///
    /// # Errors
    /// The reason why the run ends early.
    pub(crate) async fn ask(&mut self, goal: &Goal) -> Result<(), Stop> {
        let called = self.call(goal).await;
        match called {
            Ok(answer) => {
                self.answer = Some(answer);
                Ok(())
            }
            Err((answer, stop)) => {
                self.answer = Some(answer);
                Err(stop)
            }
        }
    }

    async fn call(&mut self, goal: &Goal) -> Result<Answer, (Answer, Stop)> {
        // 1: the query is received, and kept.
        let request = planning::request(goal, self.request_id(), &self.documents.rules);
        if let Ok(Some(request)) = &request {
            self.documents
                .set_request(request.clone(), self.evidence.redactor());
        }
        self.store_documents().await.map_err(Answer::blocked)?;
        // 2: the input policy.
        let accepted = request
            .map(|_| ())
            .and_then(|()| accept_query(&self.documents, &goal.text));
        if let Err(stop) = accepted {
            return Err(self.blocked(Answer::default(), stop, Vec::new()).await);
        }
        // 3: the live catalogue of the locked servers.
        let (catalogue, request) = match self.catalogue(goal).await {
            Ok(found) => found,
            Err(stop) => return Err(self.blocked(Answer::default(), stop, Vec::new()).await),
        };
        // 4: the planner makes one plan.
        let planned = ask_planner(self.evidence, PlannerTask::Call, &request).await;
        let planned = match planned {
            Ok(bytes) => bytes,
            Err(stop) => return Err(self.blocked(Answer::default(), stop, Vec::new()).await),
        };
        // 5: the plan is decided, by the contract of one call and as a plan of one step.
        let answer = Answer {
            plan: String::from_utf8(planned.clone()).ok(),
            ..Answer::default()
        };
        self.call.planned = Some(planned.clone());
        let now = self.evidence.turns().now();
        let evaluation_context = self.documents.evaluation_context(now);
        let request_id = self.request_id().to_owned();
        let decision = decide_call(
            &mut self.documents,
            planned,
            &catalogue,
            &evaluation_context,
            (goal, &request_id),
            self.evidence.redactor(),
        );
        let (output_schema, approval) = match decision {
            CallDecision::Question(question) => {
                return self.needs_more_info(answer, question).await;
            }
            CallDecision::Denied(stop, found) => {
                return Err(self.blocked(answer, stop, found).await);
            }
            CallDecision::Allowed {
                output_schema,
                approval,
            } => (output_schema, approval),
        };
        let decided = self.decide(Some(&catalogue), None);
        let Decided { authorized, .. } = match self.store_decision(decided).await {
            Ok(decided) => decided,
            Err(stop) => return Err(Answer::blocked(stop)),
        };
        let Some(authorized) = authorized else {
            return Err(Answer::blocked(Stop::internal("no plan is authorized")));
        };
        // 6: one tool is executed.
        self.authorize(authorized, approval);
        if let Err(stop) = self.carry_out().await {
            let payload = self.payload();
            let answer = Answer { payload, ..answer };
            return Err((answer.failed(&stop), stop));
        }
        // 7 and 8: the payload is parsed, and a summary of it needs evidence.
        let Some(payload) = self.payload() else {
            let stop = Stop::internal("the tool returned no payload");
            return Err((answer.failed(&stop), stop));
        };
        let (summary, unsummarised) = match self.summary(goal, &payload).await {
            Ok(found) => found,
            Err(stop) => {
                let payload = Some(payload);
                let answer = Answer { payload, ..answer };
                return Err((answer.failed(&stop), stop));
            }
        };
        let bytes = payload.clone().into_bytes();
        let (result, mut problems) = complete(output_schema.as_deref(), bytes, summary.clone());
        problems.extend(unsummarised.map(|stop| (stop.code, stop.message)));
        // 9: the response.
        let answer = Answer {
            result,
            payload: Some(payload),
            summary: summary
                .filter(|_| result == CallResult::ToolResultWithSummary)
                .and_then(|it| String::from_utf8(it).ok()),
            problems: problems.iter().map(Problem::from).collect(),
            ..answer
        };
        match (result, problems.into_iter().next()) {
            (CallResult::Error, Some((code, message))) => {
                let stop = Stop::new(Code::MovaOutputInvalid, message).because(code);
                Err((answer, stop))
            }
            _ => Ok(answer),
        }
    }

    /// Returns the live catalogue and the request to the planner.
    async fn catalogue(&mut self, goal: &Goal) -> Result<(ToolsSnapshot, String), Stop> {
        if let Some(problem) = self.documents.unreadable.first() {
            let stop = Stop::new(Code::MovaValidationFailed, problem.message.as_str());
            return Err(stop.because(problem.code));
        }
        let documents = &self.documents;
        let Some(lock) = &documents.lock else {
            let stop = Stop::new(Code::MovaPolicyDenied, "no lock allows a call");
            return Err(stop.because(Code::LockMissing));
        };
        let Some(index) = &documents.index else {
            let message = "the index is missing, which advertises what tools do";
            return Err(Stop::new(Code::MovaValidationFailed, message));
        };
        let live = list_tools(self.evidence, lock, index).await?;
        let text = snapshot(&live);
        self.call.catalogue = Some(text.clone());
        let Ok(catalogue) = tools_snapshot(text.into_bytes()).map(|it| it.value) else {
            let message = "the catalogue of the servers is too large";
            return Err(Stop::new(Code::MovaLimitExceeded, message));
        };
        let context = documents.evaluation_context(self.evidence.turns().now());
        let request = call_request(&goal.text, &live, documents, &context, Some(&catalogue));
        Ok((catalogue, request))
    }

    /// Returns the summary of a payload: the given one, or that of the planner if it is wanted. Without
    /// one, the reason.
    ///
    /// # Errors
    /// The run is interrupted.
    async fn summary(
        &self,
        goal: &Goal,
        payload: &str,
    ) -> Result<(Option<Vec<u8>>, Option<Stop>), Stop> {
        if let Some(summary) = &self.documents.summary {
            return Ok((Some(summary.clone()), None));
        }
        if !self.options.asks_for_summary {
            return Ok((None, None));
        }
        let redactor = self.evidence.redactor();
        let request = planning::summary_request(&goal.text, payload, redactor);
        match ask_planner(self.evidence, PlannerTask::Summary, &request).await {
            Ok(summary) => Ok((Some(summary), None)),
            Err(stop) if stop.is_final() => Err(stop),
            Err(stop) => Ok((None, Some(stop))),
        }
    }

    /// Returns the payload of the call, redacted.
    fn payload(&self) -> Option<String> {
        let payload = self.steps.first()?.payload.as_deref()?;
        let text = core::str::from_utf8(payload).ok()?;
        self.evidence.redactor().json(text)
    }

    /// Records that nothing is called, because the user must say more.
    async fn needs_more_info(
        &mut self,
        answer: Answer,
        question: String,
    ) -> Result<Answer, (Answer, Stop)> {
        let stored = self.store_question(&question).await;
        stored.map_err(Answer::blocked)?;
        Ok(Answer {
            result: CallResult::NeedsMoreInfo,
            question: Some(question),
            ..answer
        })
    }

    /// Records a denial. Returns it as the answer and the end of the run.
    async fn blocked(
        &mut self,
        answer: Answer,
        stop: Stop,
        found: Vec<Diagnostic>,
    ) -> (Answer, Stop) {
        let problems: Vec<_> = match &found[..] {
            [] => vec![Problem::from(&stop)],
            found => found
                .iter()
                .map(|it| Problem {
                    code: it.code.name(),
                    message: it.message.clone(),
                })
                .collect(),
        };
        let decided = self.decide(None, Some((&stop, &found)));
        let stop = match self.store_decision(decided).await {
            Ok(_) => stop,
            Err(first) => first,
        };
        let answer = Answer {
            result: CallResult::Blocked,
            problems,
            ..answer
        };
        (answer, stop)
    }
}
