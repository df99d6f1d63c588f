//! The answer of the authorization server, which a browser brings to a port of loopback (RFC 8252).

use super::document::member;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::timeout;

/// The path of the redirect URI.
const PATH: &str = "/callback";

/// Maximum size of the head of a request, in bytes.
const HEAD_BYTES: usize = 16 << 10;

/// Maximum time of a request.
const TIME: Duration = Duration::from_secs(5);

/// The listener of the redirect URI.
pub(super) struct Redirect {
    listener: TcpListener,
    /// The redirect URI.
    pub(super) uri: String,
}

impl Redirect {
    /// Listens on a free port.
    pub(super) async fn listen() -> Result<Self, String> {
        let listening = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listening.map_err(|error| error.to_string())?;
        let port = listener
            .local_addr()
            .map_err(|error| error.to_string())?
            .port();
        Ok(Self {
            listener,
            uri: format!("http://127.0.0.1:{port}{PATH}"),
        })
    }

    /// Waits for the answer with a state, and returns its code. Other requests than for the redirect URI
    /// are refused and change nothing.
    pub(super) async fn code(
        &self,
        state: &str,
        issuer: &str,
        names_itself: bool,
    ) -> Result<String, String> {
        loop {
            let Ok((mut stream, _)) = self.listener.accept().await else {
                continue;
            };
            // A slow connection holds up no other.
            let Ok(Some(query)) = timeout(TIME, query(&mut stream)).await else {
                let _ = timeout(TIME, answer(&mut stream, "404 Not Found", "Not found.")).await;
                continue;
            };
            let read = code(&query, state, issuer, names_itself);
            let (status, words) = match &read {
                Ok(_) => ("200 OK", "Logged in. This page can be closed."),
                Err(_) => ("400 Bad Request", "Not logged in. The terminal says why."),
            };
            let _ = timeout(TIME, answer(&mut stream, status, words)).await;
            return read;
        }
    }
}

/// Reads the answer of the authorization server.
fn code(query: &str, state: &str, issuer: &str, names_itself: bool) -> Result<String, String> {
    if member(query, "state").as_deref() != Some(state) {
        return Err("the answer of the authorization server has another state".to_owned());
    }
    match member(query, "iss") {
        Some(named) if named != issuer => {
            return Err(format!("the answer is of another issuer, `{named}`"));
        }
        None if names_itself || query.contains("iss=") => {
            return Err("the answer does not name its issuer".to_owned());
        }
        _ => {}
    }
    if let Some(error) = member(query, "error") {
        let why = member(query, "error_description").unwrap_or_default();
        return Err(format!("the authorization server refuses: {error} {why}"));
    }
    member(query, "code").ok_or_else(|| "the answer has no code".to_owned())
}

/// Returns the query of a request for the redirect URI.
async fn query(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= HEAD_BYTES {
            return None;
        }
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    let target = head.strip_prefix("GET ")?.split(' ').next()?;
    let (path, query) = target.split_once('?')?;
    (path == PATH).then(|| query.to_owned())
}

async fn answer(
    stream: &mut (impl AsyncWrite + Unpin),
    status: &str,
    words: &str,
) -> std::io::Result<()> {
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n{words}",
        words.len()
    );
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn an_answer_is_of_this_state_and_issuer() {
        let read = |query| code(query, "s", "https://as.example", true).is_ok();
        assert!(read("code=c&state=s&iss=https%3A%2F%2Fas.example"));
        for wrong in [
            "code=c&state=x&iss=https%3A%2F%2Fas.example",
            "code=c&iss=https%3A%2F%2Fas.example",
            "code=c&state=s&state=s&iss=https%3A%2F%2Fas.example",
            "code=c&state=s&iss=https%3A%2F%2Fevil.example",
            "code=c&state=s",
            "state=s&iss=https%3A%2F%2Fas.example",
            "error=access_denied&code=c&state=s&iss=https%3A%2F%2Fas.example",
        ] {
            assert!(!read(wrong), "{wrong}");
        }
        assert!(code("code=c&state=s", "s", "https://as.example", false).is_ok());
    }
}
