//! The gateway as its clients see it.

use super::calls::call;
use super::gateway::Shared;
use super::metrics::exposition;
use super::requests::{method_named, request};
use super::traced::RequestSpan;
use agent_host::Failure;
use agent_host::contract::session::{Client as Asking, Generation as Spoken};
use agent_mcp_protocol::{Generation, Id, Json, MirroredHeaders, Version};
use agent_mcp_server::{Announcements, Answer, Client, ClientList, Response, Service, Trace};
use std::rc::Rc;

impl Service for Shared {
    type Trace = RequestSpan;

    const NAME: &'static str = "agent";

    fn passes(&self, list: ClientList) -> bool {
        self.passes_on(list)
    }

    fn lists(&self) -> &Announcements {
        &self.lists
    }

    fn mirrored_headers(&self, client: &Client) -> Rc<MirroredHeaders> {
        self.headers_of_list(&asking(client))
    }

    fn begin(&self, id: &Id, method: &str, params: Option<&Json>, client: &Client) -> RequestSpan {
        let (spans, request) = (self.spans.as_ref(), (id, method, params));
        RequestSpan::begin(spans, request, (&self.name, client))
    }

    async fn tools(&self, client: &Client) -> Answer {
        self.listable().await;
        let list = self.decider.list(&asking(client));
        list.map_or_else(Answer::failed, Answer::own)
    }

    async fn call(
        &self,
        client: &Client,
        params: &Json,
        trace: &RequestSpan,
        reports: impl FnMut(Json),
        elicit: impl AsyncFn(&[u8]) -> Option<Json>,
    ) -> Answer {
        call(self, &asking(client), params, trace, reports, elicit).await
    }

    async fn other(&self, client: &Client, method: &str, params: &Json) -> Option<Answer> {
        let method = method_named(method)?;
        Some(request(self, &asking(client), method, params.bytes()).await)
    }

    fn metrics(&self, sessions: usize) -> Result<String, Failure> {
        exposition(self, sessions)
    }
}

impl Trace for RequestSpan {
    fn version(&self, version: Option<Version>) {
        self.speaks(version);
    }

    fn end(self, method: &str, response: Option<&Response>) {
        self.ends(method, response);
    }
}

/// Returns the client as the session of the engine knows it.
fn asking(client: &Client) -> Asking {
    Asking {
        id: client.id.clone(),
        kind: client.kind.to_owned(),
        properties: None,
        generation: match client.generation {
            Generation::Stateless => Spoken::Stateless,
            Generation::Sessions => Spoken::Sessions,
        },
        session: client.session.clone(),
        capabilities: client.capabilities.clone(),
    }
}
