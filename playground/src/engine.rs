//! The engine, in a worker.
//!
//! One question is under way at a time. What changes meanwhile is asked when the answer is there,
//! all at once, so that typing never queues up; and a worker that fails or takes too long is
//! replaced by a new one, which is told everything again.

use crate::browser::object;
use crate::editor::{Editors, INPUTS};
use crate::state::Action;
use agent_protocol::{Answer, Ask, Source, Texts, Wanted, from_bytes, to_bytes};
use gloo_timers::callback::Timeout;
use js_sys::{Array, Uint8Array};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::prelude::{Closure, JsCast as _, JsValue, wasm_bindgen};
use web_sys::{MessageEvent, Worker, WorkerOptions, WorkerType};
use yew::Callback;

/// How long an answer may take, in milliseconds. An index of 512 MiB, the largest that is read,
/// takes less.
const PATIENCE: u32 = 60_000;

/// Where the worker is, relative to the page.
const WORKER: &str = "./engine/worker.js";

/// The same with the evaluator of policies, which is much larger.
const POLICY_WORKER: &str = "./engine/policy/worker.js";

#[wasm_bindgen]
extern "C" {
    /// What the worker posts: one of the first three.
    type Message;
    /// It is ready; what it says of itself.
    #[wasm_bindgen(method, getter)]
    fn about(this: &Message) -> Option<Vec<u8>>;
    /// An answer.
    #[wasm_bindgen(method, getter)]
    fn answer(this: &Message) -> Option<Vec<u8>>;
    /// It can't go on.
    #[wasm_bindgen(method, getter)]
    fn failure(this: &Message) -> Option<String>;
    /// How long an answer took.
    #[wasm_bindgen(method, getter)]
    fn milliseconds(this: &Message) -> Option<f64>;
}

/// A line to the engine.
pub(crate) struct Engine {
    editors: Rc<Editors>,
    report: Callback<Action>,
    talk: RefCell<Talk>,
}

#[derive(Default)]
struct Talk {
    worker: Option<Connection>,
    /// Whether the worker has nothing to do.
    idle: bool,
    /// Whether it has said anything.
    heard: bool,
    /// The texts that it has not been told since they changed.
    untold: [bool; INPUTS.len()],
    /// Which tenant is meant.
    tenant_id: Rc<str>,
    /// Whether the worker has the evaluator of policies. Once it has it stays.
    policies: bool,
    /// What is to be asked next.
    next: Option<(u32, Wanted)>,
    /// Ends the waiting; dropping it takes that back.
    patience: Option<Timeout>,
}

/// A worker, and the closures that it calls.
struct Connection {
    worker: Worker,
    _closures: [Closure<dyn FnMut(MessageEvent)>; 2],
}

impl Drop for Connection {
    fn drop(&mut self) {
        // What it has posted already would come all the same.
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
    }
}

impl Engine {
    /// Starts the engine. What becomes of it, and all its answers, are reported as actions.
    pub(crate) fn start(editors: Rc<Editors>, report: Callback<Action>) -> Rc<Self> {
        let engine = Rc::new(Self {
            editors,
            report,
            talk: RefCell::default(),
        });
        engine.connect();
        engine
    }

    fn connect(self: &Rc<Self>) {
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let policies = self.editors.is_filled(Source::Policy);
        if policies {
            self.report.emit(Action::PoliciesLoading);
        }
        let worker = if policies { POLICY_WORKER } else { WORKER };
        let worker = match Worker::new_with_options(worker, &options) {
            Ok(worker) => worker,
            Err(error) => {
                self.report
                    .emit(Action::EngineFailed(format!("no worker: {error:?}")));
                return;
            }
        };
        let heard = {
            let engine = Rc::downgrade(self);
            Closure::new(move |event: MessageEvent| {
                if let Some(engine) = engine.upgrade() {
                    engine.hear(event.data().unchecked_ref());
                }
            })
        };
        let failed = {
            let engine = Rc::downgrade(self);
            Closure::new(move |_: MessageEvent| {
                if let Some(engine) = engine.upgrade() {
                    engine.fail("the engine could not be loaded");
                }
            })
        };
        worker.set_onmessage(Some(heard.as_ref().unchecked_ref()));
        worker.set_onerror(Some(failed.as_ref().unchecked_ref()));
        let mut talk = self.talk.borrow_mut();
        talk.worker = Some(Connection {
            worker,
            _closures: [heard, failed],
        });
        talk.untold = [true; INPUTS.len()];
        talk.policies = policies;
        talk.idle = false;
        talk.heard = false;
    }

