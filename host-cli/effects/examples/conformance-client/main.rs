//! The client of the conformance tests: it connects, logs in and calls as the program does.
//!
//! The suite starts it with the URL as the last argument, and names the scenario's tool calls in
//! `MCP_CONFORMANCE_CONTEXT`. Without them, it calls each tool of the list once. Where the program lets a user run
//! `agent login`, this client logs in, and takes the place of the user's browser.

mod browser;
mod calls;

use agent_effects::{Access, Connection, Resolver, Wanted};
use agent_host::{Engine, Failure, Signals, block_on};
use agent_login::Login;
use agent_mcp_protocol::{Client, Endpoint, Error, Http, Wait};
use agent_operator::{Oauth, Operator, Server, Value as Configured};
use serde_json::Value;
use std::env;
use std::io::{Write as _, stdout};
use std::time::Duration;

/// The time for each operation. The suite runs all scenarios at once, and gives each 30 s.
const WAIT: Duration = Duration::from_secs(12);
/// Maximum number of logins: one for the server, and one for what it requires later.
const LOGINS: usize = 2;
/// The name under which the operator knows the server.
const ID: &str = "server";
/// The scenario in which the client is known by the URL of its metadata.
const CLIENT_URL_SCENARIO: &str = "auth/basic-cimd";
/// That URL. The suite compares it, and no request is sent there.
const CLIENT_URL: &str = "https://conformance-test.local/client-metadata.json";

/// Why a server was not used to the end.
enum Ended {
    /// It requires a login, with scopes in addition to the kept ones.
    Login(Vec<String>),
    /// Something else.
    Failed(String),
}

fn main() -> Result<(), String> {
    let url = env::args().next_back().ok_or("the URL is missing")?;
    let context = env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".to_owned());
    let context = serde_json::from_str(&context).map_err(|error| error.to_string())?;
    let used = block_on(async { use_server(&url, &context).await });
    used.map_err(|failure| failure.message)?
}

async fn use_server(url: &str, context: &Value) -> Result<Result<(), String>, Failure> {
    let mut signals = Signals::new()?;
    let engine = Engine::embedded()?;
    let operator = operator(context);
    let access = Access::new(&operator, engine, Resolver::system(), &mut signals).await?;
    // The URLs of the suite have the host `localhost`.
    let access = access.with_local_names();
    let mut logins = 0;
    loop {
        let scopes = match calls_of(&access, url, context).await {
            Ok(()) => return Ok(Ok(())),
            Err(Ended::Login(scopes)) if logins < LOGINS => scopes,
            Err(Ended::Login(_)) => {
                return Ok(Err("the server requires too many logins".to_owned()));
            }
            Err(Ended::Failed(message)) => return Ok(Err(message)),
        };
        logins += 1;
        let scenario = env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
        let login = Login {
            id: ID,
            endpoint: url,
            scopes: &[],
            more_scopes: &scopes,
            client_id: None,
            client_url: (scenario == CLIENT_URL_SCENARIO).then_some(CLIENT_URL),
            time: WAIT,
        };
        let done = login.run(&access, &mut signals, browser::open).await?;
        if let Err(message) = done {
            return Ok(Err(message));
        }
    }
}

/// Returns the operator's configuration: the client that the scenario has registered, if there is one.
fn operator(context: &Value) -> Operator {
    let text = |key: &str| context[key].as_str().map(str::to_owned);
    let mut operator = Operator::default();
    if let (Some(issuer), Some(id), Some(secret)) =
        (text("issuer"), text("client_id"), text("client_secret"))
    {
        let oauth = Oauth {
            scopes: None,
            issuer: Some(issuer),
            client_id: Some(id),
            client_secret: Some(Configured::literal(secret)),
        };
        let server = Server {
            oauth,
            ..Server::default()
        };
        operator.servers.insert(ID.to_owned(), server);
    }
    operator
}

/// Connects, lists the tools and calls them.
async fn calls_of(access: &Access, url: &str, context: &Value) -> Result<(), Ended> {
    let wanted = Wanted {
        id: ID,
        version: "",
        endpoint: url,
        time: WAIT,
    };
    let connected = access.connect_to(wanted).await;
    let connected = connected.map_err(|error| match error.message.contains("`agent login") {
        true => Ended::Login(Vec::new()),
        false => Ended::Failed(error.message),
    })?;
    let Connection::Http(mut client) = connected.connection else {
        return Err(Ended::Failed("the server is not one of HTTP".to_owned()));
    };
    let called = call_all(&mut client, context).await;
    let closed = client.close(&Wait::time(WAIT)).await;
    called?;
    closed.map_err(|error| ended(&error))
}

async fn call_all(client: &mut Client<Http<Endpoint>>, context: &Value) -> Result<(), Ended> {
    let list = client.list_tools(&Wait::time(WAIT)).await;
    let list = list.map_err(|error| ended(&error))?;
    let list: Value = serde_json::from_str(list.json.as_str())
        .map_err(|error| Ended::Failed(error.to_string()))?;
    for (name, arguments) in calls::of(&list, context) {
        let arguments = arguments.to_string();
        let wait = Wait::time(WAIT);
        let called = client.call_tool(&name, arguments.as_bytes(), &wait);
        let line = match called.await {
            Ok(result) => format!("{name}: {}", result.as_str()),
            Err(error) => match ended(&error) {
                login @ Ended::Login(_) => return Err(login),
                // The suite judges the requests that it received. Another failed call decides nothing.
                Ended::Failed(message) => format!("{name}: {message}"),
            },
        };
        // Nobody reads standard output if it can't be written.
        let _ = writeln!(stdout(), "{line}");
    }
    Ok(())
}

fn ended(error: &Error) -> Ended {
    match error {
        Error::Scopes(scopes) => Ended::Login(scopes.split(' ').map(str::to_owned).collect()),
        Error::Status(401) => Ended::Login(Vec::new()),
        error => Ended::Failed(error.to_string()),
    }
}
