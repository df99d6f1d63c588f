//! Fake servers over a pair of streams.

use agent_mcp_protocol::{Client, Error, Generations, Limits, Options, Stdio, Wait};
use serde_json::Value;
use std::time::Duration;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf, split,
};
use tokio::task::JoinHandle;

/// A time that no operation of these tests needs.
pub(crate) const AMPLE: Duration = Duration::from_secs(60);
/// A time after which an operation ends whose answer never comes.
pub(crate) const SHORT: Duration = Duration::from_millis(100);

pub(crate) type StdioClient = Client<Stdio<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>>;

/// The server's end of the streams.
pub(crate) struct Fake {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

impl Fake {
    /// Reads the next line as JSON, or `None` at the end.
    pub(crate) async fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.reader.read_line(&mut line).await.unwrap() {
            0 => None,
            _ => Some(serde_json::from_str(&line).unwrap()),
        }
    }

    /// Reads the next line, which must be of a method, and returns it.
    pub(crate) async fn expect(&mut self, method: &str) -> Value {
        let message = self.read().await.expect("a message");
        assert_eq!(message["method"], method, "{message}");
        message
    }

    /// Sends bytes and a line break.
    pub(crate) async fn send(&mut self, line: impl AsRef<[u8]>) {
        self.send_part(line).await;
        self.send_part("\n").await;
    }

    /// Sends bytes.
    pub(crate) async fn send_part(&mut self, bytes: impl AsRef<[u8]>) {
        // The client may have closed its end.
        let _ = self.writer.write_all(bytes.as_ref()).await;
        let _ = self.writer.flush().await;
    }

    /// Sends a result in answer to a request.
    pub(crate) async fn answer(&mut self, request: &Value, result: &str) {
        let id = &request["id"];
        self.send(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#
        ))
        .await;
    }

    /// Sends an error in answer to a request.
    pub(crate) async fn refuse(&mut self, request: &Value, code: i64) {
        let id = &request["id"];
        let error = format!(r#"{{"code":{code},"message":"no"}}"#);
        self.send(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#))
            .await;
    }

    /// Answers `server/discover` as a server without sessions.
    pub(crate) async fn discover(&mut self) {
        let request = self.expect("server/discover").await;
        self.answer(&request, DISCOVERED).await;
    }

    /// Opens a session as a server of an older version.
    pub(crate) async fn initialize(&mut self, version: &str) {
        let request = self.expect("server/discover").await;
        self.refuse(&request, -32601).await;
        let request = self.expect("initialize").await;
        self.answer(&request, &initialized(version)).await;
        self.expect("notifications/initialized").await;
    }
}

/// The answer to `server/discover`.
pub(crate) const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}"#;

/// Returns an answer to `initialize`.
pub(crate) fn initialized(version: &str) -> String {
    let info = r#"{"name":"fake","version":"0"}"#;
    format!(
        r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{}}}},"serverInfo":{info}}}"#
    )
}

pub(crate) fn options() -> Options {
    Options {
        name: "test".to_owned(),
        version: "1".to_owned(),
        generations: Generations::Both,
        limits: Limits::default(),
    }
}

pub(crate) fn ample() -> Wait {
    Wait::time(AMPLE)
}

/// Starts a fake server, and returns the client's transport.
pub(crate) fn start<T: Send + 'static, F>(
    frame_bytes: usize,
    script: impl FnOnce(Fake) -> F,
) -> (
    Stdio<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>,
    JoinHandle<T>,
)
where
    F: Future<Output = T> + Send + 'static,
{
    // Small, so that both sides have to wait for each other.
    let (ours, theirs) = tokio::io::duplex(512);
    let (reader, writer) = split(theirs);
    let fake = Fake {
        reader: BufReader::new(reader),
        writer,
    };
    let server = tokio::spawn(script(fake));
    let (reader, writer) = split(ours);
    (Stdio::new(reader, writer, frame_bytes), server)
}

/// Connects to a fake server with given options.
pub(crate) async fn connect_with<T: Send + 'static, F>(
    options: Options,
    script: impl FnOnce(Fake) -> F,
) -> (Result<StdioClient, Error>, JoinHandle<T>)
where
    F: Future<Output = T> + Send + 'static,
{
    let (transport, server) = start(options.limits.frame_bytes, script);
    (Client::connect(transport, &options, &ample()).await, server)
}

/// Connects to a fake server.
pub(crate) async fn connect<T: Send + 'static, F>(
    script: impl FnOnce(Fake) -> F,
) -> (StdioClient, JoinHandle<T>)
where
    F: Future<Output = T> + Send + 'static,
{
    let (client, server) = connect_with(options(), script).await;
    (client.unwrap(), server)
}
