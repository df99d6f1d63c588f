//! Clients that call a tool again and again.

use super::proxies::Subject;
use agent_load::http::Connection;
use agent_load::message::{Generation, call, message};
use agent_load::process::processor_time;
use serde_json::{Value, json};
use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

/// The time in which a call is answered.
const PATIENCE: Duration = Duration::from_secs(30);

/// The tool that is called.
const TOOL: &str = "s_echo_0";

/// Number of rounds, each of which measures every subject.
const ROUNDS: usize = 3;

/// Clients with their calls.
pub(super) struct Load {
    clients: usize,
    /// Calls of each client.
    calls: usize,
    /// Calls of each client that are not measured.
    warm_up: usize,
}

impl Load {
    /// Calls one after the other.
    pub(super) const ONE: Self = Self {
        clients: 1,
        calls: 1_000,
        warm_up: 100,
    };

    /// Calls at the same time.
    pub(super) const MANY: Self = Self {
        clients: 16,
        calls: 600,
        warm_up: 50,
    };
}

/// What a call costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// Processor time of the proxy.
    pub(crate) processor: Duration,
    /// The time until the answer: that of every second call.
    pub(crate) median: Duration,
    /// That of 99 calls of 100.
    pub(crate) slowest: Duration,
}

/// Measures subjects in turn. Returns for each the round that took the least processor time.
pub(super) fn shortest(
    load: &Load,
    subjects: &[Subject],
) -> Result<Vec<(&'static str, Cost)>, Box<dyn Error>> {
    let mut best: Vec<Option<Cost>> = vec![None; subjects.len()];
    for _ in 0..ROUNDS {
        for (subject, best) in subjects.iter().zip(&mut best) {
            let cost = round(load, subject).map_err(|why| format!("{}: {why}", subject.name))?;
            if best.is_none_or(|best| cost.processor < best.processor) {
                *best = Some(cost);
            }
        }
    }
    let costs = subjects.iter().zip(best);
    Ok(costs
        .filter_map(|(it, cost)| Some((it.name, cost?)))
        .collect())
}

fn round(load: &Load, subject: &Subject) -> Result<Cost, String> {
    calls(load.clients, load.warm_up, subject)?;
    let processor = || processor_time(subject.pid).ok_or("it has ended");
    let before = processor()?;
    let mut times = calls(load.clients, load.calls, subject)?;
    let used = processor()?.saturating_sub(before);
    times.sort_unstable();
    let number = u32::try_from(times.len()).unwrap_or(u32::MAX);
    let at = |percent: usize| times.get(times.len() * percent / 100).copied();
    Ok(Cost {
        processor: used / number.max(1),
        median: at(50).unwrap_or_default(),
        slowest: at(99).unwrap_or_default(),
    })
}

/// Lets clients call at the same time. Returns the time of each call.
fn calls(clients: usize, calls: usize, subject: &Subject) -> Result<Vec<Duration>, String> {
    thread::scope(|scope| {
        let clients: Vec<_> = (0..clients)
            .map(|client| scope.spawn(move || one_after_the_other(client, calls, subject)))
            .collect();
        let mut times = Vec::new();
        for client in clients {
            times.extend(client.join().map_err(|_| "a client panicked")??);
        }
        Ok(times)
    })
}

fn one_after_the_other(
    client: usize,
    calls: usize,
    subject: &Subject,
) -> Result<Vec<Duration>, String> {
    let endpoint = &subject.endpoint;
    let connection = Connection::open(endpoint.address, PATIENCE);
    let mut connection = connection.map_err(|error| error.to_string())?;
    let mut times = Vec::with_capacity(calls);
    for number in 0..calls {
        let text = format!("call {number} of client {client}");
        let params = call(TOOL, json!({ "text": text }));
        let generation = Generation::Stateless;
        let body = message(generation, Some(number as u64), "tools/call", params);
        let request = endpoint.post(generation, None, ("tools/call", Some(TOOL)), &body);
        let began = Instant::now();
        let answer = connection.ask(&request);
        let time = began.elapsed();
        let answer = answer.map_err(|error| format!("call {number}: {error}"))?;
        let message: Value = serde_json::from_slice(answer.message()).unwrap_or_default();
        let found = &message["result"]["structuredContent"]["text"];
        if *found != *text || message["id"] != number as u64 {
            let body = String::from_utf8_lossy(&answer.body);
            return Err(format!("call {number} was answered with {body}"));
        }
        times.push(time);
    }
    Ok(times)
}
