//! `httpcheck.assert` \[2, 2.4\].

use super::daemon::Daemon;
use super::files::at;
use super::probes::send;
use super::refusal::{Answered, refused};
use super::task::Task;
use super::tools::name;
use super::traced::stage;
use agent_host::call;
use agent_host::contract::daemon::{ErrorCode, GatewayAddress, Probe, ProbeOutcome, Verb};
use agent_syntax::json::Writer;
use agent_tasks::Artifact;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::rc::Rc;

impl Daemon {
    /// Returns the task that the input of `httpcheck.assert` names, or the one beside it.
    pub(crate) fn named_task(&self, input: &str, beside: Option<&str>) -> Answered<Option<String>> {
        self.decider.decide(|engine| {
            let request = match call!(engine, daemon.check_request.call_read(input.as_bytes()))? {
                Ok(request) => request,
                Err(refusal) => return Ok(Err(refusal)),
            };
            call!(
                engine,
                daemon.check_request.call_named_task(request, beside)
            )
        })
    }

    /// Sends the probes one after the other, and compares the responses.
    pub(crate) async fn httpcheck(&self, task: &Rc<Task>, input: &str) -> Answered<String> {
        let (probes, gateway) = self.decider.decide(|engine| {
            let request = match call!(engine, daemon.check_request.call_read(input.as_bytes()))? {
                Ok(request) => request,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let probes = call!(engine, daemon.check_request.call_probes(request))?;
            let gateway = call!(engine, daemon.check_request.call_gateway(request))?;
            Ok(Ok((probes, gateway)))
        })?;
        let (address, below) = self.place(task, gateway.as_ref())?;
        let sent = async {
            let mut responses = Vec::new();
            for probe in &probes {
                responses.push(send(address, &below, probe).await?);
            }
            Ok(responses)
        };
        let responses = stage("probes", sent).await?;
        let (outcomes, data) = self.decider.decide(|engine| {
            let request = match call!(engine, daemon.check_request.call_read(input.as_bytes()))? {
                Ok(request) => request,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let mut outcomes = Vec::new();
            for (number, response) in (0..).zip(&responses) {
                outcomes.push(match response {
                    Ok(response) => call!(
                        engine,
                        daemon.check_request.call_judge(
                            request,
                            number,
                            response.status,
                            &response.body,
                            response.latency_ms
                        )
                    )?
                    .unwrap_or_else(|| unanswered("there is no such probe")),
                    Err(why) => unanswered(why),
                });
            }
            let data = call!(engine, daemon.check_request.call_data(request, &outcomes))?;
            Ok(Ok((outcomes, data)))
        })?;
        let passed = outcomes.iter().filter(|it| it.reason.is_none()).count();
        let all = outcomes.len();
        task.probes.replace(format!("{passed} of {all} passed"));
        let log = lines(&probes, &outcomes);
        self.with_folder(task, ErrorCode::Fs, move |folder| {
            Ok(folder.append(Artifact::ProbesLog, log.as_bytes())?)
        })
        .await?;
        self.go(task, task.state.get()).await?;
        Ok(data)
    }

    /// Returns where an app is reached, and below which path.
    fn place(
        &self,
        task: &Task,
        gateway: Option<&GatewayAddress>,
    ) -> Answered<(SocketAddr, String)> {
        match gateway {
            Some(gateway) => {
                let host = gateway.host.trim_matches(['[', ']']);
                let ip = host.parse().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
                let below = format!("/apps/{}", task.id);
                Ok((SocketAddr::new(ip, gateway.port), below))
            }
            None => {
                let port = task.port.get().ok_or_else(|| {
                    let message = "the app has no port of its own";
                    refused(ErrorCode::Network, message, "set `via.gateway`")
                })?;
                Ok((at(port), String::new()))
            }
        }
    }
}

fn unanswered(why: &str) -> ProbeOutcome {
    ProbeOutcome {
        status: None,
        latency_ms: 0,
        reason: Some(why.to_owned()),
    }
}

/// Returns the lines of `probes.log`.
fn lines(probes: &[Probe], outcomes: &[ProbeOutcome]) -> String {
    let lines = probes.iter().zip(outcomes).map(|(probe, outcome)| {
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("latency_ms").number(outcome.latency_ms);
            w.key("method").string(&probe.method);
            w.key("pass").bool(outcome.reason.is_none());
            w.key("path").string(&probe.path);
            w.key("reason").optional(outcome.reason.as_deref());
            match outcome.status {
                Some(status) => w.key("status").number(status.into()),
                None => w.key("status").null(),
            }
            w.key("verb").string(name(Verb::HttpcheckAssert));
        });
        w.finish()
    });
    lines.collect()
}
