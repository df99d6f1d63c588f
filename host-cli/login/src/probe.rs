//! What a server requires of a client that has no token.

use super::challenge::Challenge;
use super::fetch::{Fetch, TIME};
use agent_mcp_protocol::{
    Client, Endpoint, Error, Generations, Http, HttpAnswer as _, HttpPeer, HttpRequest, Limits,
    Options, Wait,
};
use agent_way_out::HeaderMap;
use std::sync::{Arc, OnceLock};

/// What a server requires.
pub(super) struct Probed {
    /// Its first challenge.
    pub(super) challenge: Challenge,
    /// Whether it listed its tools.
    pub(super) is_open: bool,
}

/// Connects without a token and lists the tools: some servers refuse only the second request.
pub(super) async fn probe(fetch: &Fetch<'_>, url: &str) -> Result<Probed, String> {
    let trusted = [fetch.trusted];
    let found = fetch.environment.find_target(url, &trusted, TIME);
    let (target, path) = found.await?;
    let limits = agent_way_out::Limits::default();
    let way_out = fetch.environment.way_out();
    let peer = Challenged {
        endpoint: Endpoint::new(way_out, target, path, HeaderMap::new(), limits),
        first: Arc::default(),
    };
    let first = Arc::clone(&peer.first);
    let is_open = match list(peer).await {
        Ok(()) => true,
        Err(error @ (Error::Transport(_) | Error::Timeout)) => {
            return Err(format!("`{url}`: {error}"));
        }
        // Servers that answer otherwise may have metadata all the same.
        Err(_) => false,
    };
    let challenge = first.get().cloned().unwrap_or_default();
    Ok(Probed { challenge, is_open })
}

/// Lists the tools of a server.
async fn list(peer: Challenged) -> Result<(), Error> {
    let options = Options {
        name: "agent".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        generations: Generations::Both,
        limits: Limits::default(),
    };
    let wait = Wait::time(TIME);
    let mut client = Client::connect(Http::new(peer), &options, &wait).await?;
    let listed = client.list_tools(&wait).await;
    // The session ends anyway.
    let _ = client.close(&wait).await;
    listed.map(drop)
}

/// An endpoint that keeps the first challenge of its server.
struct Challenged {
    endpoint: Endpoint,
    first: Arc<OnceLock<Challenge>>,
}

impl HttpPeer for Challenged {
    type Answer = <Endpoint as HttpPeer>::Answer;

    async fn send(
        &self,
        request: HttpRequest,
        body_bytes: usize,
        wait: &Wait,
    ) -> Result<Self::Answer, Error> {
        let answer = self.endpoint.send(request, body_bytes, wait).await?;
        if matches!(answer.status(), 401 | 403) {
            let header = answer.header("www-authenticate").unwrap_or_default();
            // A later challenge is about another request.
            let _ = self.first.set(Challenge::read(header));
        }
        Ok(answer)
    }
}