    /// Asks, now or as soon as the engine has answered what it was asked before. `edited` has the
    /// texts that changed.
    pub(crate) fn ask(
        self: &Rc<Self>,
        revision: u32,
        wanted: Wanted,
        edited: &[Source],
        tenant_id: &Rc<str>,
    ) {
        let mut talk = self.talk.borrow_mut();
        talk.tenant_id = Rc::clone(tenant_id);
        for source in edited {
            talk.untold[*source as usize] = true;
        }
        talk.next = Some((revision, wanted));
        let dead = talk.worker.is_none();
        // The evaluator is loaded at once, and whatever the other worker is doing is of no use.
        let unable = !talk.policies && self.editors.is_filled(Source::Policy);
        if unable {
            talk.worker = None;
            talk.patience = None;
        }
        drop(talk);
        if dead || unable {
            // Where it failed, something changed since: worth another try.
            self.connect();
        } else {
            self.go_on();
        }
    }

    /// Asks what is to be asked next, if the engine has nothing to do.
    fn go_on(self: &Rc<Self>) {
        let mut talk = self.talk.borrow_mut();
        let Talk {
            worker: Some(Connection { worker, .. }),
            idle: idle @ true,
            heard: _,
            untold,
            tenant_id,
            policies: _,
            next,
            patience,
        } = &mut *talk
        else {
            return;
        };
        let Some((revision, wanted)) = next.take() else {
            return;
        };
        // Without those that were not changed.
        let texts = Array::new();
        for source in INPUTS {
            if std::mem::take(&mut untold[source as usize]) {
                texts.set(source as u32, self.editors.text(source).into());
                if source == Source::Tenant {
                    texts.set(Texts::TENANT_ID, JsValue::from_str(tenant_id));
                }
            }
        }
        let ask = to_bytes(&Ask {
            revision,
            wanted,
            texts: Texts::default(),
        });
        let ask = Uint8Array::from(ask.as_slice());
        let question = object(&[("ask", ask.into()), ("texts", texts.into())]);
        if let Err(error) = worker.post_message(&question) {
            let engine = Rc::clone(self);
            let reason = format!("the inputs can't be handed to the engine: {error:?}");
            *patience = Some(Timeout::new(0, move || engine.fail(&reason)));
            return;
        }
        *idle = false;
        let engine = Rc::clone(self);
        *patience = Some(Timeout::new(PATIENCE, move || {
            engine.fail("the engine took too long and was stopped");
        }));
    }

    fn hear(self: &Rc<Self>, message: &Message) {
        if let Some(reason) = message.failure() {
            return self.fail(&reason);
        }
        let action = if let Some(about) = message.about() {
            from_bytes(&about).map(|about| Action::EngineReady(Rc::new(about)))
        } else {
            let answer = message.answer().unwrap_or_default();
            from_bytes(&answer).map(|answer| {
                Action::Answered(Rc::new(Answer {
                    milliseconds: message.milliseconds().unwrap_or_default(),
                    ..answer
                }))
            })
        };
        let Some(action) = action else {
            return self.fail("the engine said nonsense");
        };
        {
            let mut talk = self.talk.borrow_mut();
            talk.idle = true;
            talk.heard = true;
            talk.patience = None;
        }
        self.go_on();
        self.report.emit(action);
    }

    /// Ends the worker. Another one is started for what was typed meanwhile or will be: there is no
    /// use in asking the same again. One that could not even be loaded is tried again with the next
    /// change only.
    fn fail(self: &Rc<Self>, reason: &str) {
        let Talk {
            next,
            tenant_id,
            heard,
            ..
        } = self.talk.take();
        let go_on = next.is_some() && heard;
        *self.talk.borrow_mut() = Talk {
            next,
            tenant_id,
            ..Talk::default()
        };
        self.report.emit(Action::EngineFailed(reason.to_owned()));
        if go_on {
            self.connect();
        }
    }
}
