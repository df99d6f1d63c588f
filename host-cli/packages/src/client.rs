//! The client of a registry, in the sandbox with the network of the registries.

use crate::{Error, Network};
use agent_sandbox::{
    Child, Command, Exit, Limits, Log, Network as Reach, PROXY_PORT, RunError, Sandbox,
};
use agent_way_out::{Proxy, Refusal, Serving};
use serde::Deserialize;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};
use tokio::io::{AsyncReadExt as _, copy, sink};

/// Characters of a client's last lines in a message.
const MESSAGE_CHARS: usize = 600;

/// Maximum number of bytes that are kept of what a client prints.
const OUTPUT_MAX: usize = 4 << 20;

/// The folders in which a client finds other programs.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Variables that lead to the network, for a client that has that of the machine.
const PROXIES: [&str; 3] = ["http_proxy", "https_proxy", "no_proxy"];

/// What to do about a refused connection.
const MORE_HOSTS: &str = "pass `--allow-host HOST:PORT` for each destination that you trust, or \
                          `--network host` for all";

/// What to do about a registry that can't be reached.
const CONNECTION: &str =
    "check the network and the address of the registry in your configuration, then repeat this";

/// What to do without the tier that limits the network.
const HOST_NETWORK: &str =
    "install bubblewrap, or pass `--network host` to give the client the network of the machine";

/// Variables that name a file of certificates, without which a client behind a proxy reaches no registry.
const CERTIFICATES: [&str; 5] = [
    "curl_ca_bundle",
    "node_extra_ca_certs",
    "pip_cert",
    "requests_ca_bundle",
    "ssl_cert_file",
];

/// A call of a client.
pub(crate) struct RegistryClient {
    name: &'static str,
    /// What it does with a package, in messages.
    purpose: &'static str,
    command: Command,
    /// URLs that it may reach in addition to the registries, if their hosts are public.
    more: Vec<String>,
}

impl RegistryClient {
    /// Returns a call that may write one folder.
    pub(crate) fn new(name: &'static str, program: PathBuf, folder: &Path) -> Self {
        let mut command = Command::new(program);
        command.write = vec![folder.to_owned()];
        command.env.insert("PATH".into(), PATH.into());
        Self {
            name,
            purpose: "install",
            command,
            more: Vec::new(),
        }
    }

    /// Names what the client does with a package, where it does not install one.
    pub(crate) fn purpose(&mut self, purpose: &'static str) {
        self.purpose = purpose;
    }

    pub(crate) fn arguments<const N: usize>(&mut self, arguments: [&str; N]) {
        self.command.arguments.extend(arguments.map(OsString::from));
    }

    pub(crate) fn argument(&mut self, argument: impl Into<OsString>) {
        self.command.arguments.push(argument.into());
    }

    /// Runs the client in a folder that it may read.
    pub(crate) fn within(&mut self, folder: PathBuf) {
        self.command.cwd = Some(folder);
    }

    /// Sets a variable of the client's environment.
    pub(crate) fn variable(&mut self, name: &str, value: impl Into<OsString>) {
        self.command.env.insert(name.into(), value.into());
    }

    /// Lets the client reach a URL that a registry names.
    pub(crate) fn reach(&mut self, url: String) {
        self.more.push(url);
    }

    /// Lets the client read a folder or a file.
    pub(crate) fn read(&mut self, path: PathBuf) {
        self.command.read.push(path);
    }

    /// Names the user's configuration of the client, if it exists.
    pub(crate) fn configuration(&mut self, variable: &str, path: Option<PathBuf>) {
        if let Some(path) = path.filter(|path| path.is_file()) {
            self.command
                .env
                .insert(variable.into(), path.clone().into());
            self.read(path);
        }
    }

    /// Passes variables of the environment on, by their names in lower case, and those of certificates. The
    /// client may read the files of certificates.
    pub(crate) fn pass(&mut self, is_passed: impl Fn(&str) -> bool) {
        for (name, value) in env::vars_os() {
            let lower = name.to_string_lossy().to_ascii_lowercase();
            let path = Path::new(&value);
            if CERTIFICATES.contains(&&*lower) && path.is_file() {
                self.read(path.to_owned());
            } else if !is_passed(&lower) {
                continue;
            }
            self.command.env.insert(name, value);
        }
    }

    /// Runs the client, which must succeed. It reaches `registries`, or the whole network of the machine.
    /// Variables of `proxied` name the proxy, where the client's configuration could name another one.
    pub(crate) async fn run(
        self,
        package: &impl Display,
        sandbox: &Sandbox,
        network: &Network,
        registries: &[String],
        proxied: &[&str],
    ) -> Result<(), Error> {
        let run = self.output(package, sandbox, network, registries, proxied);
        run.await.map(drop)
    }

