//! A server that asks Cedar or regorus about calls, in the frame of `agent-pdp`: HTTP on a Unix socket, which worker threads share.
//!
//! Each worker has an engine of its own. It reads the question of `/v1/decide`, evaluates the policy, and answers with `allowed`. It has no
//! lock: arguments are not validated, and no tool is looked up.

use cedar_policy::{Authorizer, Context, Decision, Entities, EntityUid, PolicySet, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request as Question, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::convert::Infallible;
use std::error::Error;
use std::os::unix::net::UnixListener;
use std::rc::Rc;
use std::thread;
use tokio::net;
use tokio::runtime::Builder;
use tokio::task::{LocalSet, spawn_local};

type Failure = Box<dyn Error + Send + Sync>;

/// An engine with its policy.
enum Engine {
    Cedar(Box<(Authorizer, PolicySet, Entities)>),
    Regorus(Box<regorus::Engine>),
}

impl Engine {
    fn new(name: &str, policy: &str) -> Result<Self, Failure> {
        Ok(match name {
            "cedar" => Self::Cedar(Box::new((
                Authorizer::new(),
                policy.parse()?,
                Entities::empty(),
            ))),
            "regorus" => {
                let mut engine = regorus::Engine::new();
                engine.add_policy("policy.rego".to_owned(), policy.to_owned())?;
                Self::Regorus(Box::new(engine))
            }
            _ => return Err("the engine is cedar or regorus".into()),
        })
    }

    fn decide(&mut self, question: &Value) -> Result<bool, Failure> {
        let tool = question["tool"].as_str().ok_or("`tool` is missing")?;
        let subject = &question["subject"];
        let id = subject["id"].as_str().ok_or("`subject.id` is missing")?;
        match self {
            Self::Cedar(cedar) => {
                let (authorizer, policies, entities) = &**cedar;
                let uid = |kind: &str, id: &str| {
                    Ok::<_, Failure>(EntityUid::from_type_name_and_id(kind.parse()?, id.parse()?))
                };
                let context = json!({
                    "arguments": question["arguments"],
                    "properties": subject["properties"],
                });
                let request = Request::new(
                    uid("User", id)?,
                    uid("Action", "call")?,
                    uid("Tool", tool)?,
                    Context::from_json_value(context, None)?,
                    None,
                )?;
                let answer = authorizer.is_authorized(&request, policies, entities);
                Ok(answer.decision() == Decision::Allow)
            }
            Self::Regorus(engine) => {
                let input = json!({
                    "arguments": question["arguments"],
                    "candidate_tools": [{ "id": tool, "tool": tool }],
                    "context": {},
                    "phase": "call",
                    "subject": subject,
                });
                engine.set_input(input.into());
                let allowed = engine.eval_rule("data.switchboard.allowed_tools".to_owned())?;
                Ok(allowed.as_set()?.contains(&tool.into()))
            }
        }
    }
}

async fn answer(
    engine: Rc<RefCell<Engine>>,
    question: Question<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = question.into_body().collect().await;
    let body = body.map(|it| it.to_bytes()).unwrap_or_default();
    let decided = serde_json::from_slice(&body)
        .map_err(Failure::from)
        .and_then(|question| engine.borrow_mut().decide(&question));
    let text = match decided {
        Ok(allowed) => json!({ "allowed": allowed }),
        Err(error) => json!({ "error": error.to_string() }),
    };
    let body = Full::new(Bytes::from(text.to_string()));
    Ok(Response::builder()
        .header("content-type", "application/json")
        .body(body)
        .unwrap_or_default())
}

fn serve(listener: UnixListener, name: &str, policy: &str) -> Result<(), Failure> {
    let engine = Rc::new(RefCell::new(Engine::new(name, policy)?));
    let runtime = Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async {
        let listener = net::UnixListener::from_std(listener)?;
        loop {
            let (stream, _) = listener.accept().await?;
            let engine = Rc::clone(&engine);
            spawn_local(async move {
                let service = service_fn(|question| answer(Rc::clone(&engine), question));
                // A client may close its connection at any time.
                let _ = http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    })
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [name, policy, socket, threads] = &arguments[..] else {
        return Err("give the engine, the policy, the socket and the number of threads".into());
    };
    let policy = std::fs::read_to_string(policy)?;
    let listener = UnixListener::bind(socket)?;
    listener.set_nonblocking(true)?;
    let mut workers = Vec::new();
    for _ in 0..threads.parse()? {
        let (listener, name, policy) = (listener.try_clone()?, name.clone(), policy.clone());
        workers.push(thread::spawn(move || serve(listener, &name, &policy)));
    }
    for worker in workers {
        worker.join().map_err(|_| "a worker panicked")??;
    }
    Ok(())
}
