//! The registries of the tests, and their network.
use agent_packages::{
    AppPackages, Network, Registry, Requirement, Requirements, Resolved, Version,
};
use agent_sandbox::{Command, Exit, Limits, Mount, Sandbox};
use agent_way_out::{Gate, Lookup, Proxy, ProxyLimits, Resolver};
use std::collections::BTreeMap;
use std::future;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Admits what is listed, at any address. The engine, which decides elsewhere, is not part of these tests.
struct Listed(Vec<String>);

impl Gate for Listed {
    fn admit(&mut self, wanted: &str) -> Result<(String, u16), String> {
        let (host, port) = wanted.rsplit_once(':').ok_or("no port")?;
        match self.0.iter().any(|it| it == wanted) {
            true => Ok((host.to_owned(), port.parse().unwrap())),
            false => Err(format!("`{wanted}` is not listed")),
        }
    }

    fn authorize(&mut self, _: &str, addresses: &[IpAddr]) -> Result<Vec<IpAddr>, String> {
        Ok(addresses.to_vec())
    }
}

/// Returns the network of the configured registries, and more hosts.
pub(crate) fn registries<const N: usize>(more: [String; N]) -> Network {
    network(Resolver::system, more.to_vec())
}

/// Returns the network of the configured registries, one of which is a host of this name on loopback.
pub(crate) fn registries_at(host: &'static str) -> Network {
    let resolver = move || Resolver::new(Loopback(host), Duration::from_secs(1));
    network(resolver, Vec::new())
}

fn network(resolver: impl Fn() -> Resolver + 'static, more: Vec<String>) -> Network {
    Network::Registries {
        resolver: resolver(),
        proxy: Box::new(move |hosts| {
            let limits = ProxyLimits::default();
            Ok(Proxy::new(Listed(hosts), resolver(), limits))
        }),
        more,
    }
}

/// The name of a host on loopback.
struct Loopback(&'static str);

impl Lookup for Loopback {
    fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        match name == self.0 {
            true => Ok(vec![Ipv4Addr::LOCALHOST.into()]),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// Returns requirements by names and versions, where a version begins with a digit, and any other text is a range.
pub(crate) fn required<const N: usize>(
    registry: Registry,
    list: [(&str, Option<&str>); N],
) -> Requirements {
    let list = list.map(|(name, version)| {
        let version = match version {
            None => Version::Any,
            Some(text) if text.starts_with(|c: char| c.is_ascii_digit()) => {
                Version::Exact(text.to_owned())
            }
            Some(range) => Version::Range(range.to_owned()),
        };
        Requirement::new(name, version)
    });
    Requirements::new(registry, list.into()).unwrap()
}

/// Serves files on loopback, by their paths without the first `/`. Returns the port.
pub(crate) fn site(files: impl FnOnce(u16) -> BTreeMap<String, Vec<u8>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let files = Arc::new(files(port));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let files = Arc::clone(&files);
            thread::spawn(move || answer(stream, &files));
        }
    });
    port
}

fn answer(mut stream: TcpStream, files: &BTreeMap<String, Vec<u8>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        match reader.read_line(&mut head) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
    let path = head.split(' ').nth(1).unwrap_or_default();
    let found = files.get(path.trim_start_matches('/'));
    let (status, body) = match found {
        Some(body) => ("200 OK", &body[..]),
        None => ("404 Not Found", &b""[..]),
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body);
}

/// Sets variables of the environment. Each test runs in a separate process.
pub(crate) fn set_environment<const N: usize>(variables: [(&str, &str); N]) {
    for (name, value) in variables {
        #[expect(unsafe_code, reason = "the process has no other thread that reads it")]
        // SAFETY: nextest runs each test in a separate process, and no client is started yet.
        unsafe {
            std::env::set_var(name, value);
        }
    }
}

/// Returns the packages of a closure with their versions.
pub(crate) fn closure(resolved: &Resolved) -> Vec<String> {
    let items = resolved.closure().iter();
    items
        .map(|it| format!("{} {}", it.name(), it.version))
        .collect()
}

/// Runs the program of an app in its folder, in the sandbox and without a network. Returns what it prints, or its errors.
pub(crate) async fn ran<const N: usize, const M: usize>(
    app: &AppPackages,
    sandbox: &Sandbox,
    folder: &Path,
    arguments: [&str; N],
    variables: [(&str, &str); M],
) -> Result<String, String> {
    let mut command = Command::new(&app.program);
    command.arguments = arguments.map(Into::into).into();
    command.cwd = Some(folder.to_owned());
    command.write = vec![folder.to_owned()];
    command.read.extend(app.runtime.clone());
    let programs = app.program.parent().unwrap().display();
    let path = format!("{programs}:/usr/bin:/bin");
    let own = app.env.iter().map(|(name, value)| (&**name, &**value));
    let all = own.chain(variables).chain([("PATH", &*path)]);
    command.env = all
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    for (inside, folder) in &app.folders {
        let (folder, writable) = (folder.clone(), false);
        command
            .mounts
            .insert(inside.clone(), Mount { folder, writable });
    }
    let limits = Limits {
        memory_bytes: 4 << 30,
        file_bytes: 1 << 30,
        processes: 256,
        wall_time: Some(Duration::from_secs(120)),
        ..Limits::default()
    };
    let ended = sandbox.run(command, Vec::new(), limits, future::pending());
    let ended = ended.await.unwrap();
    match ended.exit {
        Exit::Code(0) => Ok(String::from_utf8(ended.stdout).unwrap()),
        _ => Err(String::from_utf8_lossy(&ended.stderr.bytes).into_owned()),
    }
}
