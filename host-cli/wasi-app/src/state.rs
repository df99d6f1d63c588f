//! What an instance of an app holds.

use crate::app::App;
use crate::budget::Bounds;
use crate::limits::{RANDOM_BYTES, RESOURCES};
use crate::log::Stream;
use crate::outgoing::Hooks;
use crate::store::Values;
use std::sync::Arc;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

/// The state of a request.
pub(crate) struct RequestState {
    ctx: WasiCtx,
    http: WasiHttpCtx,
    hooks: Hooks,
    pub(crate) table: ResourceTable,
    pub(crate) bounds: Bounds,
    pub(crate) values: Arc<Values>,
}

impl RequestState {
    pub(crate) fn new(app: &App) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(RESOURCES);
        let ctx = WasiCtx::builder()
            .envs(&app.settings.env)
            .stdout(Stream(Arc::clone(&app.log)))
            .stderr(Stream(Arc::clone(&app.log)))
            .max_random_size(RANDOM_BYTES)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false)
            .build();
        Self {
            ctx,
            http: WasiHttpCtx::new(),
            hooks: Hooks(app.sender.clone()),
            table,
            bounds: Bounds::new(Arc::clone(&app.budget)),
            values: Arc::clone(&app.values),
        }
    }
}

impl WasiView for RequestState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.ctx,
            table: &mut self.table,
        }
    }
}

impl WasiHttpView for RequestState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView {
            hooks: &mut self.hooks,
            table: &mut self.table,
            ctx: &mut self.http,
        }
    }
}
