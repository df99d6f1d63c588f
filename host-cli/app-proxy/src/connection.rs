//! The connection of a client: its requests, one after the other.

use crate::buffer::Buffer;
use crate::deadline::Deadline;
use crate::exchange::{End, Exchange, Side, broken_body, too_large};
use crate::flow::Flow;
use crate::limits::{BUFFER_BYTES, HEAD_BYTES, HEADERS, LINGER_BYTES, LINGER_TIME, LOG_BYTES};
use crate::page;
use crate::pool::{App, Pool};
use crate::refusal::Refusal;
use crate::reply::{Reply, Wanted};
use crate::request::{self, Body, Facts, Head};
use crate::site::Site;
use crate::target::Route;
use crate::tasks::{Log, TaskState};
use crate::tunnel::Tunnel;
use std::future::poll_fn;
use std::mem::{MaybeUninit, take};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// What a request asks for.
enum Wish {
    /// A response that is there already.
    Reply(Reply),
    Index,
    Log(String, Log),
    Health(Arc<Pool>),
    /// A response of an app; the request's head was written.
    App(Arc<Pool>),
}

/// What comes next on a connection.
enum Next {
    Request(Facts, Wish),
    /// A request that no other can follow.
    Refused(Refusal),
    End,
}

/// A connection of a client.
pub(crate) struct Client {
    stream: TcpStream,
    /// The client's address, for `X-Forwarded-For`.
    address: String,
    site: Arc<Site>,
    input: Buffer,
    /// Bytes of the next head in which its end was not found.
    seen: usize,
    /// The memory of what is written to the app, and to the client.
    up: Vec<u8>,
    down: Vec<u8>,
    deadline: Deadline,
}

impl Client {
    pub(crate) fn new(stream: TcpStream, address: String, site: Arc<Site>) -> Self {
        let deadline = Deadline::after(site.shared.limits.idle_time);
        Self {
            stream,
            address,
            site,
            input: Buffer::default(),
            seen: 0,
            up: Vec::new(),
            down: Vec::new(),
            deadline,
        }
    }

    /// Serves requests until the connection ends.
    pub(crate) async fn serve(mut self) {
        loop {
            self.deadline.set(self.site.shared.idle_time());
            let mut is_waiting = true;
            let next = poll_fn(|context| self.poll_next(&mut is_waiting, context)).await;
            let is_open = match next {
                Next::End => return,
                Next::Refused(refusal) => {
                    self.reply(&refusal.reply(Wanted::Json), false, true).await
                }
                Next::Request(facts, Wish::App(pool)) => self.forward(&facts, &pool).await,
                Next::Request(facts, wish) => {
                    let reply = self.made(&facts, wish).await;
                    // A body that nobody reads leaves no place where the next request begins.
                    let is_close = facts.is_close || has_body(&facts);
                    self.reply(&reply, facts.is_head, is_close).await
                }
            };
            if !is_open {
                return;
            }
            self.input.shrink();
        }
    }

    fn poll_next(&mut self, is_waiting: &mut bool, context: &mut Context<'_>) -> Poll<Next> {
        loop {
            let data = self.input.data();
            let news = &data[self.seen.min(data.len())..];
            let is_readable = data.len() > HEAD_BYTES || memchr::memchr(b'\n', news).is_some();
            if is_readable && let Some(next) = self.read_head() {
                self.seen = 0;
                return Poll::Ready(next);
            }
            self.seen = self.input.data().len();
            if *is_waiting && self.seen > 0 {
                *is_waiting = false;
                self.deadline.set(self.site.shared.limits.head_time);
            }
            match self
                .input
                .poll_fill(&mut self.stream, BUFFER_BYTES, context)
            {
                Poll::Ready(Ok(number)) if number > 0 => {}
                Poll::Ready(_) => return Poll::Ready(Next::End),
                Poll::Pending => {
                    ready!(self.deadline.poll(context));
                    let late = "the head of the request did not arrive in time";
                    return Poll::Ready(match self.input.is_empty() {
                        true => Next::End,
                        false => Next::Refused(Refusal::new(408, late)),
                    });
                }
            }
        }
    }

