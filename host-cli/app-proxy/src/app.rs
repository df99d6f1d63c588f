//! Connections to apps.

use crate::body::Upload;
use crate::limits::{BUFFER_BYTES, HEAD_BYTES, HEADERS};
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::task::AbortHandle;

/// A connection to an app. Dropping it closes it.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) sender: SendRequest<Upload>,
    is_heard: Arc<AtomicBool>,
    /// Whether a request was answered over it before: the app may have closed it since.
    pub(crate) is_reused: bool,
    task: AbortHandle,
}

impl App {
    /// Speaks HTTP over a stream.
    pub(crate) async fn new(stream: UnixStream) -> hyper::Result<Self> {
        let is_heard = Arc::new(AtomicBool::new(false));
        let stream = HeardStream {
            stream,
            is_heard: Arc::clone(&is_heard),
        };
        let (sender, connection) = Builder::new()
            .preserve_header_case(true)
            .title_case_headers(true)
            .max_headers(HEADERS)
            .max_header_size(HEAD_BYTES)
            .max_buf_size(BUFFER_BYTES)
            .handshake(TokioIo::new(stream))
            .await?;
        let task = tokio::spawn(async move {
            // Requests learn of a failure from `sender`.
            let _ = connection.with_upgrades().await;
        });
        Ok(Self {
            sender,
            is_heard,
            is_reused: false,
            task: task.abort_handle(),
        })
    }

    /// Returns whether the app has sent a byte since the last call.
    pub(crate) fn is_heard(&self) -> bool {
        self.is_heard.swap(false, Ordering::Relaxed)
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The stream of an app, which notes whether something was read.
///
/// `hyper` takes a failed write for the end of the connection. An app may have responded before it closed, without
/// reading the whole request: what can't be written is dropped, and reading finds the response or the end.
struct HeardStream {
    stream: UnixStream,
    is_heard: Arc<AtomicBool>,
}

fn dropped(written: io::Result<usize>, number: usize) -> io::Result<usize> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(number),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(number),
        other => other,
    }
}

impl AsyncRead for HeardStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buf))?;
        if buf.filled().len() > before {
            self.is_heard.store(true, Ordering::Relaxed);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for HeardStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes));
        Poll::Ready(dropped(written, bytes.len()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(context, parts));
        let number = parts.iter().map(|part| part.len()).sum();
        Poll::Ready(dropped(written, number))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