    /// Does the same, and returns what the client prints on its standard output, at most [`OUTPUT_MAX`] bytes.
    pub(crate) async fn output(
        mut self,
        package: &impl Display,
        sandbox: &Sandbox,
        network: &Network,
        registries: &[String],
        proxied: &[&str],
    ) -> Result<Vec<u8>, Error> {
        let (name, purpose) = (self.name, self.purpose);
        let failed = |why: String| Error::new(format!("{name} can't {purpose} `{package}`: {why}"));
        let proxy = network.proxy(registries, &self.more).await?;
        match &proxy {
            Some(_) => {
                self.command.network = Reach::Proxy;
                let address = format!("http://127.0.0.1:{PROXY_PORT}");
                for variable in proxied {
                    self.command
                        .env
                        .insert(variable.into(), address.clone().into());
                }
            }
            None => {
                self.command.network = Reach::Host;
                self.pass(|name| PROXIES.contains(&name));
            }
        }
        let child = sandbox.spawn(self.command, limits()).await;
        let child = child.map_err(|error| match network {
            Network::Registries { .. } => failed(error.to_string()).with_help(HOST_NETWORK),
            Network::Host => failed(error.to_string()),
        })?;
        let Ended {
            exit,
            output,
            refusals,
        } = ended(child, proxy).await.map_err(&failed)?;
        let (exit, log) = exit.map_err(|error| failed(error.to_string()))?;
        if exit == Exit::Code(0) {
            return Ok(output);
        }
        // Some clients say on their standard output what went wrong.
        let said = if log.bytes.is_empty() {
            output
        } else {
            log.bytes
        };
        let log = String::from_utf8_lossy(&said).into_owned();
        let start = log.char_indices().rev().nth(MESSAGE_CHARS);
        let end = log[start.map_or(0, |(at, _)| at)..].trim();
        let error = |refused: &str| failed(format!("{exit}\n{end}{refused}"));
        if refusals.is_empty() {
            return Err(error(""));
        }
        let refused = refusals
            .iter()
            .map(|it| format!("\nnetwork: {}", it.message));
        let error = error(&refused.collect::<String>());
        // A registry may name a destination that is denied; one that fails is the registry's own or one that it names.
        match refusals.iter().any(|it| it.is_denied) {
            true => Err(error.with_help(MORE_HOSTS)),
            false => Err(error.with_help(CONNECTION).unreachable()),
        }
    }
}

/// How a client ended.
struct Ended {
    exit: Result<(Exit, Log), RunError>,
    /// The start of what it printed, at most [`OUTPUT_MAX`] bytes.
    output: Vec<u8>,
    /// Why connections were refused.
    refusals: Vec<Refusal>,
}

/// Waits for the end of a client, and serves its connections meanwhile.
async fn ended(mut child: Child, proxy: Option<Proxy>) -> Result<Ended, String> {
    let serving = proxy.zip(child.proxy.take());
    let serving = serving.map(|(proxy, listener)| proxy.start(listener));
    let serving = serving.transpose().map_err(|error| error.to_string())?;
    let printed = child.stdout.take().map(|mut stdout| {
        tokio::spawn(async move {
            let mut output = Vec::new();
            let mut start = (&mut stdout).take(OUTPUT_MAX as u64);
            let _ = start.read_to_end(&mut output).await;
            // It must be able to print more.
            let _ = copy(&mut stdout, &mut sink()).await;
            output
        })
    });
    let exit = child.wait().await;
    let output = match printed {
        Some(printed) => printed.await.map_err(|error| error.to_string())?,
        None => Vec::new(),
    };
    let refusals = serving.as_ref().map(Serving::refusals);
    Ok(Ended {
        exit,
        output,
        refusals: refusals.unwrap_or_default(),
    })
}

fn limits() -> Limits {
    Limits {
        wall_time: Some(Duration::from_secs(600)),
        cpu_time: Some(Duration::from_secs(600)),
        memory_bytes: 2 << 30,
        processes: 256,
        file_bytes: 1 << 30,
        open_files: 4096,
        ..Limits::default()
    }
}

/// Returns whether a program is in the folders of `PATH`.
#[must_use]
pub fn has_client(name: &str) -> bool {
    program(name).is_ok()
}

/// Returns the path of a program in the folders of `PATH`.
pub(crate) fn program(name: &str) -> Result<PathBuf, Error> {
    let folders = env::var_os("PATH").unwrap_or_default();
    let mut found = env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name));
    found
        .find(|path| path.is_file())
        .ok_or_else(|| Error::new(format!("there is no program `{name}`")))
}

/// Reads a file of JSON.
pub(crate) fn read<T: for<'d> Deserialize<'d>>(path: &Path) -> Result<T, Error> {
    let text = fs::read(path).map_err(Error::file(path))?;
    serde_json::from_slice(&text)
        .map_err(|error| Error::new(format!("`{}`: {error}", path.display())))
}

/// Writes a file that a client reads.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(Error::file(path))
}
