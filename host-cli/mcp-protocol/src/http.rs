//! The transport over streamable HTTP.

use crate::client::Client;
use crate::error::{Error, Excess};
use crate::header_value::header_value;
use crate::http_peer::{HttpAnswer, HttpMethod, HttpPeer, HttpRequest};
use crate::inbox::{Inbox, Received};
use crate::limits::{FAREWELL, RESUMPTIONS, RETRY, SESSION_ID_BYTES};
use crate::message::write_notification;
use crate::sse::Decoder;
use crate::transport::{Outgoing, RpcAnswer, Transport};
use crate::version::{Generation, Version};
use crate::wait::Wait;
use bytes::{Bytes, BytesMut};
use tokio::time::sleep;

/// Maximum number of bytes of the stream of one answer, with comments and framing.
const STREAM_BYTES: usize = 64 << 20;
/// Maximum number of bytes of the response to a notification.
const RECEIPT_BYTES: usize = 64 << 10;

/// Number of bits for the ids of the requests of one client of a session.
const FORK_BITS: u32 = 32;

/// Maximum number of characters of missing scopes in a message.
const SCOPES_CHARS: usize = 200;
/// The error of a stream that ended too early.
const ENDED: Error = Error::Closed("the stream ended before the answer");

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION_ID: &str = "mcp-session-id";

/// Messages as requests of HTTP to one endpoint.
#[derive(Debug)]
pub struct Http<P> {
    peer: P,
    /// The session's id, if the server opened one.
    session: Option<String>,
    /// The version of the last request.
    version: Option<Version>,
}

impl<P: HttpPeer> Http<P> {
    /// Returns a transport to an endpoint.
    pub fn new(peer: P) -> Self {
        Self {
            peer,
            session: None,
            version: None,
        }
    }

    /// Returns a transport of the same session.
    fn fork(&self) -> Self
    where
        P: Clone,
    {
        Self {
            peer: self.peer.clone(),
            session: self.session.clone(),
            version: self.version,
        }
    }

    /// Returns the headers of every request.
    fn headers(&self, version: Option<Version>, accept: &str) -> Vec<(String, String)> {
        let mut headers = vec![("accept".to_owned(), accept.to_owned())];
        if let Some(version) = version {
            headers.push(("mcp-protocol-version".to_owned(), version.name().to_owned()));
        }
        if let Some(session) = &self.session {
            headers.push((SESSION_ID.to_owned(), session.clone()));
        }
        headers
    }

    async fn post(
        &self,
        frame: String,
        version: Option<Version>,
        more: Vec<(String, String)>,
        body_bytes: usize,
        wait: &Wait,
    ) -> Result<P::Answer, Error> {
        let mut headers = self.headers(version, &format!("{JSON}, {EVENTS}"));
        headers.push(("content-type".to_owned(), JSON.to_owned()));
        headers.extend(more);
        let request = HttpRequest {
            method: HttpMethod::Post,
            headers,
            body: frame.into(),
        };
        self.peer.send(request, body_bytes, wait).await
    }

    /// Sends a message without an answer, and returns the status.
    async fn deliver(
        &self,
        frame: String,
        version: Option<Version>,
        wait: &Wait,
    ) -> Result<u16, Error> {
        let sent = self.post(frame, version, Vec::new(), RECEIPT_BYTES, wait);
        let mut receipt = sent.await?;
        let status = receipt.status();
        // The connection can be used again at the end of the body. Its content has no meaning.
        if (200..300).contains(&status) {
            let _ = receipt.chunk().await;
        }
        Ok(status)
    }

    async fn request(
        &mut self,
        request: &Outgoing<'_>,
        inbox: &mut Inbox,
        wait: &Wait,
    ) -> Result<RpcAnswer, Error> {
        self.version = request.version;
        let mut mirrored = Vec::new();
        if request.version.map(Version::generation) == Some(Generation::Stateless) {
            mirrored.push(("mcp-method".to_owned(), header_value(request.method)));
            let name = request.name.map(header_value);
            mirrored.extend(name.map(|name| ("mcp-name".to_owned(), name)));
            mirrored.extend(request.parameter_headers.iter().cloned());
        }
        let sent = self.post(
            request.frame(),
            request.version,
            mirrored,
            STREAM_BYTES,
            wait,
        );
        let answer = sent.await?;
        if request.method == "initialize" && (200..300).contains(&answer.status()) {
            self.session = answer.header(SESSION_ID).map(session_id).transpose()?;
        }
        let outcome = self.outcome(answer, request.version, inbox, wait).await?;
        Ok(RpcAnswer { outcome })
    }

