//! Bodies on their way: to an app, and to a client.

use crate::app::App;
use crate::deadline::Deadline;
use crate::field::is_trailer;
use crate::limits::{EXPECT_TIME, INTERIM_RESPONSES};
use crate::pool::{Place, Pool};
use crate::stream;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::http::HeaderMap;
use std::error::Error;
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

/// How far a request is, which its response depends on.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    is_sent: AtomicBool,
    has_moved: AtomicBool,
    interim: AtomicU32,
    /// The app wants the body.
    go: Notify,
}

impl Progress {
    /// Returns whether the whole body was taken from the client.
    pub(crate) fn is_sent(&self) -> bool {
        self.is_sent.load(Ordering::Relaxed)
    }

    /// Returns whether a part of the body, or an interim response, has passed since the last call.
    pub(crate) fn has_moved(&self) -> bool {
        self.has_moved.swap(false, Ordering::Relaxed)
    }

    /// Takes an interim response.
    pub(crate) fn interim(&self, status: u16) {
        if self.interim.fetch_add(1, Ordering::Relaxed) < INTERIM_RESPONSES {
            self.has_moved.store(true, Ordering::Relaxed);
        }
        if status == 100 {
            self.go.notify_one();
        }
    }

    /// Returns whether there were too many interim responses.
    pub(crate) fn is_endless(&self) -> bool {
        self.interim.load(Ordering::Relaxed) > INTERIM_RESPONSES
    }
}

/// Why the body of a request can't go on.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The body is larger than the limit.
    TooLarge,
    /// The client is too slow.
    Late,
    /// The chunks are malformed, or the client has gone.
    Malformed,
}

