//! `plan.create` \[2, 2.1\].

use super::daemon::Daemon;
use super::files::scanned;
use super::memory::memory;
use super::planning::{Change, plan};
use super::refusal::{Answered, broken, refused, stored};
use super::task::Task;
use super::traced::{about, stage};
use agent_host::contract::daemon::{
    ErrorCode, FilePlanContent, Language, PlanRequest, Requirement, Verb,
};
use agent_host::{Failure, Zone, call, clock};
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{member, string};
use agent_tasks::{Artifact, Tasks};
use std::rc::Rc;
use tokio::task::spawn_blocking;

/// Maximum number of tasks that have not ended.
const TASKS: usize = 256;

impl Daemon {
    /// Opens a task with a plan of its files.
    pub(crate) async fn plan_create(&self, client: &str, input: &str) -> Answered<String> {
        let request = self
            .decider
            .decide(|engine| call!(engine, daemon.call_read_plan_request(input.as_bytes())))?;
        if self.open_tasks() >= TASKS {
            let message = format!("{TASKS} tasks have not ended");
            return Err(refused(
                ErrorCode::Plan,
                message,
                "end tasks with `mcp kill`",
            ));
        }
        let (content, answer) = self.planned(&request, None).await?;
        self.admit_dependencies(&content, request.deps_allowlist.as_deref())?;
        let now = clock(&Zone::default()).unix_ms;
        let task = Task::new(
            String::new(),
            client.to_owned(),
            request.prompt,
            content.language,
            now,
            request.deps_allowlist,
        );
        task.started.replace(Some(content.start));
        task.requirements.replace(content.dependencies);
        let (root, remembered) = (self.root.clone(), memory(&task));
        let opened = spawn_blocking(move || {
            let folder = Tasks::open(&root)?.create(&remembered)?;
            Ok::<_, agent_tasks::Error>(folder.id().to_string())
        });
        let opened = opened
            .await
            .map_err(|error| broken(Failure::internal(error)))?;
        let id = opened.map_err(|error| stored(ErrorCode::Fs, &error))?;
        let task = Rc::new(Task { id, ..task });
        about(&task.id);
        let data = self.decider.decide(|engine| {
            let plan = match call!(engine, daemon.file_plan.call_read(&answer))? {
                Ok(plan) => plan,
                Err(refusal) => return Ok(Err(refusal)),
            };
            call!(engine, daemon.file_plan.call_data(plan, &task.id)).map(Ok)
        })?;
        let text = data.clone();
        self.with_folder(&task, ErrorCode::Fs, move |folder| {
            Ok(folder.write(Artifact::Plan, text.as_bytes())?)
        })
        .await?;
        self.tasks
            .borrow_mut()
            .insert(task.id.clone(), Rc::clone(&task));
        self.show(&task, None);
        Ok(data)
    }

    fn open_tasks(&self) -> usize {
        let tasks = self.tasks.borrow();
        tasks.values().filter(|task| !task.has_ended()).count()
    }

    /// Asks the planner, and returns the plan that the engine read, with its bytes.
    async fn planned(
        &self,
        request: &PlanRequest,
        change: Option<&Change>,
    ) -> Answered<(FilePlanContent, Vec<u8>)> {
        let planned = plan(&self.planner, &self.decider, request, change);
        let answer = stage("plan", planned).await?;
        let content = self.decider.decide(|engine| {
            let plan = match call!(engine, daemon.file_plan.call_read(&answer))? {
                Ok(plan) => plan,
                Err(refusal) => return Ok(Err(refusal)),
            };
            call!(engine, daemon.file_plan.call_content(plan)).map(Ok)
        })?;
        Ok((content, answer))
    }

    /// Decides by the policy whether the dependencies of a plan may be installed.
    fn admit_dependencies(
        &self,
        content: &FilePlanContent,
        allowlist: Option<&[String]>,
    ) -> Answered<()> {
        for language in [
            Language::Python,
            Language::Node,
            Language::Go,
            Language::Rust,
        ] {
            let own = content.dependencies.iter();
            let own = own.filter(|it| it.language == language);
            let names: Vec<_> = own.map(|it| it.name.clone()).collect();
            if !names.is_empty() {
                self.admit_names(language, &names, allowlist)?;
            }
        }
        Ok(())
    }

    pub(crate) fn admit_names(
        &self,
        language: Language,
        names: &[String],
        allowlist: Option<&[String]>,
    ) -> Answered<()> {
        self.by_policy(|engine, policy| {
            call!(
                engine,
                daemon
                    .task_policy
                    .call_admit_names(policy, language, names, allowlist)
            )
        })
    }

    /// Plans a change of an app. Returns the input of `fs.apply` and the command line of `run.start`.
    pub(crate) async fn plan_change(&self, id: &str, body: &[u8]) -> Answered<String> {
        self.admit_verb(Verb::PlanCreate)?;
        let task = self.task(id)?;
        let prompt = std::str::from_utf8(body).ok().and_then(parse_strict);
        let prompt = prompt.as_ref().and_then(|root| member(root, "prompt"));
        let Some(prompt) = prompt.and_then(string) else {
            let message = "`prompt` is not a string";
            return Err(refused(ErrorCode::Plan, message, "say what to change"));
        };
        let files = self.with_folder(&task, ErrorCode::Fs, scanned).await?;
        // A planner may be on another machine.
        self.grants(true).await?.refuse_in_files(&files)?;
        let texts = files
            .into_iter()
            .filter_map(|file| Some((file.path, String::from_utf8(file.content).ok()?)));
        let present = texts.collect();
        let change = Change {
            prompt: prompt.to_owned(),
            present,
        };
        let request = PlanRequest {
            prompt: task.prompt.clone(),
            languages: vec![task.language],
            deps_allowlist: task.deps_allowlist.clone(),
            port_hint: None,
        };
        let (content, _) = self.planned(&request, Some(&change)).await?;
        if content.language != task.language {
            let message = "the plan of the change is in another language";
            let hint = "open another task with `plan.create`";
            return Err(refused(ErrorCode::Plan, message, hint));
        }
        self.admit_dependencies(&content, task.deps_allowlist.as_deref())?;
        // A plan of a change may name what it adds alone.
        let mut asked = content.dependencies.clone();
        let is_new = |it: &Requirement| {
            let mut names = content.dependencies.iter().map(|it| &it.normal_name);
            names.all(|name| *name != it.normal_name)
        };
        let present = task.requirements.borrow();
        asked.extend(present.iter().filter(|it| is_new(it)).cloned());
        drop(present);
        task.changing.replace(Some(asked));
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("apply").object(|w| {
                w.key("writes").array(|w| {
                    for file in &content.files {
                        w.object(|w| {
                            w.key("content").string(&file.content);
                            if let Some(mode) = file.mode {
                                w.key("mode").number(mode);
                            }
                            w.key("path").string(&file.path);
                        });
                    }
                });
            });
            w.key("start").string(&content.start);
        });
        Ok(self.envelope(Ok(w.finish())))
    }
}
