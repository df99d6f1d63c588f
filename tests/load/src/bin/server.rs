//! A server of the soak test and of measurements: `agent-load-server stdio|http NAME GENERATION ECHOES START_MS [PORT]`.
//!
//! `ECHOES` is the number of its tools. With `+` behind it, the server also has the odd ones. Over HTTP it prints
//! its URL first.

use agent_load::message::Generation;
use agent_load::server::Server;
use std::error::Error;
use std::io::Write as _;
use std::net::TcpListener;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [transport, name, generation, echoes, start, port @ ..] = &arguments[..] else {
        return Err(
            "usage: agent-load-server stdio|http NAME GENERATION ECHOES START_MS [PORT]".into(),
        );
    };
    let server = Server {
        name: (*name).to_owned(),
        generation: match *generation {
            "sessions" => Generation::Sessions,
            _ => Generation::Stateless,
        },
        echoes: echoes.trim_end_matches('+').parse()?,
        is_odd: echoes.ends_with('+'),
        start: Duration::from_millis(start.parse()?),
    };
    if *transport == "stdio" {
        return Ok(server.serve_stdio()?);
    }
    let port = port.first().copied().unwrap_or("0").parse()?;
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    let address = listener.local_addr()?;
    writeln!(std::io::stdout(), "http://{address}/mcp")?;
    server.serve_http(&listener);
    Ok(())
}
