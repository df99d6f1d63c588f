//! A step with one request, compared with `curl`, from a server on loopback.

use super::carried_out::{agent, here, succeed, within};
use super::documents::Texts;
use super::{STEPS, per_step};
use crate::table::Table;
use crate::timing::shortest;
use agent_host::Engine;
use agent_operator::Operator;
use serde_json::json;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;

const RESPONSE: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 13\r\n\r\n{\"visits\": 3}";

/// Measures requests of whole processes, and of a process that runs already.
pub(super) fn measure(engine: &Engine) -> Result<Table, Box<dyn Error>> {
    let origin = serve()?;
    let url = format!("{origin}/visits");
    let texts = |steps| {
        let binding = json!({
            "driver_kind": "http", "methods": ["GET"], "destinations": [origin],
            "non_public_addresses": ["127.0.0.1"]
        });
        Texts::new(steps, binding, &json!({ "method": "GET", "url": url }))
    };
    let folder = tempfile::tempdir()?;
    let curl = |requests| {
        let mut curl = Command::new("curl");
        curl.args(["--silent", "--fail"]).args(vec![&url; requests]);
        succeed(within(curl, folder.path()));
    };
    let run_plan = || succeed(agent(folder.path(), &["run-plan", "--plan", "plan.json"]));

    let title = "a step of a plan with one request, beside curl".to_owned();
    let mut table = Table::new(title, "curl, cold", shortest(|| curl(1)));
    Texts::noop(1).write(folder.path())?;
    table.add("agent run-plan, cold: noop step", shortest(run_plan));
    texts(1).write(folder.path())?;
    table.add("agent run-plan, cold: http step", shortest(run_plan));
    table.add(
        "curl: one more request",
        per_step(STEPS, |requests| requests, curl),
    );
    let operator = Operator::default();
    let evidence = folder.path().join("evidence");
    let run = |texts| here(engine, texts, &operator, &evidence);
    let noop = per_step(STEPS, Texts::noop, run);
    table.add("host: one more noop step", noop);
    let http = per_step(STEPS, texts, run);
    table.add("host: one more http step", http);
    table.note(
        "A step of the host stores its evidence on disk. `curl` keeps its connection open; a step opens a new one."
            .to_owned(),
    );
    Ok(table)
}

/// Starts a server that answers every request alike. Returns its origin.
fn serve() -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let origin = format!("http://{}", listener.local_addr()?);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that leaves ends its connection.
            thread::spawn(move || answer(stream));
        }
    });
    Ok(origin)
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    for line in BufReader::new(stream.try_clone()?).lines() {
        if line?.is_empty() {
            stream.write_all(RESPONSE.as_bytes())?;
        }
    }
    Ok(())
}
