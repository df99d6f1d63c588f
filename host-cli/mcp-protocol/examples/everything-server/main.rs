//! The server of the conformance tests: every tool, resource and prompt that they call, by the Rust SDK.
//!
//! `everything-server http [PORT]` serves `/mcp` on the loopback interface and prints the URL.
//! `everything-server stdio` serves one client over its standard streams, as a child of a gateway.
//! `everything-server capture` prints its name and its tools, in a form that an index imports.

mod input;
mod prompts;
mod resources;
mod server;
mod state;
mod tool_definitions;
mod tools;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler as _, ServiceExt as _};
use serde_json::json;
use server::Everything;
use state::Shared;
use std::convert::Infallible;
use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["stdio"] => stdio().await,
        ["capture"] => capture(),
        ["http"] => http(0).await,
        ["http", port] => http(port.parse()?).await,
        _ => Err("usage: everything-server capture | stdio | http [PORT]".into()),
    }
}

fn capture() -> Result<(), Box<dyn Error>> {
    let server = Everything::new(Arc::new(Shared::new()));
    let capture = json!({
        "initialize": { "serverInfo": server.get_info().server_info },
        "tools/list": { "tools": tool_definitions::all() },
    });
    writeln!(std::io::stdout(), "{capture}")?;
    Ok(())
}

async fn stdio() -> Result<(), Box<dyn Error>> {
    let streams = (tokio::io::stdin(), tokio::io::stdout());
    let service = Everything::new(Arc::new(Shared::new()))
        .serve(streams)
        .await?;
    service.waiting().await?;
    Ok(())
}

async fn http(port: u16) -> Result<(), Box<dyn Error>> {
    let shared = Arc::new(Shared::new());
    let service = StreamableHttpService::new(
        move || Ok(Everything::new(Arc::clone(&shared))),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let address = listener.local_addr()?;
    writeln!(std::io::stdout(), "http://{address}/mcp")?;
    loop {
        let (stream, _) = listener.accept().await?;
        let service = service.clone();
        tokio::spawn(async move {
            let handle = service_fn(move |request| {
                let service = service.clone();
                async move { Ok::<_, Infallible>(service.handle(request).await) }
            });
            // A client may close its connection at any time.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), handle)
                .await;
        });
    }
}
