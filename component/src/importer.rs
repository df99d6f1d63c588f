//! `agent:engine/importer`

use crate::Component;
use crate::bindings::exports::agent::engine::importer::{
    Diagnostic, Guest, Imported, IndexBorrow, IndexedServer, LiveServer, Overlay, Refreshed,
};
use crate::convert::all;
use crate::inputs::Index;
use agent_api::documents::{self, import};
use agent_api::lower::Checked;

impl Guest for Component {
    fn merge(
        documents: Vec<Vec<u8>>,
        overlay: Option<Overlay>,
        existing: Option<Vec<u8>>,
    ) -> Result<Imported, Vec<Diagnostic>> {
        let checked = import(documents, overlay.map(Into::into), existing).map_err(all)?;
        Ok(checked.into())
    }

    fn servers(index: IndexBorrow<'_>) -> Vec<IndexedServer> {
        let index = &index.get::<Index>().value;
        let servers = index.by_name().iter().map(|rank| index.server(*rank));
        let servers = servers.map(|server| IndexedServer {
            id: server.id().to_owned(),
            version: server.version().to_owned(),
            endpoint: server.endpoint().to_owned(),
        });
        servers.collect()
    }

    fn add(
        server: LiveServer,
        overlay: Option<Overlay>,
        existing: Option<Vec<u8>>,
    ) -> Result<Imported, Vec<Diagnostic>> {
        let added = agent_api::add(&server.into(), overlay.map(Into::into), existing);
        added.map(Into::into).map_err(all)
    }

    fn refresh(servers: Vec<LiveServer>, existing: Vec<u8>) -> Result<Refreshed, Vec<Diagnostic>> {
        let servers: Vec<_> = all(servers);
        let checked = agent_api::refresh(&servers, existing).map_err(all)?;
        Ok(Refreshed {
            index: checked.value.index,
            differences: all(checked.value.differences),
            is_complete: checked.value.is_complete,
            warnings: all(checked.warnings),
        })
    }
}

impl From<Overlay> for documents::Overlay {
    fn from(overlay: Overlay) -> Self {
        Self {
            bytes: overlay.text,
            notation: overlay.notation.into(),
        }
    }
}

impl From<LiveServer> for documents::LiveServer {
    fn from(server: LiveServer) -> Self {
        Self {
            id: server.id,
            version: server.version,
            endpoint: server.endpoint,
            handshake: server.handshake,
            tools: server.tools,
        }
    }
}

impl From<Checked<documents::Imported>> for Imported {
    fn from(checked: Checked<documents::Imported>) -> Self {
        let documents::Imported {
            index,
            added,
            changed,
            unchanged,
            claims,
            // The warnings name them.
            left_out: _,
        } = checked.value;
        Self {
            index,
            added,
            changed,
            unchanged,
            claims,
            warnings: all(checked.warnings),
        }
    }
}
