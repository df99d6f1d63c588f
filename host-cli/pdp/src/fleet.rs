//! `agent fleet status`: what the instances of a fleet decide by.

use super::args::{Fleet, FleetStatus, Format};
use super::server::usual_socket;
use agent_host::input::reason;
use agent_host::{Failure, output};
use agent_mcp_server::read_body;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{boolean, member, number, string};
use bytes::Bytes;
use hyper::client::conn::http1::handshake;
use hyper::header::HOST;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::time::timeout;

/// Maximum time of an instance's answer.
const TIME: Duration = Duration::from_secs(5);

/// Maximum size of an instance's answer, in bytes.
const STATUS_BYTES: usize = 64 << 10;

/// What an instance says.
struct Instance {
    socket: String,
    /// The answer, or why there is none.
    status: Result<Status, String>,
}

/// What an instance decides by.
#[derive(Debug, PartialEq, Eq)]
struct Status {
    decides: bool,
    /// The digest of its bundle, or of its lock.
    digest: String,
    /// The name, the sequence and the end of its bundle.
    bundle: Option<(String, u64, String)>,
    /// The version of its program.
    version: String,
}

/// Runs a command about a fleet. Returns whether every instance decides.
///
/// # Errors
///
/// When there is no usual socket, or standard output is closed.
pub(crate) async fn run(command: &Fleet) -> Result<bool, Failure> {
    let Fleet::Status(FleetStatus { sockets, format }) = command;
    let sockets = match sockets.is_empty() {
        true => vec![usual_socket()?],
        false => sockets.clone(),
    };
    let mut instances = Vec::new();
    for socket in sockets {
        instances.push(Instance {
            status: asked(&socket).await,
            socket: socket.display().to_string(),
        });
    }
    output::print_data(&match format {
        Format::Text => text(&instances),
        Format::Json => json(&instances),
    })?;
    let decides = |it: &Instance| it.status.as_ref().is_ok_and(|it| it.decides);
    Ok(instances.iter().all(decides))
}

/// Asks an instance.
async fn asked(socket: &Path) -> Result<Status, String> {
    let answered = timeout(TIME, answer(socket)).await;
    let answered = answered.map_err(|_| format!("no answer within {} s", TIME.as_secs()))?;
    let answer = answered.map_err(|error| reason(&error).to_string())?;
    let unknown = || "another program answers".to_owned();
    let text = str::from_utf8(&answer).map_err(|_| unknown())?;
    read(text).ok_or_else(unknown)
}

async fn answer(socket: &Path) -> io::Result<Bytes> {
    let stream = UnixStream::connect(socket).await?;
    let (mut sender, connection) = handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    let request = Request::get("/v1/status").header(HOST, "localhost");
    let request = request.body(String::new()).map_err(io::Error::other)?;
    let exchange = async {
        let response = sender.send_request(request).await;
        let response = response.map_err(io::Error::other)?;
        if response.status() != StatusCode::OK {
            let status = response.status();
            return Err(io::Error::other(format!("it answers with status {status}")));
        }
        let body = read_body(response.into_body(), STATUS_BYTES, TIME).await;
        body.map_err(|(_, why)| io::Error::other(why))
    };
    tokio::select! {
        answer = exchange => answer,
        Err(error) = connection => Err(io::Error::other(error)),
    }
}

/// Reads the answer of `/v1/status`.
fn read(text: &str) -> Option<Status> {
    let root = parse_strict(text)?;
    let of_bundle = |bundle| {
        let text = |name| member(bundle, name).and_then(string);
        let sequence = member(bundle, "sequence").and_then(number)?;
        let about = (
            text("name")?.to_owned(),
            sequence,
            text("until")?.to_owned(),
        );
        Some((text("digest")?.to_owned(), about))
    };
    let bundle = member(&root, "bundle").map(of_bundle);
    let (digest, bundle) = match bundle {
        Some(bundle) => {
            let (digest, about) = bundle?;
            (digest, Some(about))
        }
        None => {
            let lock = member(member(&root, "documents")?, "lock").and_then(string)?;
            (lock.to_owned(), None)
        }
    };
    Some(Status {
        decides: member(&root, "decides").and_then(boolean)?,
        digest,
        bundle,
        version: member(&root, "version").and_then(string)?.to_owned(),
    })
}

/// Returns each digest that decides somewhere, with the number of its instances, in order of first appearance.
fn live(instances: &[Instance]) -> Vec<(&str, usize)> {
    let mut live: Vec<(&str, usize)> = Vec::new();
    let answers = instances.iter().filter_map(|it| it.status.as_ref().ok());
    for status in answers.filter(|it| it.decides) {
        match live.iter_mut().find(|(digest, _)| *digest == status.digest) {
            Some((_, count)) => *count += 1,
            None => live.push((&status.digest, 1)),
        }
    }
    live
}

fn text(instances: &[Instance]) -> String {
    let mut text = String::new();
    for Instance { socket, status } in instances {
        let said = match status {
            Err(why) => format!("no answer: {why}"),
            Ok(status) => {
                let decides = if status.decides {
                    "decides"
                } else {
                    "decides nothing"
                };
                let digest = &status.digest;
                match &status.bundle {
                    Some((name, sequence, end)) => {
                        format!(
                            "{decides}: bundle {name}, sequence {sequence}, until {end}, {digest}"
                        )
                    }
                    None => format!("{decides}: lock {digest}"),
                }
            }
        };
        text.push_str(&format!("{socket}: {said}\n"));
    }
    let live = live(instances);
    if live.len() > 1 {
        text.push_str(&format!("{} are live:\n", live.len()));
        for (digest, count) in live {
            text.push_str(&format!("  {digest}, {count} of {}\n", instances.len()));
        }
    }
    text
}

fn json(instances: &[Instance]) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("instances").array(|w| {
            for instance in instances {
                w.object(|w| write_instance(w, instance));
            }
        });
        w.key("live").array(|w| {
            for (digest, count) in live(instances) {
                w.object(|w| {
                    w.key("digest").string(digest);
                    w.key("instances").json(&count.to_string());
                });
            }
        });
    });
    w.finish()
}

fn write_instance(w: &mut Writer, Instance { socket, status }: &Instance) {
    match status {
        Err(why) => w.key("error").string(why),
        Ok(Status {
            decides,
            digest,
            bundle,
            version,
        }) => {
            if let Some((name, sequence, end)) = bundle {
                w.key("bundle").object(|w| {
                    w.key("name").string(name);
                    w.key("sequence").json(&sequence.to_string());
                    w.key("until").string(end);
                });
            }
            w.key("decides").bool(*decides);
            w.key("digest").string(digest);
            w.key("socket").string(socket);
            w.key("version").string(version);
            return;
        }
    }
    w.key("socket").string(socket);
}
