//! The line to a worker.
//!
//! One question is under way at a time. What changes meanwhile is asked when the answer is there,
//! all at once, so that typing never queues up; and a worker that fails or takes too long is
//! replaced by a new one, which is told everything again.

use crate::browser::object;
use crate::editor::Editors;
use agent_protocol::DocumentKind;
use gloo_timers::callback::Timeout;
use js_sys::{Array, Uint8Array};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::prelude::{Closure, JsCast as _, wasm_bindgen};
use web_sys::{MessageEvent, Worker, WorkerOptions, WorkerType};

/// How long an answer may take, in milliseconds. An index of 512 MiB, the largest that is read,
/// takes less.
const PATIENCE: u32 = 60_000;

/// What is asked of a worker, and what is made of what it says.
pub trait Topic: 'static {
    /// What is asked for besides the answer to the texts.
    type Wanted;
    /// What is made of what becomes known.
    type News;

    /// The script of the worker that can answer about what is in the editors, relative to the
    /// page; `present` is that of the worker that is there.
    fn script(&self, editors: &Editors, present: Option<&'static str>) -> &'static str;

    /// A question, as bytes. The texts that were changed stand beside it.
    fn question(&self, revision: u32, wanted: &Self::Wanted) -> Vec<u8>;

    /// Puts in what goes along with the text of an input and is in no editor.
    fn add(&self, _source: DocumentKind, _wanted: &Self::Wanted, _texts: &Array) {}

    /// That a worker is being loaded from a script, where that is news.
    fn loading(&self, _script: &'static str) -> Option<Self::News> {
        None
    }

    /// That the worker is there, and what it says of itself. None: it is nonsense.
    fn ready(&self, about: &[u8]) -> Option<Self::News>;

    /// An answer, and how long it took. None: it is nonsense.
    fn answered(&self, answer: &[u8], milliseconds: f64) -> Option<Self::News>;

    /// That the worker does not answer any more, and why.
    fn failed(&self, reason: String) -> Self::News;

    /// Passes it on.
    fn report(&self, news: Self::News);
}

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

/// A line to the worker of a topic.
pub struct Line<T: Topic> {
    topic: T,
    editors: Rc<Editors>,
    talk: RefCell<Talk<T::Wanted>>,
}

struct Talk<W> {
    worker: Option<Connection>,
    /// Whether the worker has nothing to do.
    idle: bool,
    /// Whether it has said anything.
    heard: bool,
    /// The texts that it has not been told since they changed.
    untold: [bool; DocumentKind::ALL.len()],
    /// What is to be asked next.
    next: Option<(u32, W)>,
    /// Ends the waiting; dropping it takes that back.
    patience: Option<Timeout>,
}

impl<W> Talk<W> {
    /// Without a worker, and with this to be asked.
    fn new(next: Option<(u32, W)>) -> Self {
        Self {
            worker: None,
            idle: false,
            heard: false,
            untold: [true; DocumentKind::ALL.len()],
            next,
            patience: None,
        }
    }
}

/// A worker, and the closures that it calls.
struct Connection {
    worker: Worker,
    script: &'static str,
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

impl<T: Topic> Line<T> {
    /// Starts a worker.
    pub fn start(topic: T, editors: Rc<Editors>) -> Rc<Self> {
        let line = Rc::new(Self {
            topic,
            editors,
            talk: RefCell::new(Talk::new(None)),
        });
        line.connect();
        line
    }

