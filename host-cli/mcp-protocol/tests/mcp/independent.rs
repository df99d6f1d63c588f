//! The client against servers of the Rust SDK, in each version that both know.

use crate::fake::{AMPLE, SHORT, ample, options};
use crate::loopback::endpoint;
use agent_mcp_protocol::{
    Client, Error, Generation, Http, Stdio, ToolList, Transport, Version, Wait,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// A server with four tools on two pages.
#[derive(Clone)]
struct Server {
    versions: Vec<ProtocolVersion>,
    /// Records cancelled calls.
    cancelled: mpsc::Sender<()>,
}

fn tool(name: &'static str) -> Tool {
    let schema = json!({ "type": "object", "properties": {
        "region": { "type": "string", "x-mcp-header": "Region" },
    } });
    let Value::Object(schema) = schema else {
        unreachable!("written as an object");
    };
    Tool::new(name, "A tool", schema)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Owned(self.versions.clone())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == "echo").then(|| tool("echo"))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = ListToolsResult::default();
        match request.and_then(|request| request.cursor) {
            None => {
                list.tools = vec![tool("echo"), tool("fail")];
                list.next_cursor = Some("second page".to_owned());
            }
            Some(cursor) => {
                assert_eq!(cursor, "second page");
                list.tools = vec![tool("ask"), tool("wait")];
            }
        }
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = match &*request.name {
            "echo" => Value::from(request.arguments.unwrap_or_default()).to_string(),
            "ask" => {
                #[expect(deprecated, reason = "servers with sessions still ask")]
                let roots = context.peer.list_roots().await;
                roots.map_or("refused", |_| "answered").to_owned()
            }
            "wait" => {
                context.ct.cancelled().await;
                let _ = self.cancelled.send(()).await;
                "too late".to_owned()
            }
            _ => return Err(ErrorData::invalid_params("no such tool", None)),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

/// Returns a server of one version, and the record of cancelled calls.
fn server(version: Version) -> (Server, mpsc::Receiver<()>) {
    let known = ProtocolVersion::KNOWN_VERSIONS.iter();
    let mut known = known.filter(|known| known.as_str() == version.name());
    let (cancelled, notes) = mpsc::channel(8);
    let versions = vec![known.next().expect("a known version").clone()];
    (
        Server {
            versions,
            cancelled,
        },
        notes,
    )
}

/// Uses each operation once.
async fn converse<T: Transport>(
    mut client: Client<T>,
    version: Version,
    mut notes: mpsc::Receiver<()>,
) {
    assert_eq!(client.version(), version);
    let list: ToolList = client.list_tools(&ample()).await.unwrap();
    assert_eq!((list.tools, list.pages), (4, 2));
    let value: Value = serde_json::from_str(list.json.as_str()).unwrap();
    let names: Vec<_> = value["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["echo", "fail", "ask", "wait"]);

    let arguments = "{\"region\":\"s\u{fc}d\",\"n\":1}";
    let called = client
        .call_tool("echo", arguments.as_bytes(), &ample())
        .await
        .unwrap();
    let value: Value = serde_json::from_str(called.as_str()).unwrap();
    let text = value["content"][0]["text"].as_str().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(text).unwrap(),
        json!({ "region": "s\u{fc}d", "n": 1 })
    );

    let failed = client.call_tool("fail", b"{}", &ample()).await;
    assert!(matches!(failed, Err(Error::Rpc(error)) if error.code == -32602));

    if version.generation() == Generation::Sessions {
        let asked = client.call_tool("ask", b"{}", &ample()).await.unwrap();
        assert!(asked.as_str().contains("refused"), "{asked:?}");
    }

    let waited = client.call_tool("wait", b"{}", &Wait::time(SHORT)).await;
    assert_eq!(waited.unwrap_err(), Error::Timeout);
    let told = timeout(AMPLE, notes.recv()).await;
    assert_eq!(told, Ok(Some(())), "the call was cancelled at the server");
    // The late answer, if there is one, disturbs nobody.
    client.call_tool("echo", b"{}", &ample()).await.unwrap();
    client.close(&ample()).await.unwrap();
}

#[tokio::test]
async fn servers_over_streams_are_understood_in_each_version() {
    for version in Version::ALL {
        let (server, notes) = server(version);
        let (ours, theirs) = tokio::io::duplex(4096);
        let running = tokio::spawn(async move {
            let service = server.serve(tokio::io::split(theirs)).await.unwrap();
            service.waiting().await.unwrap();
        });
        let (reader, writer) = tokio::io::split(ours);
        let transport = Stdio::new(reader, writer, 1 << 20);
        let client = Client::connect(transport, &options(), &ample())
            .await
            .unwrap();
        converse(client, version, notes).await;
        running.await.unwrap();
    }
}

/// Serves a server of the SDK on the loopback interface, until the handle is aborted.
async fn serve(
    server: Server,
    configuration: StreamableHttpServerConfig,
) -> (SocketAddr, AbortHandle) {
    let manager = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), manager, configuration);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = service.clone();
            tokio::spawn(async move {
                let handle = service_fn(move |request| {
                    let service = service.clone();
                    async move { Ok::<_, Infallible>(service.handle(request).await) }
                });
                let _ = http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), handle)
                    .await;
            });
        }
    });
    (address, task.abort_handle())
}

#[tokio::test]
async fn servers_over_http_are_understood_in_each_version() {
    // The transport came with the second version.
    for version in &Version::ALL[..4] {
        for (json, sessions) in [(false, true), (true, false)] {
            let (server, notes) = server(*version);
            let configuration = StreamableHttpServerConfig::default()
                .with_json_response(json)
                .with_legacy_session_mode(sessions);
            let (address, task) = serve(server, configuration).await;
            let http = Http::new(endpoint(address));
            let client = Client::connect(http, &options(), &ample()).await.unwrap();
            assert_eq!(client.version(), *version);
            if sessions || version.generation() == Generation::Stateless {
                converse(client, *version, notes).await;
            } else {
                // Without a session, a server receives neither replies nor cancellations.
                let mut client = client;
                assert_eq!(client.list_tools(&ample()).await.unwrap().tools, 4);
                client.call_tool("echo", b"{}", &ample()).await.unwrap();
                client.close(&ample()).await.unwrap();
            }
            task.abort();
        }
    }
}
