//! Connections that wait for the first byte of their app.
//!
//! An app that serves one connection at a time accepts the next one when the client of the last one closes it. A gateway
//! keeps idle connections, so it has to close them for other clients of the task's socket. Only the supervisor sees
//! all clients: it reports to each gateway whether one of them waits.

use super::connections::is_own;
use crate::limits::HAND_OVER_TIME;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Notify, watch};
use tokio::task;
use tokio::time::{sleep, timeout};

/// Time until the next connection is accepted after a failure to accept one.
const PAUSE: Duration = Duration::from_millis(50);

/// The byte that reports that no connection waits.
const NONE: u8 = b'0';
/// The byte that reports that a connection waits.
const SOME: u8 = b'1';

/// The number of connections that wait for the first byte of their app.
pub(super) struct Waiting(watch::Sender<usize>);

impl Waiting {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    /// Counts a connection from [`HAND_OVER_TIME`] after its client's first byte until the app's first byte. Never
    /// returns.
    pub(super) async fn count(&self, bytes: &FirstBytes) {
        bytes.client.notified().await;
        if timeout(HAND_OVER_TIME, bytes.app.notified()).await.is_err() {
            let _counted = Counted::new(&self.0);
            bytes.app.notified().await;
        }
        std::future::pending().await
    }

    /// Reports to every client of a socket whether a connection waits: one byte at the beginning, and one for every
    /// change.
    pub(super) async fn report(&self, listener: UnixListener) {
        loop {
            match listener.accept().await {
                Ok((gateway, _)) if !is_own(&gateway) => {}
                Ok((gateway, _)) => drop(task::spawn(follow(gateway, self.0.subscribe()))),
                // No descriptor is left, or the peer is gone.
                Err(_) => sleep(PAUSE).await,
            }
        }
    }
}

/// A connection that is counted until this is dropped.
struct Counted<'w>(&'w watch::Sender<usize>);

impl<'w> Counted<'w> {
    fn new(number: &'w watch::Sender<usize>) -> Self {
        number.send_modify(|number| *number += 1);
        Self(number)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|number| *number -= 1);
    }
}

/// Reports to one gateway until it closes the connection.
async fn follow(mut gateway: UnixStream, mut number: watch::Receiver<usize>) {
    let (mut from, mut to) = gateway.split();
    let mut reported = None;
    loop {
        let is_waiting = *number.borrow_and_update() > 0;
        if reported != Some(is_waiting) {
            let byte = if is_waiting { SOME } else { NONE };
            if to.write_all(&[byte]).await.is_err() {
                return;
            }
            reported = Some(is_waiting);
        }
        tokio::select! {
            changed = number.changed() => if changed.is_err() { return },
            // A gateway sends nothing.
            _ = from.read_u8() => return,
        }
    }
}

/// The first bytes of both sides of a connection.
#[derive(Default)]
pub(super) struct FirstBytes {
    client: Notify,
    app: Notify,
}

impl FirstBytes {
    /// Observes the stream of a client.
    pub(super) fn of_client<S>(self: &Arc<Self>, stream: S) -> Observed<S> {
        Observed::new(stream, Arc::clone(self), |bytes| bytes.client.notify_one())
    }

    /// Observes the stream of the app.
    pub(super) fn of_app<S>(self: &Arc<Self>, stream: S) -> Observed<S> {
        Observed::new(stream, Arc::clone(self), |bytes| bytes.app.notify_one())
    }
}

/// A stream that reports its first byte.
pub(super) struct Observed<S> {
    stream: S,
    bytes: Arc<FirstBytes>,
    report: Option<fn(&FirstBytes)>,
}

impl<S> Observed<S> {
    fn new(stream: S, bytes: Arc<FirstBytes>, report: fn(&FirstBytes)) -> Self {
        Self {
            stream,
            bytes,
            report: Some(report),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Observed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buf))?;
        if buf.filled().len() > before
            && let Some(report) = self.report.take()
        {
            report(&self.bytes);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Observed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::{FirstBytes, Waiting};
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{UnixListener, UnixStream};
    use tokio::runtime::Builder;
    use tokio::task::{self, LocalSet};
    use tokio::time::{sleep, timeout};

    const PATIENCE: Duration = Duration::from_secs(10);

    async fn byte(stream: &mut UnixStream) -> char {
        let read = timeout(PATIENCE, stream.read_u8()).await;
        char::from(read.unwrap().unwrap())
    }

    #[test]
    fn a_gateway_learns_when_a_connection_waits_and_when_none_does() {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        LocalSet::new().block_on(&runtime, async {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.wait");
            let listener = UnixListener::bind(&path).unwrap();
            let waiting = Arc::new(Waiting::new());
            let reporting = Arc::clone(&waiting);
            task::spawn_local(async move { reporting.report(listener).await });
            let mut gateway = UnixStream::connect(&path).await.unwrap();
            assert_eq!(byte(&mut gateway).await, '0');

            let bytes = Arc::new(FirstBytes::default());
            let (mut client, to_client) = UnixStream::pair().unwrap();
            let (mut app, to_app) = UnixStream::pair().unwrap();
            let mut to_client = bytes.of_client(to_client);
            let mut to_app = bytes.of_app(to_app);
            let counting = (Arc::clone(&waiting), Arc::clone(&bytes));
            let counting = task::spawn_local(async move { counting.0.count(&counting.1).await });

            // A connection without a request does not wait.
            let nothing = timeout(Duration::from_millis(100), gateway.read_u8()).await;
            assert!(nothing.is_err());
            client.write_all(b"request").await.unwrap();
            to_client.read_u8().await.unwrap();
            assert_eq!(byte(&mut gateway).await, '1');
            // A gateway that comes later learns it, too.
            let mut later = UnixStream::connect(&path).await.unwrap();
            assert_eq!(byte(&mut later).await, '1');
            app.write_all(b"response").await.unwrap();
            to_app.read_u8().await.unwrap();
            assert_eq!(byte(&mut gateway).await, '0');
            assert_eq!(byte(&mut later).await, '0');
            counting.abort();
        });
    }

    #[test]
    fn a_connection_that_ends_does_not_wait() {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        LocalSet::new().block_on(&runtime, async {
            let waiting = Arc::new(Waiting::new());
            let bytes = Arc::new(FirstBytes::default());
            bytes.client.notify_one();
            let counting = Arc::clone(&waiting);
            let counting = task::spawn_local(async move { counting.count(&bytes).await });
            let mut number = waiting.0.subscribe();
            timeout(PATIENCE, number.wait_for(|it| *it == 1))
                .await
                .unwrap()
                .unwrap();
            counting.abort();
            timeout(PATIENCE, number.wait_for(|it| *it == 0))
                .await
                .unwrap()
                .unwrap();
            // An app that answers soon is not waited for.
            let bytes = Arc::new(FirstBytes::default());
            bytes.client.notify_one();
            bytes.app.notify_one();
            let counting = Arc::clone(&waiting);
            task::spawn_local(async move { counting.count(&bytes).await });
            number.mark_unchanged();
            sleep(Duration::from_millis(100)).await;
            assert!(!number.has_changed().unwrap());
        });
    }
}
