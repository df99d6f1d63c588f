//! A foreign runner as it is tested: each request is an invocation, which has to keep the protocol.

use super::Judge;
use super::protocol::{Protocol, RunnerAnswer};
use super::subject::{Subject, Subjects};
use crate::limits::{CONFORMANCE_TIME, HEALTH_TIME};
use crate::{Error, Method, Place, Reply, Runner, RunnerRequest, RunnerSession};
use agent_sandbox::Inside;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::path::Path;

/// A foreign runner, with what its invocations have broken so far.
pub(super) struct Foreign<'a, J> {
    pub(super) runner: &'a Runner,
    pub(super) judge: &'a J,
    pub(super) protocol: RefCell<Protocol>,
}

impl<J: Judge> Foreign<'_, J> {
    fn read(&self, what: &str, reply: &Result<Reply, Error>) -> RunnerAnswer {
        self.protocol.borrow_mut().read(self.judge, what, reply)
    }
}

impl<'a, J: Judge> Subjects for &'a Foreign<'a, J> {
    type Subject = ForeignSubject<'a, J>;

    async fn open(&self, folder: &Path, port: u16) -> Result<Self::Subject, Error> {
        let mut place = Place::new(folder, port);
        place.limits.wall_time = Some(CONFORMANCE_TIME);
        Ok(ForeignSubject {
            of: self,
            session: RunnerSession::open(self.runner, &place).await?,
            started: None,
        })
    }
}

/// A session of the runner.
pub(super) struct ForeignSubject<'a, J> {
    of: &'a Foreign<'a, J>,
    session: RunnerSession,
    /// What `start` left.
    started: Option<Reply>,
}

impl<J: Judge> ForeignSubject<'_, J> {
    /// Asks the runner with any bytes.
    pub(super) async fn ask_raw(&mut self, what: &str, request: &[u8]) -> RunnerAnswer {
        let reply = self.session.invoke(request, HEALTH_TIME).await;
        self.of.read(what, &reply)
    }
}

impl<J: Judge> Subject for ForeignSubject<'_, J> {
    async fn ask(&mut self, what: &str, request: &RunnerRequest<'_>) -> RunnerAnswer {
        let reply = self.session.call(request).await;
        let answer = self.of.read(what, &reply);
        if request.method() == Method::Start {
            self.started = reply.ok();
        }
        answer
    }

    async fn spoils_streams(&mut self) -> Option<Result<bool, Error>> {
        let started = self.started.as_ref()?;
        let written = self.session.written(started.number).await;
        Some(written.map(|written| written != started.written))
    }

    fn inside(&self) -> Option<Inside> {
        self.session.inside()
    }

    fn listening(&self) -> Vec<SocketAddr> {
        self.session.listening()
    }

    async fn end(self) {
        self.session.end().await;
    }
}
