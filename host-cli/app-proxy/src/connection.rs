//! The connection of a client: its requests, one after the other.

use crate::body::Content;
use crate::exchange::Target;
use crate::limits::{BUFFER_BYTES, LOG_BYTES};
use crate::page;
use crate::pool::Pool;
use crate::refusal::Refusal;
use crate::reply::{Reply, Wanted};
use crate::request::Facts;
use crate::site::Site;
use crate::stream::{CheckedStream, Link};
use crate::target::Route;
use crate::tasks::{Log, TaskState};
use hyper::body::{Body as _, Incoming};
use hyper::header::{HOST, HeaderValue};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, Uri};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;

/// What a request asks for.
enum Wish {
    /// A response that is there already.
    Reply(Reply),
    Index,
    Log(String, Log),
    Health(Arc<Pool>),
    /// A response of an app.
    App(Target),
}

/// A client.
pub(crate) struct Client {
    pub(crate) site: Arc<Site>,
    pub(crate) link: Arc<Link>,
    /// The client's address, for `X-Forwarded-For`.
    pub(crate) address: HeaderValue,
}

/// Serves requests of a client until its connection ends.
pub(crate) async fn serve(stream: TcpStream, address: IpAddr, site: Arc<Site>) {
    let Ok(address) = HeaderValue::try_from(address.to_string()) else {
        return;
    };
    let link = Arc::new(Link::default());
    let stream = CheckedStream::new(stream, Arc::clone(&site), Arc::clone(&link));
    let client = Arc::new(Client {
        site,
        link,
        address,
    });
    let service = service_fn(|request| {
        let client = Arc::clone(&client);
        // Before the next head is read, which may be refused too.
        let refusal = client.link.refusal();
        async move {
            Ok::<_, Infallible>(match refusal {
                Some(refusal) => refusal.reply(Wanted::Json).response(true),
                None => client.answer(request).await,
            })
        }
    });
    let connection = http1::Builder::new()
        .preserve_header_case(true)
        .title_case_headers(true)
        .header_read_timeout(None)
        .max_buf_size(BUFFER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    // A client that breaks off is not worth a word.
    let _ = connection.with_upgrades().await;
    if let Some(tunnel) = client.link.tunnel() {
        let silence = client.site.shared.limits.stream_time;
        tunnel.run(&client.link, silence).await;
    }
}

impl Client {
    async fn answer(&self, request: Request<Incoming>) -> Response<Content> {
        let waiting = self.link.request();
        let (parts, body) = request.into_parts();
        let mut facts = Facts::of(&parts, &body);
        if self.site.task.is_some() {
            facts.wanted = facts.wanted.bare();
        }
        // After an unread body, the start of the next request is unknown.
        let has_body = !body.is_end_stream();
        let reply = match wish(&self.site, &parts, &facts) {
            Ok(Wish::App(target)) => {
                match self.forward((parts, body), &facts, target, waiting).await {
                    Ok(response) => return response,
                    Err(refusal) => refusal.reply(facts.wanted),
                }
            }
            Ok(wish) => self.made(facts.wanted, wish).await,
            Err(refusal) => refusal.reply(facts.wanted),
        };
        reply.response(has_body)
    }

    /// Makes a response of the gateway itself.
    async fn made(&self, wanted: Wanted, wish: Wish) -> Reply {
        let tasks = Arc::clone(&self.site.shared.tasks);
        let failed = |_| Refusal::new(503, "the gateway could not read it").reply(wanted);
        match wish {
            Wish::Reply(reply) => reply,
            Wish::Index => match spawn_blocking(move || tasks.list()).await {
                Ok(list) => page::index(&list),
                Err(error) => failed(error),
            },
            Wish::Log(task_id, log) => {
                let id = task_id.clone();
                match spawn_blocking(move || tasks.log(&id, log)).await {
                    Ok(Some(mut text)) => {
                        text.drain(..text.len().saturating_sub(LOG_BYTES));
                        match wanted {
                            Wanted::Page => page::log(&task_id, log, &text),
                            _ => Reply::new(200, "text/plain; charset=utf-8", text),
                        }
                    }
                    Ok(None) => Refusal::new(404, "the task has no such log").reply(wanted),
                    Err(error) => failed(error),
                }
            }
            Wish::Health(pool) => match pool.reach(&self.site.shared.limits).await {
                Ok(()) => Reply::new(200, "text/plain; charset=utf-8", b"ok\n".to_vec()),
                Err(refusal) => refusal.reply(wanted),
            },
            Wish::App(_) => Refusal::new(502, "no response").reply(wanted),
        }
    }
}

/// Finds what a request asks for.
fn wish(site: &Site, parts: &Parts, facts: &Facts) -> Result<Wish, Refusal> {
    let host = parts.headers.get(HOST).and_then(|it| it.to_str().ok());
    if !host.is_some_and(|host| site.has_host(host)) {
        return Err(
            Refusal::new(421, "`Host` is not the address of this gateway")
                .help("use the address that the command line shows"),
        );
    }
    let path = parts.uri.path_and_query().map_or("/", |it| it.as_str());
    if let Some(task_id) = &site.task {
        let pool = running(site, task_id)?;
        return to_app(pool, path, None);
    }
    let route = Route::of(path);
    if let Route::Path(task_id, path) = route {
        let prefix = HeaderValue::try_from(format!("/apps/{task_id}"));
        return to_app(running(site, task_id)?, path, prefix.ok());
    }
    let is_read = matches!(parts.method, Method::GET | Method::HEAD);
    if !is_read && !matches!(route, Route::App(..) | Route::Nothing) {
        let refusal = Refusal::new(405, "this page is only for reading");
        return Ok(Wish::Reply(refusal.reply(facts.wanted).allow("GET, HEAD")));
    }
    match route {
        Route::App(task_id, query) => {
            running(site, task_id)?;
            Ok(Wish::Reply(Reply::redirect(format!(
                "/apps/{task_id}/{query}"
            ))))
        }
        Route::Health(task_id) => Ok(Wish::Health(running(site, task_id)?)),
        Route::Style => Ok(Wish::Reply(page::style())),
        // The page of an app has the same origin: it must not read what tasks are and write.
        Route::Index | Route::Log(..) if facts.is_embedded => Err(Refusal::new(
            403,
            "only a browser's address line opens this page",
        )),
        Route::Index => Ok(Wish::Index),
        Route::Log(task_id, log) => Ok(Wish::Log(task_id.to_owned(), log)),
        Route::Path(..) | Route::Nothing => Err(Refusal::new(404, "nothing has this path")
            .help("an app is at `/apps/`, followed by the id of its task and `/`")),
    }
}

fn to_app(pool: Arc<Pool>, path: &str, prefix: Option<HeaderValue>) -> Result<Wish, Refusal> {
    let uri = Uri::try_from(path).map_err(|_| Refusal::bad("the request target is malformed"))?;
    Ok(Wish::App(Target { pool, uri, prefix }))
}

/// Returns the connections to the app of a running task.
fn running(site: &Site, task_id: &str) -> Result<Arc<Pool>, Refusal> {
    let shared = &site.shared;
    match shared.tasks.state(task_id) {
        TaskState::Running(socket) => Ok(shared.pools.of(task_id, &socket)),
        TaskState::Leased(socket) if site.task.is_some() => Ok(shared.pools.of(task_id, &socket)),
        TaskState::Leased(_) => {
            let message = format!("the gateway does not serve task `{task_id}`");
            Err(Refusal::new(404, message).help("use its leased port: `mcp open` prints it"))
        }
        TaskState::Unknown => Err(Refusal::new(404, format!("no task has the id `{task_id}`"))
            .help("list the tasks with `mcp list`")),
        TaskState::Waiting => Err(Refusal::new(
            502,
            format!("the app of task `{task_id}` has not started"),
        )
        .help("start it, or wait until it is ready")),
        TaskState::Ended => {
            shared.pools.remove(task_id);
            Err(Refusal::new(410, format!("task `{task_id}` has ended"))
                .help("print its folder with `mcp open`"))
        }
    }
}
