//! One request to an app, and its response.

use crate::app::App;
use crate::body::{Broken, Content, Download, Progress, Upload};
use crate::connection::Client;
use crate::limits::{HAND_OVER_TIME, Limits};
use crate::pool::Pool;
use crate::refusal::Refusal;
use crate::request::{self, Facts};
use crate::response::{self, BadResponse};
use crate::stream;
use crate::tunnel::Tunnel;
use hyper::body::{Body as _, Incoming};
use hyper::ext::on_informational;
use hyper::http::header::{CONNECTION, HeaderValue};
use hyper::http::request::Parts;
use hyper::upgrade::OnUpgrade;
use hyper::{Request, Response, StatusCode, Uri};
use std::error::Error as _;
use std::pin::pin;
use std::sync::Arc;
use tokio::time::timeout;

/// Where a request goes.
pub(crate) struct Target {
    pub(crate) pool: Arc<Pool>,
    pub(crate) uri: Uri,
    pub(crate) prefix: Option<HeaderValue>,
}

/// A request that was not answered.
struct Failed {
    /// The request, if nothing of it was sent.
    unsent: Option<Request<Upload>>,
    /// Whether the app had closed an idle connection, as it seems.
    is_stale: bool,
    refusal: Refusal,
}

impl Client {
    /// Passes a request to an app, and its response back.
    pub(crate) async fn forward(
        &self,
        (mut parts, body): (Parts, Incoming),
        facts: &Facts,
        target: Target,
        waiting: stream::Request,
    ) -> Result<Response<Content>, Refusal> {
        let Target { pool, uri, prefix } = target;
        let limits = &self.site.shared.limits;
        if body.size_hint().lower() > limits.body_bytes {
            return Err(too_large(limits));
        }
        let place = pool.enter(limits.task_connections).ok_or_else(|| {
            Refusal::new(503, "the app works on too many requests").help("try again later")
        })?;
        let mut app = match pool.take(facts.is_repeatable) {
            Some(app) => app,
            None => pool.connect(limits).await?,
        };
        let upgrade = parts.extensions.remove::<OnUpgrade>();
        let progress = Arc::new(Progress::new(&self.link));
        let mut head = |upload| {
            let (uri, prefix) = (uri.clone(), prefix.clone());
            request::translate(&mut parts, facts, uri, prefix, &self.address).map(|()| upload)
        };
        let upload = Upload::new(body, limits.body_bytes, &progress, facts.expects);
        let mut request = head(upload);
        let response = loop {
            let failed = match ask(&mut app, request, &pool, &progress, limits).await {
                Ok(response) => break response,
                Err(failed) => failed,
            };
            request = match failed.unsent {
                Some(request) if app.is_reused => request,
                None if failed.is_stale && facts.is_repeatable => head(Upload::empty(&progress)),
                _ => return Err(failed.refusal),
            };
            app = pool.connect(limits).await?;
        };
        let (mut parts, body) = response.into_parts();
        response::translate(&mut parts, facts, self.site.task.is_none()).map_err(bad)?;
        let to = parts.extensions.remove::<OnUpgrade>();
        if let (StatusCode::SWITCHING_PROTOCOLS, Some(client), Some(to)) =
            (parts.status, upgrade, to)
        {
            let (_app, _place) = (app, place);
            self.link.set_tunnel(Tunnel {
                client,
                to,
                _app,
                _place,
            });
            return Ok(Response::from_parts(parts, Content::Own(None)));
        }
        if !progress.is_sent() || facts.body == request::Body::Chunked {
            // The start of the next request is unknown.
            let close = HeaderValue::from_static("close");
            parts.headers.insert(CONNECTION, close);
        }
        let held = (place, waiting);
        let download = Download::start(body, app, pool, progress, limits.stream_time, held);
        let download = download.await.map_err(|_| {
            let why = "the body of the app's response is malformed, or ends early";
            bad(BadResponse(why))
        })?;
        let content = Content::App(Box::new(download));
        Ok(Response::from_parts(parts, content))
    }
}

/// Sends a request and waits for the head of its response.
async fn ask(
    app: &mut App,
    mut request: Request<Upload>,
    pool: &Pool,
    progress: &Arc<Progress>,
    limits: &Limits,
) -> Result<Response<Incoming>, Failed> {
    let counted = Arc::clone(progress);
    on_informational(&mut request, move |interim| {
        counted.interim(interim.status().as_u16());
    });
    app.is_heard();
    let mut answer = pin!(app.sender.try_send_request(request));
    let answer = match timeout(HAND_OVER_TIME, &mut answer).await {
        Ok(answer) => Some(answer),
        Err(_) => {
            let _waiting = pool.wait();
            loop {
                match timeout(limits.response_time, &mut answer).await {
                    Ok(answer) => break Some(answer),
                    Err(_) if progress.has_moved() => {}
                    Err(_) => break None,
                }
            }
        }
    };
    let failed = |refusal| Failed {
        unsent: None,
        is_stale: false,
        refusal,
    };
    match answer {
        Some(Ok(_)) if progress.is_endless() => {
            let why = "the app sends interim responses without an end";
            Err(failed(bad(BadResponse(why))))
        }
        Some(Ok(response)) => Ok(response),
        Some(Err(mut error)) => {
            let is_heard = app.is_heard();
            let refusal = refused(error.error(), is_heard, limits);
            Err(Failed {
                unsent: error.take_message(),
                is_stale: app.is_reused && !is_heard,
                refusal,
            })
        }
        None => Err(failed(Refusal::new(504, "the app did not respond in time"))),
    }
}

fn refused(error: &hyper::Error, is_heard: bool, limits: &Limits) -> Refusal {
    match error.source().and_then(|it| it.downcast_ref()) {
        Some(Broken::TooLarge) => return too_large(limits),
        Some(Broken::Late) => {
            return Refusal::new(408, "the body of the request did not arrive in time");
        }
        Some(Broken::Malformed) => return Refusal::bad("the chunks of the body are malformed"),
        None => {}
    }
    bad(BadResponse(if error.is_parse_too_large() {
        "the head of the app's response is too large"
    } else if error.is_parse() {
        "the head of the app's response is malformed"
    } else if is_heard {
        "the app's response ends within its head"
    } else {
        let why = "the app closed the connection without a response";
        return Refusal::new(502, why);
    }))
}

fn bad(bad: BadResponse) -> Refusal {
    Refusal::new(502, bad.0).help("the app breaks a rule of HTTP")
}

/// A body that is larger than the limit.
fn too_large(limits: &Limits) -> Refusal {
    let limit = limits.body_bytes;
    Refusal::new(
        413,
        format!("the body of the request is larger than {limit} bytes"),
    )
}
