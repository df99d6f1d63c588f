//! The browser of the user, who agrees at once: the authorization server of a scenario redirects without a question.

use agent_way_out::{Cancel, Limits, Method, Request, Roots, Scheme, Target, WayOut};
use std::io::{Write as _, stderr};
use std::net::{Ipv4Addr, SocketAddr};

/// Maximum number of redirects.
const REDIRECTS: usize = 3;

/// Opens a URL in the background, and follows its redirects.
pub(crate) fn open(url: &str) {
    let url = url.to_owned();
    tokio::spawn(async move {
        if let Err(message) = follow(url).await {
            // Nobody reads standard error if it can't be written.
            let _ = writeln!(stderr(), "the browser: {message}");
        }
    });
}

async fn follow(mut url: String) -> Result<(), String> {
    let way_out = WayOut::new(Roots::default());
    for _ in 0..REDIRECTS {
        let (target, path) = target(&url)?;
        let request = Request::new(Method::GET, path);
        let (limits, never) = (Limits::default(), Cancel::never());
        let sent = way_out.send(&target, request, &limits, &never);
        let response = sent.await.map_err(|error| error.message)?;
        let location = response.headers.get("location");
        match location.and_then(|it| it.to_str().ok()) {
            Some(next) => url = next.to_owned(),
            None => return Ok(()),
        }
    }
    Err("too many redirects".to_owned())
}

/// Returns the target of a URL of the loopback interface, and the path with the query.
fn target(url: &str) -> Result<(Target, String), String> {
    let unknown = || format!("`{url}` is not a URL of the loopback interface");
    let rest = url.strip_prefix("http://").ok_or_else(unknown)?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (host, port) = authority.split_once(':').ok_or_else(unknown)?;
    if !matches!(host, "localhost" | "127.0.0.1") {
        return Err(unknown());
    }
    let port = port.parse().map_err(|_| unknown())?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let target = Target::new(Scheme::Http, host, address).map_err(|error| error.message)?;
    Ok((target, format!("/{path}")))
}
