//! Clients that call a tool again and again.

use super::proxies::Subject;
use agent_load::http::{Connection, Received};
use agent_load::message::{Generation, call, initialize, message};
use agent_load::process::{memory, processor_time};
use serde_json::{Value, json};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// The time in which a call is answered.
const PATIENCE: Duration = Duration::from_secs(30);

/// The tool that is called.
const TOOL: &str = "s_echo_0";

/// Number of rounds, each of which measures every subject.
const ROUNDS: usize = 3;

/// Clients with their calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) generation: Generation,
    /// Number of clients: a session for each, or a connection where the protocol has no sessions.
    pub(super) sessions: usize,
    /// Calls of each client. A tenth as many before them are not measured.
    calls: usize,
}

impl Load {
    /// Returns clients that make some thousand calls together.
    pub(super) const fn of(generation: Generation, sessions: usize) -> Self {
        let calls = match sessions {
            1 => 1_500,
            _ => 6_400 / sessions,
        };
        Self {
            generation,
            sessions,
            calls,
        }
    }
}

/// What a call costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// Processor time of the proxy.
    pub(crate) processor: Duration,
    /// Calls of all clients in a second.
    pub(crate) rate: f64,
    /// The time until the answer: that of every second call.
    pub(crate) median: Duration,
    /// That of 99 calls of 100.
    pub(crate) slowest: Duration,
    /// Resident memory of the proxy after the calls, in bytes.
    pub(crate) memory: u64,
}

/// Measures subjects in turn. Returns for each the round that took the least processor time.
pub(super) fn cheapest(load: Load, subjects: &[Subject]) -> Result<Vec<Cost>, String> {
    let mut best: Vec<Option<Cost>> = vec![None; subjects.len()];
    for _ in 0..ROUNDS {
        for (subject, best) in subjects.iter().zip(&mut best) {
            let cost = round(load, subject).map_err(|why| format!("{}: {why}", subject.name))?;
            if best.is_none_or(|best| cost.processor < best.processor) {
                *best = Some(cost);
            }
        }
    }
    Ok(best.into_iter().flatten().collect())
}

fn round(load: Load, subject: &Subject) -> Result<Cost, String> {
    let processor = || processor_time(subject.pid).ok_or("it has ended");
    // All are ready before the first call that counts, and none ends its session before the last one.
    let (ready, start) = (
        Barrier::new(load.sessions + 1),
        Barrier::new(load.sessions + 1),
    );
    thread::scope(|scope| {
        let clients: Vec<_> = (0..load.sessions)
            .map(|number| {
                let (ready, start) = (&ready, &start);
                scope.spawn(move || {
                    let client = Client::open(number, load.generation, subject);
                    let warm = client.and_then(|mut client| {
                        client.calls(load.calls / 10)?;
                        Ok(client)
                    });
                    ready.wait();
                    start.wait();
                    let mut client = warm?;
                    let times = client.calls(load.calls)?;
                    Ok::<_, String>((client, times))
                })
            })
            .collect();
        ready.wait();
        let before = processor();
        let began = Instant::now();
        start.wait();
        let mut times = Vec::with_capacity(load.sessions * load.calls);
        let mut open = Vec::with_capacity(load.sessions);
        for client in clients {
            let (client, own) = client.join().map_err(|_| "a client panicked")??;
            times.extend(own);
            open.push(client);
        }
        let elapsed = began.elapsed();
        let used = processor()?.saturating_sub(before?);
        let memory = memory(subject.pid).ok_or("it has ended")?;
        for client in open {
            client.close()?;
        }
        times.sort_unstable();
        let number = u32::try_from(times.len()).unwrap_or(u32::MAX).max(1);
        let at = |percent: usize| times.get(times.len() * percent / 100).copied();
        Ok(Cost {
            processor: used / number,
            rate: f64::from(number) / elapsed.as_secs_f64(),
            median: at(50).unwrap_or_default(),
            slowest: at(99).unwrap_or_default(),
            memory,
        })
    })
}

/// A client with a connection that is kept, and a session if its protocol has them.
struct Client<'s> {
    number: usize,
    generation: Generation,
    subject: &'s Subject,
    connection: Connection,
    session: Option<String>,
    next: usize,
}

impl<'s> Client<'s> {
    fn open(number: usize, generation: Generation, subject: &'s Subject) -> Result<Self, String> {
        let connection = Connection::open(subject.endpoint.address, PATIENCE);
        let mut client = Self {
            number,
            generation,
            subject,
            connection: connection.map_err(|error| error.to_string())?,
            session: None,
            next: 0,
        };
        if generation == Generation::Sessions {
            let body = message(generation, Some(0), "initialize", initialize());
            let answer = client.post(("initialize", None), &body)?;
            // A server without sessions has no header.
            client.session = answer.header("mcp-session-id").map(str::to_owned);
            let method = "notifications/initialized";
            client.post(
                (method, None),
                &message(generation, None, method, json!({})),
            )?;
        }
        Ok(client)
    }

    fn post(&mut self, about: (&str, Option<&str>), body: &str) -> Result<Received, String> {
        let endpoint = &self.subject.endpoint;
        let request = endpoint.post(self.generation, self.session.as_deref(), about, body);
        let answer = self.connection.ask(&request);
        answer.map_err(|error| format!("{}: {error}", about.0))
    }

    /// Calls the tool, each time with other arguments. Returns the time of each call.
    fn calls(&mut self, calls: usize) -> Result<Vec<Duration>, String> {
        let mut times = Vec::with_capacity(calls);
        for _ in 0..calls {
            self.next += 1;
            let id = self.next as u64;
            let text = format!("call {id} of client {}", self.number);
            let params = call(TOOL, json!({ "text": text }));
            let body = message(self.generation, Some(id), "tools/call", params);
            let began = Instant::now();
            let answer = self.post(("tools/call", Some(TOOL)), &body)?;
            times.push(began.elapsed());
            let message: Value = serde_json::from_slice(answer.message()).unwrap_or_default();
            let found = &message["result"]["structuredContent"]["text"];
            if *found != *text || message["id"] != id {
                let body = String::from_utf8_lossy(&answer.body);
                return Err(format!("call {id} was answered with {body}"));
            }
        }
        Ok(times)
    }

    /// Ends the session.
    fn close(mut self) -> Result<(), String> {
        let Some(session) = &self.session else {
            return Ok(());
        };
        let request = self.subject.endpoint.delete(session);
        let answer = self.connection.ask(&request);
        answer.map(drop).map_err(|error| format!("DELETE: {error}"))
    }
}
