//! What is remembered of a task on disk, for the next daemon.

use super::task::Task;
use agent_host::contract::daemon::{Language, NewTask, Requirement, ResolvedPackage, TaskState};
use agent_host::{Zone, clock};
use agent_tasks::Memory;
use std::collections::BTreeMap;

/// Returns what is remembered of a task.
pub(crate) fn memory(task: &Task) -> Memory {
    let mut more = BTreeMap::new();
    let mut keep = |name: &str, text: Option<String>| {
        more.extend(text.map(|text| (name.to_owned(), text)));
    };
    keep("client", Some(task.client.clone()));
    keep("prompt", Some(task.prompt.clone()));
    keep("lang", Some(task.language.name().to_owned()));
    keep("probes", Some(task.probes.borrow().clone()));
    keep("reason", task.reason.borrow().clone());
    keep("start", task.started.borrow().clone());
    let allowed = task.deps_allowlist.as_ref().map(|it| it.join("\n"));
    keep("deps_allowlist", allowed);
    let plans = task.plans.borrow();
    let requirements = plans.present.iter().map(|it| {
        let version = it.version.as_deref().unwrap_or_default();
        let extras = it.extras.join(",");
        format!("{} {} {version} {extras}", it.name, it.normal_name)
    });
    keep("requirements", lines(requirements));
    let locked = task.locked.borrow();
    let locked = locked
        .iter()
        .map(|it| format!("{} {}", it.name, it.version));
    keep("locked", lines(locked));
    Memory {
        state: task.state.get().name().to_owned(),
        created_ms: task.created_ms,
        changed_ms: clock(&Zone::default()).unix_ms,
        port: task.port.get(),
        more,
    }
}

/// Returns lines as one text; `None` if there are none.
fn lines(lines: impl Iterator<Item = String>) -> Option<String> {
    let lines: Vec<_> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns a task that an earlier daemon remembered; `None` if the memory is not one of ours.
pub(crate) fn remembered(id: &str, memory: &Memory) -> Option<Task> {
    let of = |name: &str| memory.more.get(name).map(String::as_str);
    let lines = |name: &str| of(name).unwrap_or_default().lines();
    let state = TaskState::named(&memory.state)?;
    let language = Language::named(of("lang")?)?;
    let requirements = lines("requirements").map(|line| {
        let mut words = line.split(' ');
        let mut word = || words.next().unwrap_or_default().to_owned();
        Requirement {
            language,
            name: word(),
            normal_name: word(),
            version: Some(word()).filter(|it| !it.is_empty()),
            extras: word()
                .split(',')
                .filter(|it| !it.is_empty())
                .map(str::to_owned)
                .collect(),
            // A plan has neither.
            default_features: true,
            range: None,
        }
    });
    let locked = lines("locked").filter_map(|line| {
        let (name, version) = line.split_once(' ')?;
        Some(ResolvedPackage {
            name: name.to_owned(),
            version: version.to_owned(),
            required_by: Vec::new(),
        })
    });
    let new = NewTask {
        prompt: of("prompt")?.to_owned(),
        language,
        deps_allowlist: of("deps_allowlist").map(|it| it.lines().map(str::to_owned).collect()),
        start: String::new(),
        requirements: requirements.collect(),
    };
    let mut task = Task::new(of("client")?.to_owned(), new, memory.created_ms);
    id.clone_into(&mut task.id);
    task.locked.replace(locked.collect());
    task.state.set(state);
    task.reason.replace(of("reason").map(str::to_owned));
    task.started.replace(of("start").map(str::to_owned));
    task.probes
        .replace(of("probes").unwrap_or_default().to_owned());
    Some(task)
}
