//! A verb at work: the engine orders effects, and the daemon performs them one after the other.

use super::daemon::{CLIENT, Daemon};
use super::effects::Effects;
use super::refusal::{Answered, broken};
use super::traced::stage;
use agent_host::contract::daemon::{Action, Call, Failure, ListedTask, Order, Outcome, RunLimit};
use agent_host::{Instance, ResourceAny, call};
use agent_sandbox::control_groups;

/// A verb in its instance of the engine.
struct Verb {
    engine: Instance,
    run: ResourceAny,
}

impl Verb {
    fn next(&mut self) -> Answered<Action> {
        call!(self.engine, daemon.verb_run.next(self.run)).map_err(broken)
    }

    fn complete(&mut self, outcome: &Outcome) -> Answered<()> {
        // After an outcome out of turn the verb fails, which `next` returns.
        let taken = call!(self.engine, daemon.verb_run.complete(self.run, outcome));
        taken.map(drop).map_err(broken)
    }

    fn cancel(&mut self) -> Answered<()> {
        call!(self.engine, daemon.verb_run.cancel(self.run)).map_err(broken)
    }

    /// Performs an action. Returns the next one, and why this one failed.
    async fn perform(
        &mut self,
        effects: &mut Effects<'_>,
        action: Action,
    ) -> Answered<(Action, Option<Failure>)> {
        let failure = match effects.perform_or_cancelled(action).await {
            Some(Ok(outcome)) => {
                self.complete(&outcome)?;
                match outcome {
                    Outcome::Started(started) => started.result.err(),
                    _ => None,
                }
            }
            Some(Err(failure)) => {
                self.complete(&Outcome::Failed(failure.clone()))?;
                Some(failure)
            }
            None => {
                self.cancel()?;
                None
            }
        };
        Ok((self.next()?, failure))
    }
}

impl Daemon {
    /// Carries an order of a client out, to its end. Returns its response.
    pub(crate) async fn carry_out(&self, client: &str, order: Order) -> Answered<String> {
        let call = self.call(client, order);
        let mut engine = self.decider.instance()?;
        let run = call!(engine, daemon.verb_run.start(&call)).map_err(broken)?;
        let mut verb = Verb { engine, run };
        let mut effects = Effects::new(self, client);
        let mut action = verb.next()?;
        loop {
            action = match (stage_of(&action), action) {
                (_, Action::Finished(finished)) => return finished,
                (None, action) => verb.perform(&mut effects, action).await?.0,
                (Some(name), action) => staged(name, &mut verb, &mut effects, action).await?,
            };
        }
    }

    fn call(&self, client: &str, order: Order) -> Call {
        let tasks = self.tasks.borrow();
        let tasks = tasks.values().map(|task| ListedTask {
            id: task.id.clone(),
            client: task.client.clone(),
            state: task.state.get(),
        });
        Call {
            order,
            client: client.to_owned(),
            is_user: client == CLIENT,
            tasks: tasks.collect(),
            unenforceable: match control_groups().cpu_percent {
                true => Vec::new(),
                false => vec![RunLimit::CpuPct],
            },
        }
    }
}

/// Performs the actions of one stage, which follow each other, within its span. Returns the next one.
async fn staged(
    name: &'static str,
    verb: &mut Verb,
    effects: &mut Effects<'_>,
    action: Action,
) -> Answered<Action> {
    let mut next = Some(action);
    let performed = stage(name, async {
        while let Some(action) = next.take_if(|it| stage_of(it) == Some(name)) {
            let (after, failure) = verb.perform(effects, action).await?;
            next = Some(after);
            failure.map_or(Ok(()), Err)?;
        }
        Ok(())
    });
    match (performed.await, next) {
        (_, Some(action)) => Ok(action),
        (Err(broken), None) => Err(broken),
        (Ok(()), None) => verb.next(),
    }
}

/// Returns the stage that an action belongs to, as spans and counts name it.
fn stage_of(action: &Action) -> Option<&'static str> {
    Some(match action {
        Action::Plan(_) => "plan",
        Action::ReadSources => "scan",
        Action::Resolve(_) | Action::Install => "packages",
        Action::Build(_) => "build",
        Action::Start(_) => "start",
        Action::Probe(_) => "probes",
        _ => return None,
    })
}