    /// Reads a head and finds what it asks for. Nothing, if it is not complete.
    fn read_head(&mut self) -> Option<Next> {
        let mut room = [const { MaybeUninit::uninit() }; HEADERS];
        let head = match request::read(self.input.data(), &mut room) {
            Ok(None) => return None,
            Ok(Some(mut head)) => {
                if self.site.task.is_some() {
                    head.facts.wanted = head.facts.wanted.bare();
                }
                head
            }
            Err(refusal) => return Some(Next::Refused(refusal)),
        };
        self.up.clear();
        let wish = wish(&self.site, &head, &self.address, &mut self.up);
        let facts = head.facts;
        let wish = wish.unwrap_or_else(|refusal| Wish::Reply(refusal.reply(facts.wanted)));
        self.input.consume(facts.length);
        Some(Next::Request(facts, wish))
    }

    /// Makes a response of the gateway itself.
    async fn made(&mut self, facts: &Facts, wish: Wish) -> Reply {
        let tasks = Arc::clone(&self.site.shared.tasks);
        let failed = |_| Refusal::new(503, "the gateway could not read it").reply(facts.wanted);
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
                        match facts.wanted {
                            Wanted::Page => page::log(&task_id, log, &text),
                            _ => Reply::new(200, "text/plain; charset=utf-8", text),
                        }
                    }
                    Ok(None) => Refusal::new(404, "the task has no such log").reply(facts.wanted),
                    Err(error) => failed(error),
                }
            }
            Wish::Health(pool) => match pool.reach(&self.site.shared.limits).await {
                Ok(app) => {
                    pool.keep(app);
                    Reply::new(200, "text/plain; charset=utf-8", b"ok\n".to_vec())
                }
                Err(refusal) => refusal.reply(facts.wanted),
            },
            Wish::App(_) => Refusal::new(502, "no response").reply(facts.wanted),
        }
    }

    /// Passes a request to an app, and its response back. Returns whether the connection goes on.
    async fn forward(&mut self, facts: &Facts, pool: &Arc<Pool>) -> bool {
        let limits = &self.site.clone().shared.limits;
        let refused = match facts.body {
            Body::Length(length) if length > limits.body_bytes => Some(too_large(limits)),
            _ => None,
        };
        let place = pool.enter(limits.task_connections);
        let refused = refused.or_else(|| match place {
            Some(_) => None,
            None => Some(
                Refusal::new(503, "the app works on too many requests").help("try again later"),
            ),
        });
        if let Some(refusal) = refused {
            let is_close = facts.is_close || has_body(facts);
            return self
                .reply(&refusal.reply(facts.wanted), facts.is_head, is_close)
                .await;
        }
        let mut app = match pool.take(facts.is_repeatable) {
            Some(app) => app,
            None => match pool.connect(limits).await {
                Ok(app) => app,
                Err(refusal) => return self.refuse(&refusal, facts, has_body(facts)).await,
            },
        };
        let mut flows = (
            Flow::with_head(take(&mut self.up)),
            Flow::new(take(&mut self.down)),
        );
        flows
            .0
            .body(facts.body.source(), facts.body.framing(), limits.body_bytes);
        // What is there of the body is written together with the head.
        if let Err(broken) = flows.0.feed(&mut self.input) {
            return self.refuse(&broken_body(broken, limits), facts, true).await;
        }
        loop {
            let client = Side {
                stream: &mut self.stream,
                input: &mut self.input,
            };
            let to = Side {
                stream: &mut app.stream,
                input: &mut app.input,
            };
            let is_shared = self.site.task.is_none();
            let is_reused = app.is_reused;
            let mut exchange =
                Exchange::new(facts, limits, (client, to), flows, is_shared, is_reused);
            let end = poll_fn(|context| exchange.poll(&mut self.deadline, context)).await;
            let is_taken = exchange.up.is_taken();
            flows = (exchange.up, exchange.down);
            match end {
                End::Done { is_kept, is_close } => {
                    if is_kept {
                        pool.keep(app);
                    }
                    (self.up, self.down) = (flows.0.into_out(), flows.1.into_out());
                    if is_close && !is_taken {
                        self.linger().await;
                    }
                    return !is_close;
                }
                End::Stale => {
                    flows.0.rewind();
                    app = match pool.connect(limits).await {
                        Ok(app) => app,
                        Err(refusal) => return self.refuse(&refusal, facts, false).await,
                    };
                }
                End::Refused(refusal) => return self.refuse(&refusal, facts, !is_taken).await,
                End::Upgraded => {
                    self.tunnel(app).await;
                    return false;
                }
                End::Broken => return false,
            }
        }
    }

    async fn refuse(&mut self, refusal: &Refusal, facts: &Facts, has_rest: bool) -> bool {
        let is_close = facts.is_close || has_rest;
        self.reply(&refusal.reply(facts.wanted), facts.is_head, is_close)
            .await
    }

    /// Writes a response of the gateway. Returns whether the connection goes on.
    async fn reply(&mut self, reply: &Reply, is_head: bool, is_close: bool) -> bool {
        self.down.clear();
        reply.write(&mut self.down, is_head, is_close);
        let written = self.stream.write_all(&self.down);
        let written = timeout(self.site.shared.limits.write_time, written).await;
        if is_close {
            self.linger().await;
        }
        !is_close && matches!(written, Ok(Ok(())))
    }

    /// Reads what the client still sends, so that the system does not drop the response with a reset
    /// (RFC 9112, 9.6).
    async fn linger(&mut self) {
        let mut rest = LINGER_BYTES;
        let mut dropped = [0; 4096];
        let _ = timeout(LINGER_TIME, async {
            self.stream.shutdown().await?;
            while rest > 0 {
                match self.stream.read(&mut dropped).await? {
                    0 => break,
                    number => rest = rest.saturating_sub(number),
                }
            }
            Ok::<_, std::io::Error>(())
        })
        .await;
    }

    async fn tunnel(&mut self, mut app: App) {
        let site = Arc::clone(&self.site);
        let client = Side {
            stream: &mut self.stream,
            input: &mut self.input,
        };
        let to = Side {
            stream: &mut app.stream,
            input: &mut app.input,
        };
        let mut tunnel = Tunnel::new(client, to);
        poll_fn(|context| tunnel.poll(&site.shared.limits, &mut self.deadline, context)).await;
    }
}

