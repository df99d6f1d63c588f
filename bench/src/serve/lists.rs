//! The first list of tools, for which a gateway starts its servers.

use super::{Programs, server};
use agent_load::http::Connection;
use agent_load::message::{Generation, message};
use agent_load::project::{Gateway, Member, Project};
use agent_load::server::Server;
use serde_json::{Value, json};
use std::error::Error;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Times before the servers read their first message, in milliseconds.
const STARTS_MS: [u64; 5] = [100, 200, 300, 400, 500];

/// Number of tools of each server.
const TOOLS: usize = 10;

/// Maximum time beyond the start of the slowest server.
const TARGET: Duration = Duration::from_millis(100);

const PATIENCE: Duration = Duration::from_secs(30);

/// Measures the first list of a gateway before five servers over their standard streams.
pub(super) fn measure(programs: &Programs) -> Result<String, Box<dyn Error>> {
    let members = STARTS_MS.map(|ms| Member {
        server: Server {
            name: format!("s{ms}"),
            start: Duration::from_millis(ms),
            ..server(Generation::Stateless, TOOLS)
        },
        url: None,
    });
    let slowest = members.iter().max_by_key(|member| member.server.start);
    let own = own_start(programs, &slowest.ok_or("there are servers")?.server)?;
    let folder = tempfile::tempdir()?;
    let project = Project::new(&programs.agent, &programs.server, folder.path(), &members)?;
    let began = Instant::now();
    let gateway = Gateway::start(&project, &folder.path().join("audit.jsonl"), "")?;
    let listens = began.elapsed();
    let mut connection = Connection::open(gateway.endpoint.address, PATIENCE)?;
    let generation = Generation::Stateless;
    let body = message(generation, Some(1), "tools/list", json!({}));
    let about = ("tools/list", None);
    let request = gateway.endpoint.post(generation, None, about, &body);
    let asked = Instant::now();
    let answer = connection.ask(&request)?;
    let (listed, whole) = (asked.elapsed(), began.elapsed());
    let answer: Value = serde_json::from_slice(answer.message())?;
    let tools = answer["result"]["tools"].as_array().map_or(0, Vec::len);
    if tools != STARTS_MS.len() * TOOLS {
        return Err(format!("the list has {tools} tools").into());
    }
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    Ok(format!(
        "`tools/list`, cold, with five servers over their standard streams: {:.0} ms after the request, {:.0} ms after the \
         gateway was started, which listens after {:.0} ms. The slowest server answers {:.0} ms after its own start; the target \
         is at most {:.0} ms more.",
        ms(listed),
        ms(whole),
        ms(listens),
        ms(own),
        ms(TARGET)
    ))
}

/// Returns the time in which a server by itself answers its first list.
fn own_start(programs: &Programs, server: &Server) -> Result<Duration, Box<dyn Error>> {
    let began = Instant::now();
    let mut child = Command::new(&programs.server)
        .args(server.arguments("stdio"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().ok_or("its input is piped")?;
    let output = child.stdout.take().ok_or("its output is piped")?;
    let body = message(server.generation, Some(1), "tools/list", json!({}));
    writeln!(input, "{body}")?;
    let mut answer = String::new();
    BufReader::new(output).read_line(&mut answer)?;
    let time = began.elapsed();
    drop(input);
    child.wait()?;
    match answer.contains("tools") {
        true => Ok(time),
        false => Err(format!("the server answers {answer}").into()),
    }
}
