//! A proxy by the Rust SDK, which measurements compare the gateway with: `rmcp-proxy URL sessions|stateless` passes lists
//! and calls on to the server at the URL, and prints its own URL. It checks nothing.
//!
//! The SDK's client over HTTP takes any library for the requests. This one is hyper, with connections that are kept.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST};
use hyper::http::{HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientJsonRpcMessage, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{Peer, RequestContext, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{
    ClientLifecycleMode, ClientServiceExt as _, ErrorData, RoleClient, RoleServer, ServerHandler,
};
use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::future::ready;
use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::{TcpListener, TcpStream};

/// The header that names a session.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The number of requests to the server at the same time.
const REQUESTS: usize = 64;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [url, generation] =
        <[_; 2]>::try_from(arguments).map_err(|_| "usage: rmcp-proxy URL sessions|stateless")?;
    let has_sessions = generation == "sessions";
    let host = url
        .strip_prefix("http://")
        .and_then(|it| it.split_once('/'));
    let (host, _) = host.ok_or("the URL is not like http://127.0.0.1:1/mcp")?;
    let kept = Kept {
        host: host.into(),
        idle: Arc::default(),
    };
    let config =
        StreamableHttpClientTransportConfig::with_uri(&*url).max_concurrent_requests(REQUESTS);
    let transport = StreamableHttpClientTransport::with_client(kept, config);
    let mode = match has_sessions {
        true => ClientLifecycleMode::Initialize,
        false => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    };
    let client = ().serve_with_lifecycle(transport, mode).await?;
    let proxy = Proxy {
        tools: client.list_all_tools().await?.into(),
        server: client.peer().clone(),
    };
    let service = StreamableHttpService::new(
        move || Ok(proxy.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default()
            .with_legacy_session_mode(has_sessions)
            .with_json_response(true),
    );
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    writeln!(io::stdout(), "http://{address}/mcp")?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
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

/// One session of the proxy, or one request without a session.
#[derive(Clone)]
struct Proxy {
    tools: Arc<[Tool]>,
    server: Peer<RoleClient>,
}

impl ServerHandler for Proxy {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut call = CallToolRequestParams::new(request.name);
        call.arguments = request.arguments;
        match self.server.call_tool_once(call).await {
            Ok(answer) => Ok(answer),
            Err(ServiceError::McpError(error)) => Err(error),
            Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
        }
    }
}

/// Connections to one server that are kept for further requests.
#[derive(Clone)]
struct Kept {
    host: Arc<str>,
    idle: Arc<Mutex<Vec<SendRequest<Full<Bytes>>>>>,
}

impl Kept {
    async fn connection(&self) -> io::Result<SendRequest<Full<Bytes>>> {
        loop {
            let idle = self
                .idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop();
            let Some(mut sender) = idle else { break };
            if sender.ready().await.is_ok() {
                return Ok(sender);
            }
        }
        let stream = TcpStream::connect(&*self.host).await?;
        stream.set_nodelay(true)?;
        let opened = handshake(TokioIo::new(stream)).await;
        let (sender, connection) = opened.map_err(io::Error::other)?;
        tokio::spawn(connection);
        Ok(sender)
    }

    async fn post(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> io::Result<(StatusCode, Option<String>, Bytes)> {
        let body = serde_json::to_vec(message)?;
        let path = uri.splitn(4, '/').nth(3).unwrap_or_default();
        let mut request = Request::post(format!("/{path}"))
            .header(HOST, &*self.host)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .body(Full::new(Bytes::from(body)))
            .map_err(io::Error::other)?;
        request.headers_mut().extend(headers);
        if let Some(session) = session {
            let session = HeaderValue::from_str(session).map_err(io::Error::other)?;
            request.headers_mut().insert(SESSION, session);
        }
        let mut sender = self.connection().await?;
        let answer = sender
            .send_request(request)
            .await
            .map_err(io::Error::other)?;
        let status = answer.status();
        let session = answer.headers().get(SESSION);
        let session = session.and_then(|it| Some(it.to_str().ok()?.to_owned()));
        let body = answer
            .into_body()
            .collect()
            .await
            .map_err(io::Error::other)?;
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(sender);
        Ok((status, session, body.to_bytes()))
    }
}

impl StreamableHttpClient for Kept {
    type Error = io::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<io::Error>> {
        match self
            .post(&uri, &message, session.as_deref(), headers)
            .await?
        {
            (StatusCode::ACCEPTED, ..) => Ok(StreamableHttpPostResponse::Accepted),
            (_, session, body) => {
                let message = serde_json::from_slice(&body)?;
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
        }
    }

    fn delete_session(
        &self,
        _: Arc<str>,
        _: Arc<str>,
        _: Option<String>,
        _: HashMap<HeaderName, HeaderValue>,
    ) -> impl Future<Output = Result<(), StreamableHttpError<io::Error>>> + Send + '_ {
        ready(Err(StreamableHttpError::ServerDoesNotSupportDeleteSession))
    }

    fn get_stream(
        &self,
        _: Arc<str>,
        _: Option<Arc<str>>,
        _: Option<String>,
        _: Option<String>,
        _: HashMap<HeaderName, HeaderValue>,
    ) -> impl Future<Output = Result<BoxedSseResponse, StreamableHttpError<io::Error>>> + Send + '_
    {
        ready(Err(StreamableHttpError::ServerDoesNotSupportSse))
    }
}