    fn connect(self: &Rc<Self>) {
        let mut talk = self.talk.borrow_mut();
        *talk = Talk::new(talk.next.take());
        drop(talk);
        let script = self.topic.script(&self.editors, None);
        if let Some(news) = self.topic.loading(script) {
            self.topic.report(news);
        }
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let worker = match Worker::new_with_options(script, &options) {
            Ok(worker) => worker,
            Err(error) => {
                let news = self.topic.failed(format!("no worker: {error:?}"));
                return self.topic.report(news);
            }
        };
        let heard = {
            let line = Rc::downgrade(self);
            Closure::new(move |event: MessageEvent| {
                if let Some(line) = line.upgrade() {
                    line.hear(event.data().unchecked_ref());
                }
            })
        };
        let failed = {
            let line = Rc::downgrade(self);
            Closure::new(move |_: MessageEvent| {
                if let Some(line) = line.upgrade() {
                    line.fail("the engine could not be loaded");
                }
            })
        };
        worker.set_onmessage(Some(heard.as_ref().unchecked_ref()));
        worker.set_onerror(Some(failed.as_ref().unchecked_ref()));
        self.talk.borrow_mut().worker = Some(Connection {
            worker,
            script,
            _closures: [heard, failed],
        });
    }

    /// Asks, now or as soon as the worker has answered what it was asked before. `edited` has the
    /// texts that changed.
    pub fn ask(self: &Rc<Self>, revision: u32, wanted: T::Wanted, edited: &[DocumentKind]) {
        let mut talk = self.talk.borrow_mut();
        for source in edited {
            talk.untold[*source as usize] = true;
        }
        talk.next = Some((revision, wanted));
        let present = talk.worker.as_ref().map(|connection| connection.script);
        drop(talk);
        // Where it failed, something changed since: worth another try. Where another worker is
        // needed, it is loaded at once: whatever this one is doing is of no use.
        let able = present.is_some_and(|it| it == self.topic.script(&self.editors, present));
        if able {
            self.go_on();
        } else {
            self.connect();
        }
    }

    /// Asks what is to be asked next, if the worker has nothing to do.
    fn go_on(self: &Rc<Self>) {
        let mut talk = self.talk.borrow_mut();
        let Talk {
            worker: Some(Connection { worker, .. }),
            idle: idle @ true,
            heard: _,
            untold,
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
        for source in DocumentKind::ALL {
            if self.editors.has(source) && std::mem::take(&mut untold[source as usize]) {
                texts.set(source as u32, self.editors.text(source).into());
                self.topic.add(source, &wanted, &texts);
            }
        }
        let ask = self.topic.question(revision, &wanted);
        let ask = Uint8Array::from(ask.as_slice());
        let question = object(&[("request", ask.into()), ("texts", texts.into())]);
        if let Err(error) = worker.post_message(&question) {
            let line = Rc::clone(self);
            let reason = format!("the inputs can't be handed to the engine: {error:?}");
            *patience = Some(Timeout::new(0, move || line.fail(&reason)));
            return;
        }
        *idle = false;
        let line = Rc::clone(self);
        *patience = Some(Timeout::new(PATIENCE, move || {
            line.fail("the engine took too long and was stopped");
        }));
    }

    fn hear(self: &Rc<Self>, message: &Message) {
        if let Some(reason) = message.failure() {
            return self.fail(&reason);
        }
        let news = match message.about() {
            Some(about) => self.topic.ready(&about),
            None => {
                let answer = message.answer().unwrap_or_default();
                let milliseconds = message.milliseconds().unwrap_or_default();
                self.topic.answered(&answer, milliseconds)
            }
        };
        let Some(news) = news else {
            return self.fail("the engine said nonsense");
        };
        let mut talk = self.talk.borrow_mut();
        talk.idle = true;
        talk.heard = true;
        talk.patience = None;
        drop(talk);
        self.go_on();
        self.topic.report(news);
    }

    /// Ends the worker. Another one is started for what was typed meanwhile or will be: there is no
    /// use in asking the same again. One that could not even be loaded is tried again with the next
    /// change only.
    fn fail(self: &Rc<Self>, reason: &str) {
        let mut talk = self.talk.borrow_mut();
        let Talk { next, heard, .. } = std::mem::replace(&mut *talk, Talk::new(None));
        let go_on = next.is_some() && heard;
        talk.next = next;
        drop(talk);
        let news = self.topic.failed(reason.to_owned());
        self.topic.report(news);
        if go_on {
            self.connect();
        }
    }
}
