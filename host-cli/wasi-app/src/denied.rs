//! `wasi:http/outgoing-handler`: an app sends no requests.

use http::{Request, Response};
use wasmtime_wasi_http::{Error, RequestOptions, Result, WasiBody, WasiHttpHooks};

/// Refuses every request.
pub(crate) struct Denied;

/// The end of a body.
type Processed = Box<dyn Future<Output = Result<()>> + Send>;

impl WasiHttpHooks for Denied {
    fn send_request(
        &mut self,
        _request: Request<WasiBody>,
        _options: Option<RequestOptions>,
        _response_processed: Processed,
    ) -> Box<dyn Future<Output = Result<(Response<WasiBody>, Processed)>> + Send> {
        Box::new(async { Err(Error::HttpRequestDenied) })
    }
}
