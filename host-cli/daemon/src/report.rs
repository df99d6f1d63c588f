//! `report.finish` \[2, 2.5\].

use super::daemon::Daemon;
use super::files::{FILES, at};
use super::refusal::Answered;
use super::task::Task;
use agent_host::call;
use agent_host::contract::daemon::{ErrorCode, ReportPlace, TaskState};
use std::rc::Rc;

impl Daemon {
    /// Lists the artifacts of a task and the URLs of its app.
    pub(crate) async fn report(&self, task: &Rc<Task>, input: &str) -> Answered<String> {
        let files = self
            .with_folder(task, ErrorCode::Fs, |folder| Ok(folder.files(FILES)?))
            .await?;
        let is_ready = task.state.get() == TaskState::Ready;
        let direct = task.port.get().filter(|_| is_ready);
        let place = ReportPlace {
            artifact_dir: self.artifact_dir(task),
            url: self.gateway.url(&task.id).filter(|_| is_ready),
            direct_url: direct.map(|port| format!("http://{}/", at(port))),
        };
        self.decider.decide(|engine| {
            let request = match call!(engine, daemon.report_request.call_read(input.as_bytes()))? {
                Ok(request) => request,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let files = match call!(engine, daemon.report_request.call_files(request, &files))? {
                Ok(files) => files,
                Err(refusal) => return Ok(Err(refusal)),
            };
            call!(
                engine,
                daemon.report_request.call_data(request, &place, &files)
            )
            .map(Ok)
        })
    }
}
