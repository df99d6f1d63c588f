//! A project whose lock has many servers, and gateways that serve it.

use crate::message::Endpoint;
use crate::server::Server;
use serde_json::{Map, Value, json};
use std::error::Error;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// The servers that the gateway starts. Of others, the index has the URL.
pub const OPERATOR: &str = "servers.local.yaml";

/// Why a project can't be written or served.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A server of a project.
#[derive(Debug, Clone)]
pub struct Member {
    /// The server.
    pub server: Server,
    /// Its URL; `None` if the gateway starts it.
    pub url: Option<String>,
}

/// A folder with a lock.
#[derive(Debug)]
pub struct Project {
    /// The folder.
    pub folder: PathBuf,
    /// The program `agent`.
    pub agent: PathBuf,
}

impl Project {
    /// Writes the documents of a project with these servers into a folder, and locks them. `program` is the server
    /// that the gateway starts.
    ///
    /// # Errors
    ///
    /// When a file can't be written, or the lock can't be made.
    pub fn new(agent: &Path, program: &Path, folder: &Path, members: &[Member]) -> Result<Self> {
        let project = Self {
            folder: folder.to_owned(),
            agent: agent.to_owned(),
        };
        let index: Vec<_> = members.iter().map(entry).collect();
        let mut manifest = "---\nname: load\nversion: 1.0.0\nrequires:\n  mcp:\n".to_owned();
        let mut operator = "servers:\n".to_owned();
        for member in members {
            let name = &member.server.name;
            manifest.push_str(&format!(
                "    - category: of-{name}\n      permissions: []\n"
            ));
            if member.url.is_none() {
                let program = program.display();
                let arguments = member.server.arguments("stdio").join("', '");
                operator.push_str(&format!(
                    "  {name}:\n    command: ['{program}', '{arguments}']\n    read: ['{program}']\n"
                ));
            }
        }
        if operator.lines().count() == 1 {
            operator = "servers: {}\n".to_owned();
        }
        manifest.push_str("---\n");
        let write = |name: &str, text: &str| fs::write(folder.join(name), text);
        write("agents.md", &manifest)?;
        write("mcp.index.json", &Value::from(index).to_string())?;
        write(OPERATOR, &operator)?;
        // The configuration is refused if other users could change it.
        fs::set_permissions(folder.join(OPERATOR), fs::Permissions::from_mode(0o600))?;
        let resolved = project.command("resolve --quiet").status()?;
        match resolved.success() {
            true => Ok(project),
            false => Err(format!("`agent resolve`: {resolved}").into()),
        }
    }

    /// Returns a call of `agent` in the folder.
    #[must_use]
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.agent);
        command
            .current_dir(&self.folder)
            .args(line.split_whitespace())
            .env("XDG_STATE_HOME", self.folder.join("state"))
            .stdin(Stdio::null());
        command
    }
}

/// A gateway over HTTP.
#[derive(Debug)]
pub struct Gateway {
    /// Its process.
    pub child: Child,
    /// Where clients reach it.
    pub endpoint: Endpoint,
    /// It stays open: a gateway may print more.
    _output: BufReader<ChildStdout>,
}

impl Gateway {
    /// Starts a gateway, and waits until it listens. Its messages go to a file of the folder.
    ///
    /// # Errors
    ///
    /// When it does not start.
    pub fn start(project: &Project, audit: &Path, options: &str) -> Result<Self> {
        let token = project.folder.join("token");
        let line = format!("serve --http 127.0.0.1:0 --servers {OPERATOR} --token-file token");
        let mut command = project.command(&format!("{line} {options}"));
        let messages = fs::File::create(project.folder.join("gateway.log"))?;
        let mut child = command
            .arg("--audit")
            .arg(audit)
            .stdout(Stdio::piped())
            .stderr(messages)
            .spawn()?;
        let output = child.stdout.take().ok_or("standard output was piped")?;
        let mut output = BufReader::new(output);
        let mut url = String::new();
        output.read_line(&mut url)?;
        let token = fs::read_to_string(token).map_err(|_| "the gateway did not start");
        let endpoint = endpoint(&url, token?.trim());
        let endpoint = endpoint.ok_or("the gateway printed no URL")?;
        Ok(Self {
            child,
            endpoint,
            _output: output,
        })
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the endpoint of a URL such as `http://127.0.0.1:1/mcp`.
#[must_use]
pub fn endpoint(url: &str, token: &str) -> Option<Endpoint> {
    let (address, path) = url.trim().strip_prefix("http://")?.split_once('/')?;
    Some(Endpoint {
        address: address.parse().ok()?,
        path: format!("/{path}"),
        token: token.to_owned(),
    })
}

/// Returns the entry of a server in the index.
fn entry(member: &Member) -> Value {
    let name = &member.server.name;
    let tools = member.server.tools().into_iter().map(|mut tool| {
        let name = tool["name"].take();
        if let Some(tool) = tool.as_object_mut() {
            tool.remove("name");
        }
        (name.as_str().unwrap_or_default().to_owned(), tool)
    });
    let tools: Map<_, _> = tools.collect();
    let package = format!("pkg:generic/{name}@1.0.0");
    json!({
        "id": name, "version": "1.0.0", "endpoint": member.url.as_ref().unwrap_or(&package),
        "categories": [format!("of-{name}")], "scopes": [],
        "data": { "residency": "any", "maxSensitivity": "public" },
        "trust": { "signed": true, "publisher": "Tests" },
        "capabilities": { "tools": tools },
    })
}
