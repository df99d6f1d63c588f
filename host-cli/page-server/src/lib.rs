//! Serves the playground on loopback, with the documents of a folder.
//!
//! Nothing is written, nothing leaves the machine, and only the files of the page and the given documents are served.
//! Requests must come from the page itself: a page of another site gets 403, and the documents need a token that is
//! behind `#` in the address.

#![forbid(unsafe_code)]

mod page;

pub use page::Page;

use agent_host::Failure;
use agent_mcp_server::{Body, Hosts, Listener, Token, client, respond_with};
use hyper::header::{
    ALLOW, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, X_FRAME_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::{Method, Response, StatusCode};
use std::cell::Cell;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::time::Duration;
use tokio::select;
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep};

/// The path of the documents, which the script of the page knows.
const DOCUMENTS: &str = "/documents.json";

/// What is in front of the token in the address. The script of the page knows it.
const FRAGMENT: &str = "#local.";

const PLAIN: &str = "text/plain; charset=utf-8";

/// What every answer says to browsers, besides that it is not kept and that its type is not guessed. The policy of the
/// page itself is in the page.
const HEADERS: [(HeaderName, &str); 5] = [
    (CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Serves the page until no request has come for a time. The open page makes one every minute.
///
/// `documents`: the inputs as the page saves them. `announce` gets the address, which only the user may see.
///
/// # Errors
///
/// When the system refuses a listener or random bytes.
pub async fn serve(
    page: Page,
    documents: String,
    idle: Duration,
    announce: impl FnOnce(&str),
) -> Result<(), Failure> {
    let listener = Listener::bind((Ipv4Addr::LOCALHOST, 0).into()).await?;
    let (address, token) = (listener.address(), Token::random()?);
    announce(&format!("http://{address}/{FRAGMENT}{}", token.reveal()));
    let server = Rc::new(Server {
        page,
        documents,
        hosts: Hosts::of(address),
        readers: [("page".to_owned(), token)],
        last: Cell::new(Instant::now()),
    });
    let answering = Rc::clone(&server);
    let served = listener.serve(move |request| {
        // The body is not read.
        let (parts, _) = request.into_parts();
        let answer = answering.answer(&parts);
        async move { answer }
    });
    let end = async {
        loop {
            let left = idle.saturating_sub(server.last.get().elapsed());
            if left.is_zero() {
                return;
            }
            sleep(left).await;
        }
    };
    let ended = async {
        select! { () = served => {}, () = end => {} }
    };
    LocalSet::new().run_until(ended).await;
    Ok(())
}

struct Server {
    page: Page,
    documents: String,
    hosts: Hosts,
    /// The only reader of the documents.
    readers: [(String, Token); 1],
    /// The time of the last request of the page.
    last: Cell<Instant>,
}

impl Server {
    fn answer(&self, request: &Parts) -> Response<Body> {
        let mut answer = self.content(request);
        for (name, value) in HEADERS {
            answer
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
        answer
    }

    fn content(&self, request: &Parts) -> Response<Body> {
        if let Err(why) = self.hosts.admit(request) {
            return refused(StatusCode::FORBIDDEN, why);
        }
        if request.method != Method::GET {
            let mut answer = refused(
                StatusCode::METHOD_NOT_ALLOWED,
                "nothing can be changed here",
            );
            answer
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("GET"));
            return answer;
        }
        self.last.set(Instant::now());
        let path = request.uri.path();
        if path == DOCUMENTS {
            return match client(&request.headers, &self.readers) {
                Some(_) => respond_with(StatusCode::OK, "application/json", self.documents.clone()),
                None => refused(StatusCode::UNAUTHORIZED, "the token is missing or unknown"),
            };
        }
        match self.page.file(path) {
            Some((kind, bytes)) => respond_with(StatusCode::OK, kind, bytes.to_vec()),
            None => refused(StatusCode::NOT_FOUND, "nothing is served at this path"),
        }
    }
}

fn refused(status: StatusCode, why: &'static str) -> Response<Body> {
    respond_with(status, PLAIN, why)
}
