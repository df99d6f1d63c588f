//! A stub of an endpoint: fixed answers, and the requests that it got.

use crate::fake::{ample, options};
use agent_mcp_protocol::{
    Client, Error, Http, HttpAnswer, HttpMethod, HttpPeer, HttpRequest, Options, Wait,
};
use agent_way_out::ErrorKind;
use bytes::Bytes;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// The answer to one request.
#[derive(Debug, Clone)]
pub(crate) struct Stub {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    chunks: VecDeque<Vec<u8>>,
    end: End,
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Regular,
    Broken,
    Never,
}

impl Stub {
    /// Returns an answer without a body.
    pub(crate) fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            chunks: VecDeque::new(),
            end: End::Regular,
        }
    }

    /// Returns an answer with a body of JSON.
    pub(crate) fn json(body: impl Into<String>) -> Self {
        Self::status(200)
            .header("content-type", "application/json")
            .chunk(body.into())
    }

    /// Returns an answer with a stream of events.
    pub(crate) fn events(body: impl Into<String>) -> Self {
        Self::status(200)
            .header("content-type", "text/event-stream")
            .chunk(body.into())
    }

    pub(crate) fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn chunk(mut self, chunk: impl Into<Vec<u8>>) -> Self {
        self.chunks.push_back(chunk.into());
        self
    }

    /// Breaks the connection after the body.
    pub(crate) fn broken(mut self) -> Self {
        self.end = End::Broken;
        self
    }

    /// Leaves the body open.
    pub(crate) fn open(mut self) -> Self {
        self.end = End::Never;
        self
    }
}

impl HttpAnswer for Stub {
    fn status(&self) -> u16 {
        self.status
    }

    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(found, _)| found == name);
        found.map(|(_, value)| value.as_str())
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        if let Some(chunk) = self.chunks.pop_front() {
            return Ok(Some(chunk.into()));
        }
        match self.end {
            End::Regular => Ok(None),
            End::Broken => Err(Error::Transport(agent_way_out::Error {
                kind: ErrorKind::Protocol,
                message: "broken".to_owned(),
            })),
            End::Never => std::future::pending().await,
        }
    }
}

/// An endpoint that answers each request with the next of its answers.
#[derive(Clone, Default)]
pub(crate) struct StubPeer {
    answers: Arc<Mutex<VecDeque<Stub>>>,
    requests: Arc<Mutex<Vec<HttpRequest>>>,
}

impl StubPeer {
    pub(crate) fn new(answers: impl IntoIterator<Item = Stub>) -> Self {
        Self {
            answers: Arc::new(Mutex::new(answers.into_iter().collect())),
            requests: Arc::default(),
        }
    }

    /// Returns the requests since the last call.
    pub(crate) fn requests(&self) -> Vec<Seen> {
        let taken = std::mem::take(&mut *self.requests.lock().unwrap());
        assert_eq!(
            self.answers.lock().unwrap().len(),
            0,
            "answers that nobody asked for"
        );
        taken.into_iter().map(Seen::new).collect()
    }

    pub(crate) async fn connect_with(
        &self,
        options: &Options,
    ) -> Result<Client<Http<Self>>, Error> {
        Client::connect(Http::new(self.clone()), options, &ample()).await
    }

    pub(crate) async fn connect(&self) -> Result<Client<Http<Self>>, Error> {
        self.connect_with(&options()).await
    }
}

impl HttpPeer for StubPeer {
    type Answer = Stub;

    async fn send(&self, request: HttpRequest, _: usize, _: &Wait) -> Result<Stub, Error> {
        self.requests.lock().unwrap().push(request);
        let answer = self.answers.lock().unwrap().pop_front();
        Ok(answer.expect("an answer for each request"))
    }
}

/// A request that the stub got.
pub(crate) struct Seen {
    pub(crate) method: HttpMethod,
    /// The headers as `name: value`, sorted.
    pub(crate) headers: Vec<String>,
    pub(crate) body: Value,
}

impl Seen {
    fn new(request: HttpRequest) -> Self {
        let headers = request.headers.iter();
        let mut headers: Vec<_> = headers
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        headers.sort();
        Self {
            method: request.method,
            headers,
            body: serde_json::from_slice(&request.body).unwrap_or(Value::Null),
        }
    }
}

/// Returns a result as a message.
pub(crate) fn result(id: u64, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// Returns an error as a message.
pub(crate) fn error(id: &str, code: i64, data: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"no","data":{data}}}}}"#
    )
}
