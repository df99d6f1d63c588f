//! What the tests start: a supervisor, or a process that applies batches until it is killed.

use agent_tasks::{Change, SourcePath, TaskId, Tasks};
use agent_way_out::{Gate, Proxy, ProxyLimits, Resolver};
use std::env;
use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match &arguments[..] {
        [verb] if verb == "supervise" => {
            agent_tasks::supervise(io::stdin(), |hosts| Ok(proxy(hosts)))?
        }
        [verb, root, id, files] if verb == "apply" => apply(root, id, files.parse()?)?,
        _ => return Err("unknown arguments".into()),
    }
    Ok(())
}

/// Returns a proxy to listed hosts, at whatever address.
fn proxy(hosts: Vec<String>) -> Proxy {
    let limits = ProxyLimits {
        refusals: 64,
        ..ProxyLimits::default()
    };
    Proxy::new(Listed(hosts), Resolver::system(), limits)
}

/// Decides by a list alone.
struct Listed(Vec<String>);

impl Gate for Listed {
    fn admit(&mut self, wanted: &str) -> Result<(String, u16), String> {
        let (host, port) = wanted.rsplit_once(':').ok_or("no port")?;
        match self.0.iter().any(|it| it == wanted) {
            true => Ok((host.to_owned(), port.parse().map_err(|_| "no port")?)),
            false => Err(format!("`{wanted}` is not listed")),
        }
    }

    fn authorize(&mut self, _: &str, addresses: &[IpAddr]) -> Result<Vec<IpAddr>, String> {
        Ok(addresses.to_vec())
    }
}

/// Applies batches without end. In each, all files have the same content, some are in new folders.
fn apply(root: &str, id: &str, files: u32) -> Result<(), Box<dyn Error>> {
    let source = Tasks::open(Path::new(root))?
        .task(&TaskId::parse(id)?)?
        .source()?;
    let first = source.batches()?.last().map_or(0, |last| *last);
    for number in first + 1.. {
        let path = |file: u32| match file % 3 {
            0 => format!("file{file}"),
            1 => format!("folder{file}/inner/file"),
            _ => format!("batch{number}/file{file}"),
        };
        let change = |file| {
            Ok(Change::Write {
                path: SourcePath::parse(&path(file))?,
                content: number.to_string().into_bytes(),
                mode: 0o644,
            })
        };
        let changes: Result<Vec<_>, agent_tasks::Error> = (0..files).map(change).collect();
        source.apply(changes?)?;
    }
    Ok(())
}