impl Broken {
    fn of(error: &hyper::Error) -> Self {
        let cause = error.source().and_then(|it| it.downcast_ref());
        match cause.map(io::Error::kind) {
            Some(io::ErrorKind::TimedOut) => Self::Late,
            _ => Self::Malformed,
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Error for Broken {}

/// The body of a request for an app.
pub(crate) struct Upload {
    /// Nothing, if the request has no body.
    body: Option<Incoming>,
    /// Bytes that the body may still have.
    rest: u64,
    progress: Arc<Progress>,
    /// Ends when the client may be asked for the body.
    wait: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Upload {
    /// A body of at most `limit` bytes. With `expects` the client sends it when the app has agreed, or after a second:
    /// apps that know nothing of the expectation wait for the body.
    pub(crate) fn new(body: Incoming, limit: u64, progress: &Arc<Progress>, expects: bool) -> Self {
        let wait = expects.then(|| {
            let progress = Arc::clone(progress);
            let wait = async move { drop(timeout(EXPECT_TIME, progress.go.notified()).await) };
            Box::pin(wait) as Pin<Box<_>>
        });
        let mut upload = Self {
            wait,
            ..Self::empty(progress)
        };
        if !body.is_end_stream() {
            upload.progress.is_sent.store(false, Ordering::Relaxed);
            (upload.body, upload.rest) = (Some(body), limit);
        }
        upload
    }

    /// The body of a request that has none.
    pub(crate) fn empty(progress: &Arc<Progress>) -> Self {
        progress.is_sent.store(true, Ordering::Relaxed);
        Self {
            body: None,
            rest: 0,
            progress: Arc::clone(progress),
            wait: None,
        }
    }

    fn end(&mut self) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        self.body = None;
        self.progress.is_sent.store(true, Ordering::Relaxed);
        Poll::Ready(None)
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        if let Some(wait) = &mut self.wait {
            ready!(wait.as_mut().poll(context));
            self.wait = None;
        }
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let frame = match ready!(Pin::new(&mut *body).poll_frame(context)) {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => return Poll::Ready(Some(Err(Broken::of(&error)))),
            None => return self.end(),
        };
        let is_last = body.is_end_stream();
        let Some(data) = frame.data_ref() else {
            // An app that joins trailers with headers would take them for statements of this gateway.
            return self.end();
        };
        self.rest = match self.rest.checked_sub(data.len() as u64) {
            Some(rest) => rest,
            None => return Poll::Ready(Some(Err(Broken::TooLarge))),
        };
        self.progress.has_moved.store(true, Ordering::Relaxed);
        if is_last {
            let _ = self.end();
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Some(body) => body.size_hint(),
            None => SizeHint::with_exact(0),
        }
    }
}

/// The body of a response.
pub(crate) enum Content {
    /// Of the gateway.
    Own(Option<Bytes>),
    /// Of an app.
    App(Box<Download>),
}

impl Content {
    pub(crate) fn own(body: Vec<u8>) -> Self {
        Self::Own((!body.is_empty()).then(|| body.into()))
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Next> {
        match self.get_mut() {
            Self::Own(body) => Poll::Ready(body.take().map(|it| Ok(Frame::data(it)))),
            Self::App(download) => download.poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Own(body) => body.is_none(),
            Self::App(it) => it.first.is_none() && it.body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Own(body) => SizeHint::with_exact(body.as_ref().map_or(0, |it| it.len() as u64)),
            Self::App(download) => download.size,
        }
    }
}

/// The body of an app's response. Its connection is kept when both bodies have passed, and else closed.
pub(crate) struct Download {
    first: Option<Next>,
    body: Incoming,
    size: SizeHint,
    app: Option<App>,
    pool: Arc<Pool>,
    progress: Arc<Progress>,
    /// Time for which the app may be silent.
    silence: Duration,
    /// The time since when it is.
    since: Option<Instant>,
    deadline: Option<Deadline>,
    _held: (Place, stream::Request),
}

/// A part of a body, or its end.
type Next = Option<Result<Frame<Bytes>, hyper::Error>>;

impl Download {
    /// Takes the body of a response that `app` has begun. What is there of the body already leaves together with the
    /// head.
    ///
    /// # Errors
    ///
    /// When the body breaks off at its beginning.
    pub(crate) async fn start(
        mut body: Incoming,
        app: App,
        pool: Arc<Pool>,
        progress: Arc<Progress>,
        silence: Duration,
        held: (Place, stream::Request),
    ) -> Result<Self, hyper::Error> {
        let size = body.size_hint();
        let mut first = None;
        if !body.is_end_stream() {
            let mut has_waited = false;
            // The first poll lets the task of the app's connection read on, which runs before the second one.
            first = poll_fn(|context| match Pin::new(&mut body).poll_frame(context) {
                Poll::Ready(next) => Poll::Ready(Some(next)),
                Poll::Pending if has_waited => Poll::Ready(None),
                Poll::Pending => {
                    has_waited = true;
                    context.waker().wake_by_ref();
                    Poll::Pending
                }
            })
            .await;
        }
        if let Some(Some(Err(error))) = first {
            return Err(error);
        }
        Ok(Self {
            first,
            body,
            size,
            app: Some(app),
            pool,
            progress,
            silence,
            since: None,
            deadline: None,
            _held: held,
        })
    }

    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Next> {
        let next = match self.first.take() {
            Some(first) => Poll::Ready(first),
            None => Pin::new(&mut self.body).poll_frame(context),
        };
        let Poll::Ready(next) = next else {
            let end = *self.since.get_or_insert_with(Instant::now) + self.silence;
            let deadline = self.deadline.get_or_insert_with(|| Deadline::at(end));
            ready!(deadline.poll(end, context));
            // The body breaks off with the connection.
            self.app = None;
            return Pin::new(&mut self.body).poll_frame(context);
        };
        self.since = None;
        Poll::Ready(match next {
            Some(Ok(frame)) => Some(Ok(without_framing(frame))),
            Some(Err(error)) => Some(Err(error)),
            None => {
                self.end();
                None
            }
        })
    }

    fn end(&mut self) {
        if let Some(app) = self.app.take()
            && self.progress.is_sent()
        {
            self.pool.keep(app);
        }
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        if self.body.is_end_stream() {
            self.end();
        }
    }
}

/// Removes fields of a trailer section that must not be passed on.
fn without_framing(frame: Frame<Bytes>) -> Frame<Bytes> {
    match frame.into_trailers() {
        Ok(trailers) => {
            let mut name = None;
            let mut passed = HeaderMap::new();
            for (next, value) in trailers {
                name = next.or(name);
                if let Some(name) = name.as_ref().filter(|it| is_trailer(it.as_str())) {
                    passed.append(name, value);
                }
            }
            Frame::trailers(passed)
        }
        Err(frame) => frame,
    }
}
