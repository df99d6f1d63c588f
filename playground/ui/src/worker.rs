//! The connection to the worker in which the engine runs.
//!
//! The client sends one request at a time. All later changes go into the next request, so that
//! typing never builds a queue. A worker that fails or takes too long is replaced by a new one,
//! which receives every text again.

use crate::browser::object;
use crate::editor::Editors;
use agent_answer::DocumentKind;
use agent_worker_protocol::from_bytes;
use gloo_timers::callback::Timeout;
use js_sys::{Array, Uint8Array};
use serde::de::DeserializeOwned;
use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::rc::Rc;
use wasm_bindgen::prelude::{Closure, JsCast as _, wasm_bindgen};
use web_sys::{MessageEvent, Worker, WorkerOptions, WorkerType};
use yew::Callback;

/// Maximum time for an answer, in milliseconds. An index of 512 MiB, the largest that the engine
/// reads, takes less.
const TIMEOUT: u32 = 60_000;

/// Number of edits of each document, by its kind.
pub type Edits = [u32; DocumentKind::ALL.len()];

/// The requests and answers of a page and its worker.
pub trait WorkerProtocol: 'static {
    /// The content of a request, besides the texts that changed.
    type Wanted: Clone + Debug + PartialEq + 'static;
    /// The worker's description of itself.
    type About: DeserializeOwned + Clone + Debug + Default + PartialEq + 'static;
    /// An answer.
    type Answer: DeserializeOwned + Debug + 'static;

    /// Returns the script of a worker that can read what the editors hold and answer the next request,
    /// relative to the page. `present` is the script of the running worker.
    fn script(
        editors: &Editors,
        wanted: Option<&Self::Wanted>,
        present: Option<&'static str>,
    ) -> &'static str;

    /// Returns whether a document is sent to the worker.
    fn reads(_kind: DocumentKind) -> bool {
        true
    }

    /// Returns the script of a worker that answers the same request better, if there is one.
    fn better_script(
        _answer: &Self::Answer,
        _present: Option<&'static str>,
    ) -> Option<&'static str> {
        None
    }

    /// Returns the message that the page shows while it loads a script, if it shows any.
    fn loading(_script: &'static str) -> Option<&'static str> {
        None
    }

    /// Returns the reason why there is no answer if a script can't be loaded.
    fn missing(script: &'static str) -> &'static str;

    /// Returns a request as bytes. The texts that changed are sent separately.
    fn request(wanted: &Self::Wanted) -> Vec<u8>;

    /// Adds texts that are sent together with a document and are in no editor.
    fn add_texts(_kind: DocumentKind, _wanted: &Self::Wanted, _texts: &Array) {}
}

/// An event of a worker.
#[derive(Debug)]
pub enum WorkerEvent<P: WorkerProtocol> {
    /// A worker is being loaded. The text is for the user.
    Loading(&'static str),
    /// The worker is ready for requests.
    Ready(P::About),
    /// The worker answered.
    Answered {
        /// The revision of the request.
        revision: u32,
        /// The answer.
        answer: P::Answer,
        /// The engine's time for it.
        milliseconds: f64,
    },
    /// The worker failed, for this reason.
    Failed(String),
}

#[wasm_bindgen]
extern "C" {
    /// A message of a worker: its description, an answer with its time, or a failure.
    type Message;
    #[wasm_bindgen(method, getter)]
    fn about(this: &Message) -> Option<Vec<u8>>;
    #[wasm_bindgen(method, getter)]
    fn answer(this: &Message) -> Option<Vec<u8>>;
    #[wasm_bindgen(method, getter)]
    fn milliseconds(this: &Message) -> Option<f64>;
    #[wasm_bindgen(method, getter)]
    fn failure(this: &Message) -> Option<String>;
}

/// A client of the page's worker. It starts the worker and replaces it.
pub struct WorkerClient<P: WorkerProtocol> {
    editors: Rc<Editors>,
    report: Callback<WorkerEvent<P>>,
    connection: RefCell<Connection<P::Wanted>>,
    /// The script that an answer asked for.
    better: Cell<Option<&'static str>>,
    /// Whether such a script could not be loaded.
    unavailable: Cell<bool>,
}

/// A request that waits for the worker: its revision, its content, and the edits until it.
type Next<W> = (u32, W, Edits);

/// The number of edits of each text when it was last sent.
type Sent = [Option<u32>; DocumentKind::ALL.len()];

/// A request that another worker has answered, the texts that it had, and their edits.
struct Answered<W> {
    request: Next<W>,
    texts: Array,
    sent: Sent,
}

struct Connection<W> {
    worker: Option<RunningWorker>,
    /// Whether the worker has sent anything.
    ready: bool,
    /// The request that the worker is answering.
    pending: Option<Next<W>>,
    sent: Sent,
    next: Option<Next<W>>,
    /// What the worker before has answered.
    answered: Option<Answered<W>>,
    /// Ends the worker. Dropping it cancels that.
    timeout: Option<Timeout>,
}

impl<W> Connection<W> {
    /// Returns a connection without a worker.
    fn new(next: Option<Next<W>>) -> Self {
        Self {
            worker: None,
            ready: false,
            pending: None,
            sent: Sent::default(),
            next,
            answered: None,
            timeout: None,
        }
    }
}

/// A worker, which ends with this.
struct RunningWorker {
    worker: Worker,
    script: &'static str,
}

impl Drop for RunningWorker {
    fn drop(&mut self) {
        // Messages that it has posted would still arrive.
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

impl<P: WorkerProtocol> WorkerClient<P> {
    /// Starts a worker. `report` receives its events.
    pub fn start(editors: Rc<Editors>, report: Callback<WorkerEvent<P>>) -> Rc<Self> {
        let client = Rc::new(Self {
            editors,
            report,
            connection: RefCell::new(Connection::new(None)),
            better: Cell::new(None),
            unavailable: Cell::new(false),
        });
        client.connect();
        client
    }

    fn connect(self: &Rc<Self>) {
        let next = self.connection.borrow_mut().next.take();
        let wanted = next.as_ref().map(|(_, wanted, _)| wanted);
        let script = P::script(&self.editors, wanted, self.better.get());
        self.connection.replace(Connection::new(next));
        if let Some(message) = P::loading(script) {
            self.report.emit(WorkerEvent::Loading(message));
        }
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let worker = match Worker::new_with_options(script, &options) {
            Ok(worker) => worker,
            Err(error) => {
                let reason = format!("the browser can't start a worker: {error:?}");
                return self.report.emit(WorkerEvent::Failed(reason));
            }
        };
        worker.set_onmessage(Some(&self.listener(|client, event| {
            client.receive(event.data().unchecked_ref());
        })));
        worker.set_onerror(Some(&self.listener(move |client, _| {
            let is_ready = client.connection.borrow().ready;
            client.fail(match is_ready {
                true => "the engine has died while it worked",
                false => P::missing(script),
            });
        })));
        self.connection.borrow_mut().worker = Some(RunningWorker { worker, script });
    }

    fn listener(
        self: &Rc<Self>,
        listen: impl Fn(&Rc<Self>, MessageEvent) + 'static,
    ) -> js_sys::Function {
        let client = Rc::downgrade(self);
        let listener = Closure::<dyn FnMut(MessageEvent)>::new(move |event| {
            if let Some(client) = client.upgrade() {
                listen(&client, event);
            }
        });
        listener.into_js_value().unchecked_into()
    }

    /// Sends a request, now or as soon as the worker has answered the one before.
    pub fn request(self: &Rc<Self>, revision: u32, wanted: P::Wanted, edits: Edits) {
        let mut connection = self.connection.borrow_mut();
        let present = connection.worker.as_ref().map(|worker| worker.script);
        let script = P::script(&self.editors, Some(&wanted), present);
        connection.next = Some((revision, wanted, edits));
        drop(connection);
        // After a failure the change is worth another attempt. Where the texts need another worker,
        // the answer of this one would be useless.
        if present == Some(script) {
            self.send_next();
        } else {
            self.connect();
        }
    }

    /// Sends the next request, if there is one and the worker is idle.
    fn send_next(self: &Rc<Self>) {
        let mut connection = self.connection.borrow_mut();
        let Connection {
            worker: Some(RunningWorker { worker, .. }),
            ready: true,
            pending: pending @ None,
            sent,
            next,
            answered,
            timeout,
        } = &mut *connection
        else {
            return;
        };
        let Some((.., edits)) = next else {
            return;
        };
        // A worker compares with texts that it has seen: those that were edited while it was loaded come first.
        let answered = answered.take().filter(|it| it.request.2 != *edits);
        let (request, texts) = match answered {
            Some(answered) => {
                *sent = answered.sent;
                (answered.request, answered.texts)
            }
            None => {
                let Some(request) = next.take() else {
                    return;
                };
                let texts = self.texts(&request, sent);
                (request, texts)
            }
        };
        let bytes = Uint8Array::from(P::request(&request.1).as_slice());
        let message = object(&[("request", bytes.into()), ("texts", texts.into())]);
        let mut delay = TIMEOUT;
        let mut reason = "the engine took too long, and was stopped".to_owned();
        if let Err(error) = worker.post_message(&message) {
            delay = 0;
            reason = format!("the browser can't send the inputs to the engine: {error:?}");
        }
        *pending = Some(request);
        let client = Rc::clone(self);
        *timeout = Some(Timeout::new(delay, move || client.fail(&reason)));
    }

    /// Returns the texts that were edited since they were sent, and counts them as sent.
    fn texts(&self, (_, wanted, edits): &Next<P::Wanted>, sent: &mut Sent) -> Array {
        let texts = Array::new();
        for kind in DocumentKind::ALL {
            let edits = Some(edits[kind as usize]);
            if P::reads(kind) && self.editors.has(kind) && sent[kind as usize] != edits {
                sent[kind as usize] = edits;
                texts.set(kind as u32, self.editors.text(kind).into());
                P::add_texts(kind, wanted, &texts);
            }
        }
        texts
    }

    fn receive(self: &Rc<Self>, message: &Message) {
        if let Some(reason) = message.failure() {
            return self.fail(&reason);
        }
        let mut connection = self.connection.borrow_mut();
        let pending = connection.pending.take();
        let present = connection.worker.as_ref().map(|worker| worker.script);
        drop(connection);
        let mut better = None;
        let mut answered = None;
        let event = match (message.about(), pending) {
            (Some(about), _) => from_bytes(&about).map(WorkerEvent::Ready),
            (None, None) => None,
            (None, Some(request)) => {
                let answer = message.answer().unwrap_or_default();
                let answer: Option<P::Answer> = from_bytes(&answer);
                better = answer.as_ref().and_then(|it| P::better_script(it, present));
                better = better.filter(|_| !self.unavailable.get());
                let revision = request.0;
                if better.is_some() {
                    let next = &mut self.connection.borrow_mut().next;
                    // Of what is edited already, the editors no longer have the texts of this request.
                    if next.is_none() {
                        *next = Some(request.clone());
                        let mut sent = Sent::default();
                        let texts = self.texts(&request, &mut sent);
                        answered = Some(Answered {
                            request,
                            texts,
                            sent,
                        });
                    }
                }
                answer.map(|answer| WorkerEvent::Answered {
                    revision,
                    answer,
                    milliseconds: message.milliseconds().unwrap_or_default(),
                })
            }
        };
        let Some(event) = event else {
            return self.fail("the engine sent a message that this page can't read");
        };
        let mut connection = self.connection.borrow_mut();
        connection.ready = true;
        connection.timeout = None;
        drop(connection);
        if better.is_some() {
            self.better.set(better);
            self.report.emit(event);
            self.connect();
            self.connection.borrow_mut().answered = answered;
            return;
        }
        self.send_next();
        self.report.emit(event);
    }

    /// Ends the work on the present inputs. The next change starts another worker.
    pub fn stop(self: &Rc<Self>) {
        self.connection.borrow_mut().next = None;
        self.fail("the engine was stopped");
    }

    /// Ends the worker. A request that waits starts another worker; the failed request is not sent
    /// again. A worker that could not be loaded waits for the next change, unless it would only have
    /// answered better than the one before, which is started again.
    fn fail(self: &Rc<Self>, reason: &str) {
        let failed = self.connection.replace(Connection::new(None));
        let retry = failed.ready && failed.next.is_some();
        self.connection.borrow_mut().next = failed.next;
        if !failed.ready && self.better.take().is_some() {
            self.unavailable.set(true);
            return self.connect();
        }
        self.report.emit(WorkerEvent::Failed(reason.to_owned()));
        if retry {
            self.connect();
        }
    }
}
