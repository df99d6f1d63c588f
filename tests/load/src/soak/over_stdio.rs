//! Clients over the standard streams of their gateways.

use crate::client::{Client, PATIENCE};
use crate::gateways::Pipes;
use crate::request::Kind;
use crate::tally::Tally;
use agent_load::message::{Generation, initialize, message};
use serde_json::{Value, json};
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The longest time until a client cancels a call, in milliseconds.
const CANCEL_MS: u64 = 300;

/// Sends requests until `stop` is set.
pub(crate) fn run(number: u64, seed: u64, pipes: &mut Pipes, tally: &Tally, stop: &AtomicBool) {
    let mut client = Client::new(number, seed, tally);
    if let Err(error) = converse(&mut client, pipes, stop) {
        client.wrong(&format!("after request {}: {error}", client.next_id));
    }
}

fn converse(client: &mut Client<'_>, pipes: &mut Pipes, stop: &AtomicBool) -> io::Result<()> {
    let generation = client.generation;
    if generation == Generation::Sessions {
        pipes.send(&message(generation, Some(0), "initialize", initialize()))?;
        let opened = pipes.answer(0)?;
        if opened["result"]["protocolVersion"].is_null() {
            client.wrong(&format!("`initialize` was answered with {opened}"));
        }
    }
    while !stop.load(Ordering::Relaxed) {
        let (id, request) = client.request();
        let params = request.params.clone();
        pipes.send(&message(generation, Some(id), request.method, params))?;
        if request.kind == Kind::Cancelled {
            sleep(Duration::from_millis(client.random.below(CANCEL_MS)));
            let cancelled = json!({ "requestId": id });
            pipes.send(&message(
                generation,
                None,
                "notifications/cancelled",
                cancelled,
            ))?;
            // It has no answer, or one that was on its way.
            client.cancelled(&request);
            continue;
        }
        let answer = pipes.answer(id)?;
        client.answered(id, &request, answer.to_string().as_bytes());
    }
    Ok(())
}

impl Pipes {
    fn send(&mut self, line: &str) -> io::Result<()> {
        let closed = || io::Error::other("the input is closed");
        let input = self.input.as_mut().ok_or_else(closed)?;
        writeln!(input, "{line}")?;
        input.flush()
    }

    /// Waits for the answer to a request. Others are to requests that were cancelled, and notifications.
    fn answer(&self, id: u64) -> io::Result<Value> {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.map_err(|error| {
                io::Error::other(format!("request {id} has no answer: {error}"))
            })?;
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                return Ok(message);
            }
        }
    }
}