    async fn outcome(
        &self,
        mut answer: P::Answer,
        version: Option<Version>,
        inbox: &mut Inbox,
        wait: &Wait,
    ) -> Result<Result<crate::Json, crate::message::RpcError>, Error> {
        let status = answer.status();
        let kind = content_type(&answer);
        if !(200..300).contains(&status) {
            if status == 404 && self.session.is_some() {
                return Err(Error::Closed("the server ended the session"));
            }
            // Refused access and overload say nothing about the protocol.
            let of_protocol =
                (400..600).contains(&status) && !matches!(status, 401 | 403 | 407 | 429);
            if of_protocol && kind == JSON {
                let body = whole(&mut answer, inbox.limits.frame_bytes).await?;
                match inbox.receive(body) {
                    Ok(Received::Answer(_, Err(error))) => return Ok(Err(error)),
                    Ok(Received::Answer(_, Ok(_))) => {
                        return Err(Error::protocol(format!(
                            "a result with the status {status}"
                        )));
                    }
                    // Another body is not an MCP answer.
                    Ok(_) | Err(_) => {}
                }
            }
            if let Some(scopes) = missing_scopes(status, answer.header("www-authenticate")) {
                return Err(Error::Scopes(scopes));
            }
            return Err(Error::Status(status));
        }
        match kind.as_str() {
            JSON => {
                let body = whole(&mut answer, inbox.limits.frame_bytes).await?;
                match inbox.receive(body)? {
                    Received::Answer(_, outcome) => Ok(outcome),
                    _ => Err(Error::protocol("the body is not the answer")),
                }
            }
            EVENTS => self.events(answer, version, inbox, wait).await,
            _ => Err(Error::protocol(
                "the answer is neither `application/json` nor `text/event-stream`",
            )),
        }
    }

    /// Reads a stream of events up to the answer.
    async fn events(
        &self,
        mut stream: P::Answer,
        version: Option<Version>,
        inbox: &mut Inbox,
        wait: &Wait,
    ) -> Result<Result<crate::Json, crate::message::RpcError>, Error> {
        let mut decoder = Decoder::new(inbox.limits.frame_bytes);
        let mut resumptions = 0;
        loop {
            let ended = match stream.chunk().await {
                Ok(Some(chunk)) => {
                    decoder.push(&chunk)?;
                    None
                }
                Ok(None) => Some(ENDED),
                Err(error @ Error::Transport(_)) => Some(error),
                Err(error) => return Err(error),
            };
            if let Some(ended) = ended {
                resumptions += 1;
                if resumptions > RESUMPTIONS {
                    return Err(Error::TooMany {
                        what: Excess::Resumptions,
                        limit: RESUMPTIONS,
                    });
                }
                stream = self.resume(&mut decoder, version, ended, wait).await?;
            }
            while let Some(event) = decoder.next_event() {
                // MCP defines no other types.
                if event.name != "message" {
                    continue;
                }
                match inbox.receive(event.data)? {
                    Received::Answer(_, outcome) => return Ok(outcome),
                    Received::Reply(reply) => {
                        self.deliver(reply, version, wait).await?;
                    }
                    Received::Unreadable(..) | Received::Progress(_) | Received::Nothing => {}
                }
            }
        }
    }

    /// Opens a stream that continues one that ended too early, which only versions with sessions can.
    /// Otherwise returns the error by which it ended.
    async fn resume(
        &self,
        decoder: &mut Decoder,
        version: Option<Version>,
        ended: Error,
        wait: &Wait,
    ) -> Result<P::Answer, Error> {
        if version.map(Version::generation) == Some(Generation::Stateless) {
            return Err(ended);
        }
        let Some(last_id) = decoder.last_id().map(str::to_owned) else {
            return Err(ended);
        };
        sleep(decoder.retry().unwrap_or(RETRY)).await;
        let mut headers = self.headers(version, EVENTS);
        headers.push(("last-event-id".to_owned(), last_id));
        let request = HttpRequest {
            method: HttpMethod::Get,
            headers,
            body: Bytes::new(),
        };
        let stream = self.peer.send(request, STREAM_BYTES, wait).await?;
        if stream.status() != 200 || content_type(&stream) != EVENTS {
            return Err(ended);
        }
        decoder.restart();
        Ok(stream)
    }
}

