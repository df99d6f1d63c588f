//! The pipeline of one call \[1\]. Its nine steps follow each other in [`Run::ask`]; none can be skipped.

use super::action::PlannerTask;
use super::answer::{Answer, Problem};
use super::catalogue::{call_request, list_tools, snapshot};
use super::documents::Goal;
use super::lifecycle::{Decided, Run};
use super::one_step::{self, Call};
use super::planning::{self, ask_planner};
use super::stop::Stop;
use agent_api::CallAnswer;
use agent_api::decide::{CallContext, CallResult, CallVerdict};
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::lower::{call_plan, digest};
use agent_api::model::{Lock, Name, Planned, ToolsSnapshot};
use agent_api::{complete, plan};

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
            .and_then(|()| self.accept_query(&goal.text));
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
        let planned = match call_plan(planned) {
            Ok(read) => read.value,
            Err(found) => {
                let stop = stop_of(&found);
                return Err(self.blocked(answer, stop, found).await);
            }
        };
        let evaluation_context = self
            .documents
            .evaluation_context(self.evidence.turns().now());
        let (index, lock) = (self.documents.index.take(), self.documents.lock.take());
        let context = index.as_ref().map(|index| CallContext {
            index,
            lock: lock.as_ref(),
            catalogue: Some(&catalogue),
            evaluation_context: Some(&evaluation_context),
        });
        let Some(context) = context else {
            let stop = Stop::internal("the index is gone");
            return Err(self.blocked(answer, stop, Vec::new()).await);
        };
        let decided = CallAnswer::new(&planned, context);
        self.propose(&planned.planned, planned.text.as_str(), lock.as_ref(), goal);
        let output_schema = match decided.verdict() {
            CallVerdict::NeedsMoreInfo(question) => {
                return self.needs_more_info(answer, (*question).to_owned()).await;
            }
            CallVerdict::Denied(_) => {
                let found = decided.diagnostics();
                let stop = stop_of(&found);
                return Err(self.blocked(answer, stop, found).await);
            }
            CallVerdict::Allowed(call) => call.output_schema().map(str::to_owned),
        };
        let approval = decided.authorized().map(|it| digest(&it));
        drop(decided);
        self.documents.index = index;
        self.documents.lock = lock;
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
        let (summary, unsummarised) = self.summary(goal, &payload).await;
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
                let stop = Stop::new(Code::MovaOutputInvalid, message).because(code.name());
                Err((answer, stop))
            }
            _ => Ok(answer),
        }
    }

    /// Decides on the call of a query whose plan is carried out again, by the contract of one call: the tool
    /// may have become one that writes. Returns the problems of a denied call.
    pub(crate) fn decide_call_again(&self) -> Option<(Stop, Vec<Diagnostic>)> {
        let documents = &self.documents;
        let (plan, pool) = (&documents.plan, &documents.rules.pool);
        let call = one_step::call_of(
            plan.value.as_ref()?,
            plan.text.as_str(),
            pool.value.as_ref()?,
        )?;
        let now = self.evidence.turns().now();
        let evaluation_context = documents.evaluation_context(now);
        let context = CallContext {
            index: documents.index.as_ref()?,
            lock: documents.lock.as_ref(),
            catalogue: None,
            evaluation_context: Some(&evaluation_context),
        };
        let found = match call_plan(call.into_bytes()) {
            Ok(read) => CallAnswer::new(&read.value, context).diagnostics(),
            Err(found) => found,
        };
        // The call has no text that could be shown.
        let found = found.into_iter().map(|it| Diagnostic {
            labels: Vec::new(),
            fixes: Vec::new(),
            ..it
        });
        let found: Vec<_> = found.collect();
        (!found.is_empty()).then(|| (stop_of(&found), found))
    }

    /// Decides on the query \[1, step 2\].
    pub(crate) fn accept_query(&self, query: &str) -> Result<(), Stop> {
        let problems = plan::check_query(&self.documents.rules, query);
        match problems.into_iter().next() {
            Some((code, message)) => {
                Err(Stop::new(Code::MovaPolicyDenied, message).because(code.name()))
            }
            None => Ok(()),
        }
    }

    /// Returns the live catalogue and the request to the planner.
    async fn catalogue(&mut self, goal: &Goal) -> Result<(ToolsSnapshot, String), Stop> {
        if let Some(problem) = self.documents.unreadable.first() {
            let stop = Stop::new(Code::MovaValidationFailed, problem.message.as_str());
            return Err(stop.because(problem.code.name()));
        }
        let documents = &self.documents;
        let Some(lock) = &documents.lock else {
            let stop = Stop::new(Code::MovaPolicyDenied, "no lock allows a call");
            return Err(stop.because(Code::LockMissing.name()));
        };
        let Some(index) = &documents.index else {
            let message = "the index is missing, which advertises what tools do";
            return Err(Stop::new(Code::MovaValidationFailed, message));
        };
        let live = list_tools(self.evidence, lock, index).await?;
        let Some(catalogue) = snapshot(&live) else {
            let message = "the catalogue of the servers is too large";
            return Err(Stop::new(Code::MovaLimitExceeded, message));
        };
        let context = documents.evaluation_context(self.evidence.turns().now());
        let request = call_request(&goal.text, &live, documents, &context, Some(&catalogue));
        Ok((catalogue, request))
    }

    /// Takes the call as the plan of one step, and its tool as the pool.
    fn propose(&mut self, planned: &Planned, text: &str, lock: Option<&Lock>, goal: &Goal) {
        let Planned::Call(planned) = planned else {
            return;
        };
        let server = planned.server.value.as_str();
        let selections = lock.into_iter().flat_map(|lock| &lock.selections);
        let mut locked = selections.filter(|it| it.id.as_str() == server);
        let locked = locked
            .next()
            .map(|it| (it.version.as_str(), it.endpoint.as_str()));
        let call = Call {
            server,
            tool: planned.tool.value.as_str(),
            arguments: planned.args.of(text),
            locked,
        };
        let redactor = self.evidence.redactor();
        let pool = one_step::pool(call, &self.documents.rules);
        self.documents.set_pool(pool, redactor);
        let rules = &self.documents.rules;
        let plan = one_step::plan(call, self.request_id(), &goal.planner, rules);
        self.documents.set_plan(plan.into_bytes(), redactor);
    }

    /// Returns the summary of a payload: the given one, or that of the planner if it is wanted. Without
    /// one, the reason.
    async fn summary(&self, goal: &Goal, payload: &str) -> (Option<Vec<u8>>, Option<Stop>) {
        if let Some(summary) = &self.documents.summary {
            return (Some(summary.clone()), None);
        }
        if !self.options.asks_for_summary {
            return (None, None);
        }
        let redactor = self.evidence.redactor();
        let request = planning::summary_request(&goal.text, payload, redactor);
        match ask_planner(self.evidence, PlannerTask::Summary, &request).await {
            Ok(summary) => (Some(summary), None),
            Err(stop) => (None, Some(stop)),
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

/// Returns the stop of the first problem of a plan of one call.
fn stop_of(found: &[Diagnostic]) -> Stop {
    let Some(first) = found.first() else {
        return Stop::new(Code::MovaPolicyDenied, "the call is denied");
    };
    Stop::new(stable(first.code), first.message.as_str()).because(first.code.name())
}

/// Returns the stable code of a problem of a plan of one call.
pub(crate) fn stable(code: Code) -> Code {
    match code {
        Code::PlanNotJson
        | Code::PlanShape
        | Code::ArgumentUnknown
        | Code::ArgumentInvalid
        | Code::NumberNotExact
        | Code::SchemaInvalid
        | Code::SchemaBudget => Code::MovaValidationFailed,
        Code::InputTooLarge => Code::MovaLimitExceeded,
        _ => Code::MovaPolicyDenied,
    }
}
