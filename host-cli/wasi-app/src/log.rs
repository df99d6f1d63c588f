//! The output of an app.

use bytes::Bytes;
use std::sync::Arc;
use tokio::io::{AsyncWrite, sink};
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// Bytes of one write.
const WRITE_BYTES: usize = 64 << 10;

/// Where the output of an app and the failures of its requests go.
pub trait Log: Send + Sync {
    /// Writes output of the app, without waiting for anything but a file.
    fn write(&self, bytes: &[u8]);

    /// Writes a line about the app. It may contain words that the app chose.
    fn note(&self, line: &str);
}

/// A standard stream of an app.
#[derive(Clone)]
pub(crate) struct Stream(pub(crate) Arc<dyn Log>);

impl IsTerminal for Stream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stream {
    /// Only the third preview of WASI calls it, and apps are not linked with that one.
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for Stream {
    async fn ready(&mut self) {}
}

#[async_trait]
impl OutputStream for Stream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.0.write(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_BYTES)
    }
}
