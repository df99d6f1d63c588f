//! The server.

#![expect(deprecated, reason = "the conformance tests still ask for logging")]

use crate::state::{Change, Shared};
use crate::tools::{complete_result, read};
use crate::{prompts, resources, tool_definitions, tools};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};

/// The levels of log messages, the least important first.
const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];
/// The level of every log message of this server.
const LEVEL: &str = "info";

/// One session of the server, or one request without a session.
pub(crate) struct Everything {
    pub(crate) shared: Arc<Shared>,
    /// The least important level that the client of a session wants.
    level: Mutex<String>,
}

impl Everything {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let level = Mutex::new(LEVEL.to_owned());
        Self { shared, level }
    }

    /// Returns whether the client opened a session.
    pub(crate) fn has_sessions(&self, context: &RequestContext<RoleServer>) -> bool {
        let version = context.protocol_version();
        version.is_some_and(|version| version.as_str() < ProtocolVersion::V_2026_07_28.as_str())
    }

    /// Sends a log message, if the client wants it.
    pub(crate) async fn log(&self, context: &RequestContext<RoleServer>, message: &str) {
        let wanted = match self.has_sessions(context) {
            true => Some(
                self.level
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone(),
            ),
            false => context
                .meta
                .log_level()
                .and_then(|level| json!(level).as_str().map(str::to_owned)),
        };
        let rank = |level: &str| LEVELS.iter().position(|known| *known == level);
        if wanted.is_some_and(|wanted| rank(&wanted) <= rank(LEVEL)) {
            let message = read(json!({ "level": LEVEL, "logger": "everything", "data": message }));
            let sent = context.peer.notify_logging_message(message);
            // A client that is gone needs no log.
            let _ = sent.await;
        }
    }
}

impl ServerHandler for Everything {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(read(json!({
            "tools": { "listChanged": true },
            "prompts": { "listChanged": true },
            "resources": { "subscribe": true },
            "completions": {},
            "logging": {},
        })))
        .with_server_info(Implementation::new(
            "everything-server",
            env!("CARGO_PKG_VERSION"),
        ))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let mut all = tool_definitions::all().into_iter();
        all.find(|tool| tool["name"] == name).map(read)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(complete_result(json!({ "tools": tool_definitions::all() })))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tools::call(self, &request, &context).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(prompts::list())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(prompts::complete(&request))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(resources::list())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resources::content(&request.uri).map(Into::into)
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.has_sessions(&context) {
            return Err(ErrorData::new(
                rmcp::model::ErrorCode::METHOD_NOT_FOUND,
                "logging/setLevel",
                None,
            ));
        }
        let level = json!(request.level);
        level
            .as_str()
            .unwrap_or(LEVEL)
            .clone_into(&mut self.level.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // No resource of this server ever changes.
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.shared.changes.subscribe();
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => change,
            };
            let sent = match change {
                Ok(Change::Tools) if context.accepted().tools_list_changed == Some(true) => {
                    context.sink().notify_tool_list_changed().await
                }
                Ok(Change::Prompts) if context.accepted().prompts_list_changed == Some(true) => {
                    context.sink().notify_prompt_list_changed().await
                }
                _ => Ok(()),
            };
            if sent.is_err() {
                return Ok(());
            }
        }
    }
}
