//! A connection whose incoming heads are counted.

use crate::head_meter::HeadMeter;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection, with or without TLS.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Stream for T {}

/// The meter of a connection, shared by its reader and its requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedMeter(Arc<Mutex<HeadMeter>>);

impl SharedMeter {
    /// Runs `use_meter` on the meter.
    pub(crate) fn with<T>(&self, use_meter: impl FnOnce(&mut HeadMeter) -> T) -> T {
        use_meter(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A connection that fails once the head of a response passes its limits.
pub(crate) struct Metered {
    inner: Box<dyn Stream>,
    meter: SharedMeter,
}

impl Metered {
    pub(crate) fn new(inner: Box<dyn Stream>, meter: SharedMeter) -> Self {
        Self { inner, meter }
    }
}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        let arrived = &buffer.filled()[before..];
        if self.meter.with(|meter| meter.count(arrived)) {
            Poll::Ready(Ok(()))
        } else {
            Poll::Ready(Err(io::Error::other("the head is too large")))
        }
    }
}

impl AsyncWrite for Metered {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