fn has_body(facts: &Facts) -> bool {
    !matches!(facts.body, Body::None | Body::Length(0))
}

/// Finds what a request asks for. The head of a request for an app is written to `out`.
fn wish(
    site: &Site,
    head: &Head<'_, '_>,
    client: &str,
    out: &mut Vec<u8>,
) -> Result<Wish, Refusal> {
    if !site.has_host(head.host) {
        return Err(
            Refusal::new(421, "`Host` is not the address of this gateway")
                .help("use the address that the command line shows"),
        );
    }
    if let Some(task_id) = &site.task {
        let pool = running(site, task_id)?;
        head.write(head.target, ["", ""], client, out);
        return Ok(Wish::App(pool));
    }
    let route = Route::of(head.target);
    if let Route::Path(task_id, path) = route {
        let pool = running(site, task_id)?;
        head.write(path, ["/apps/", task_id], client, out);
        return Ok(Wish::App(pool));
    }
    if !matches!(head.method, "GET" | "HEAD") && !matches!(route, Route::App(..) | Route::Nothing) {
        let refusal = Refusal::new(405, "this page is only for reading");
        return Ok(Wish::Reply(
            refusal.reply(head.facts.wanted).allow("GET, HEAD"),
        ));
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
        Route::Index | Route::Log(..) if head.is_embedded => Err(Refusal::new(
            403,
            "only a browser's address line opens this page",
        )),
        Route::Index => Ok(Wish::Index),
        Route::Log(task_id, log) => Ok(Wish::Log(task_id.to_owned(), log)),
        Route::Path(..) | Route::Nothing => Err(Refusal::new(404, "nothing has this path")
            .help("an app is at `/apps/`, followed by the id of its task and `/`")),
    }
}

/// Returns the connections to the app of a running task.
fn running(site: &Site, task_id: &str) -> Result<Arc<Pool>, Refusal> {
    let shared = &site.shared;
    match shared.tasks.state(task_id) {
        TaskState::Running(socket) => Ok(shared.pools.of(task_id, &socket)),
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