impl<P: HttpPeer + Clone> Client<Http<P>> {
    /// Returns a client of the same session with the same server, whose requests run beside this one's. Its
    /// requests have ids of their own, as long as `number` is unique.
    #[must_use]
    pub fn fork(&self, number: u32) -> Self {
        Self {
            transport: self.transport.fork(),
            inbox: self.inbox.fork(u64::from(number) << FORK_BITS),
            identity: self.identity.clone(),
            version: self.version,
            server: self.server.clone(),
            headers: self.headers.clone(),
            traceparent: None,
        }
    }
}

/// Returns the type of an answer's body in lower case, without parameters.
fn content_type(answer: &impl HttpAnswer) -> String {
    let value = answer.header("content-type").unwrap_or_default();
    let kind = value.split(';').next().unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}

/// Checks the id of a session: visible ASCII, by the specification.
fn session_id(id: &str) -> Result<String, Error> {
    let visible = id.bytes().all(|byte| byte.is_ascii_graphic());
    if id.is_empty() || id.len() > SESSION_ID_BYTES || !visible {
        return Err(Error::protocol(
            "the session's id is not 1 to 1024 visible characters of ASCII",
        ));
    }
    Ok(id.to_owned())
}

/// Reads a whole body.
async fn whole(answer: &mut impl HttpAnswer, limit: usize) -> Result<Bytes, Error> {
    let mut body = BytesMut::new();
    while let Some(chunk) = answer.chunk().await? {
        if body.len() + chunk.len() > limit {
            return Err(Error::TooLarge {
                what: "a message",
                limit,
            });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

impl<P: HttpPeer> Transport for Http<P> {
    const HAS_HEADERS: bool = true;

    fn limit(&mut self, _: usize) {
        // Each exchange takes its limit from the inbox.
    }

    async fn exchange(
        &mut self,
        request: &Outgoing<'_>,
        inbox: &mut Inbox,
        wait: &Wait,
    ) -> Result<RpcAnswer, Error> {
        wait.within(self.request(request, inbox, wait)).await
    }

    async fn notify(
        &mut self,
        notification: String,
        version: Version,
        wait: &Wait,
    ) -> Result<(), Error> {
        let delivered = wait.within(self.deliver(notification, Some(version), wait));
        match delivered.await? {
            200..300 => Ok(()),
            status => Err(Error::Status(status)),
        }
    }

    async fn abandon(&mut self, id: u64, version: Version) {
        // Since 2026-07-28, closing the connection cancels, and it is closed already.
        if version.generation() == Generation::Sessions {
            let params = format!(r#"{{"requestId":{id}}}"#);
            let cancelled = write_notification("notifications/cancelled", Some(&params));
            let wait = Wait::time(FAREWELL);
            let _ = self.notify(cancelled, version, &wait).await;
        }
    }

    async fn close(self, wait: &Wait) -> Result<(), Error> {
        if self.session.is_none() {
            return Ok(());
        }
        let request = HttpRequest {
            method: HttpMethod::Delete,
            headers: self.headers(self.version, JSON),
            body: Bytes::new(),
        };
        // A server may refuse to end a session on request.
        let deleted = wait.within(self.peer.send(request, RECEIPT_BYTES, wait));
        deleted.await.map(drop)
    }
}
/// Returns the scopes that a server misses in a token (RFC 6750).
fn missing_scopes(status: u16, challenge: Option<&str>) -> Option<String> {
    let challenge = challenge.filter(|it| status == 403 && it.contains("insufficient_scope"))?;
    let (_, scopes) = challenge.split_once("scope=\"")?;
    let (scopes, _) = scopes.split_once('"')?;
    Some(agent_way_out::quote(scopes, SCOPES_CHARS))
}
