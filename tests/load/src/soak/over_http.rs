//! Clients over HTTP.

use crate::client::{Client, PATIENCE};
use crate::request::Kind;
use crate::tally::Tally;
use agent_load::http::Connection;
use agent_load::message::{Endpoint, Generation, initialize, message};
use serde_json::json;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// The longest pause between two requests, in milliseconds.
const PAUSE_MS: u64 = 40;

/// The longest time until a client cancels a call, in milliseconds.
const CANCEL_MS: u64 = 300;

/// A client's connection, and its session if it has one.
struct Open<'e> {
    endpoint: &'e Endpoint,
    connection: Connection,
    session: Option<String>,
}

/// Sends requests until `stop` is set.
pub(crate) fn run(number: u64, seed: u64, endpoint: &Endpoint, tally: &Tally, stop: &AtomicBool) {
    let mut client = Client::new(number, seed, tally);
    while !stop.load(Ordering::Relaxed) {
        let open = Open::new(endpoint, client.generation);
        let done = open.and_then(|open| converse(&mut client, open, stop));
        if let Err(error) = done {
            client.wrong(&format!("after request {}: {error}", client.next_id));
        }
    }
}

/// Sends requests over one connection.
fn converse(client: &mut Client<'_>, mut open: Open<'_>, stop: &AtomicBool) -> io::Result<()> {
    while !stop.load(Ordering::Relaxed) {
        sleep(Duration::from_millis(client.random.below(PAUSE_MS)));
        match client.random.below(100) {
            0 => return open.end(client),
            1 => open.malformed(client)?,
            2 => open.stranger(client)?,
            _ => {
                if !open.request(client)? {
                    return Ok(());
                }
            }
        }
    }
    open.end(client)
}

impl<'e> Open<'e> {
    fn new(endpoint: &'e Endpoint, generation: Generation) -> io::Result<Self> {
        let mut open = Self {
            endpoint,
            connection: Connection::open(endpoint.address, PATIENCE)?,
            session: None,
        };
        if generation == Generation::Sessions {
            let body = message(generation, Some(0), "initialize", initialize());
            let request = open.post(generation, ("initialize", None), &body);
            let answer = open.connection.ask(&request)?;
            let session = answer.header("mcp-session-id").map(str::to_owned);
            if session.is_none() {
                let text = String::from_utf8_lossy(&answer.body).into_owned();
                return Err(io::Error::other(format!("no session is opened: {text}")));
            }
            open.session = session;
        }
        Ok(open)
    }

    fn post(&self, generation: Generation, named: (&str, Option<&str>), body: &str) -> Vec<u8> {
        let session = self.session.as_deref();
        self.endpoint.post(generation, session, named, body)
    }

    /// Sends a random request. Returns whether the connection can be used again.
    fn request(&mut self, client: &mut Client<'_>) -> io::Result<bool> {
        let (id, request) = client.request();
        let generation = client.generation;
        let params = request.params.clone();
        let body = message(generation, Some(id), request.method, params);
        let named = (request.method, request.tool.as_deref());
        let sent = self.post(generation, named, &body);
        self.connection.send(&sent)?;
        if request.kind == Kind::Cancelled {
            sleep(Duration::from_millis(client.random.below(CANCEL_MS)));
            if generation == Generation::Stateless {
                // Closing the connection cancels.
                client.cancelled(&request);
                return Ok(false);
            }
            self.cancel(id)?;
        }
        let answer = self.connection.answer();
        let answer = answer.map_err(|error| {
            let name = request.name();
            io::Error::other(format!("request {id}, {name}, has no answer: {error}"))
        })?;
        match (request.kind, answer.status(), answer.message()) {
            (Kind::Cancelled, 200, b"") => client.cancelled(&request),
            // An error of the protocol that the status says too.
            (_, 200, message) | (Kind::Unknown, 400 | 404, message) => {
                client.answered(id, &request, message);
            }
            (_, status, body) => {
                let body = String::from_utf8_lossy(body);
                client.fail(id, &request, &format!("was answered with {status}: {body}"));
            }
        }
        Ok(true)
    }

    /// Cancels a request of the session, over another connection.
    fn cancel(&self, id: u64) -> io::Result<()> {
        let generation = Generation::Sessions;
        let method = "notifications/cancelled";
        let body = message(generation, None, method, json!({ "requestId": id }));
        let mut other = Connection::open(self.endpoint.address, PATIENCE)?;
        let status = other
            .ask(&self.post(generation, (method, None), &body))?
            .status();
        match status {
            202 => Ok(()),
            _ => Err(io::Error::other(format!("a notification got {status}"))),
        }
    }

    /// Sends something else than a message.
    fn malformed(&mut self, client: &Client<'_>) -> io::Result<()> {
        let request = self.post(
            client.generation,
            ("tools/list", None),
            r#"{"id":1,"id":1}"#,
        );
        let answer = self.connection.ask(&request)?;
        let body = String::from_utf8_lossy(&answer.body);
        match answer.status() == 400 && body.contains("-32700") {
            true => client.count("malformed", "-32700"),
            false => client.wrong(&format!("a malformed message was answered with {body}")),
        }
        Ok(())
    }

    /// Sends a request with another token.
    fn stranger(&mut self, client: &Client<'_>) -> io::Result<()> {
        let other = Endpoint {
            token: "x".repeat(43),
            ..self.endpoint.clone()
        };
        let generation = client.generation;
        let body = message(generation, Some(1), "tools/list", json!({}));
        let session = self.session.as_deref();
        let request = other.post(generation, session, ("tools/list", None), &body);
        let mut connection = Connection::open(other.address, PATIENCE)?;
        match connection.ask(&request)?.status() {
            401 => client.count("unknown token", "401"),
            status => client.wrong(&format!("an unknown token was answered with {status}")),
        }
        Ok(())
    }

    /// Ends the session, and the connection with it.
    fn end(mut self, client: &Client<'_>) -> io::Result<()> {
        let Some(session) = &self.session else {
            return Ok(());
        };
        let answer = self.connection.ask(&self.endpoint.delete(session))?;
        match answer.status() {
            200 => client.count("session", "ended"),
            status => client.wrong(&format!("the end of a session was answered with {status}")),
        }
        Ok(())
    }
}
