//! Episodes: the records of a run, in MOVA's form \[3, 4.4\].

use super::record::number;
use super::stop::Stop;
use agent_api::diagnostic::Code;
use agent_api::render::VERSION;
use agent_record::Clock;
use agent_syntax::json::Writer;

/// The version of MOVA that episodes are written in.
const MOVA_VERSION: &str = "4.1.1";

/// The version of MOVA's security model.
const SECURITY_MODEL_VERSION: &str = "1.0.0";

/// The type of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EpisodeType {
    /// `plan/validation`: whether the plan may run.
    Validation,
    /// `execution/step`: a decision or an effect of a step, or the step itself.
    Step,
    /// `execution/run`: the run itself.
    Run,
    /// `security_event/<kind>`
    Security(SecurityKind),
}

impl EpisodeType {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Validation => "plan/validation".to_owned(),
            Self::Step => "execution/step".to_owned(),
            Self::Run => "execution/run".to_owned(),
            Self::Security(kind) => format!("security_event/{}", kind.name()),
        }
    }
}

/// The kind of an event about security.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SecurityKind {
    /// The profile does not allow a tool of the plan.
    ForbiddenTool,
    /// The profile can't be used.
    InvalidProfile,
    /// Another refusal, by its stable code.
    Refused(Code),
}

impl SecurityKind {
    /// Returns the kind of event that a stop during the run is, if it is one.
    pub(crate) fn of(stop: &Stop) -> Option<Self> {
        match stop.code {
            Code::MovaValidationFailed | Code::MovaPolicyDenied | Code::MovaDestinationDenied => {
                Some(Self::Refused(stop.code))
            }
            _ => None,
        }
    }

    /// Returns `security_event_type`: an id of MOVA's catalogue, or one in the project's namespace.
    fn name(self) -> String {
        match self {
            Self::ForbiddenTool => "forbidden_tool_requested".to_owned(),
            Self::InvalidProfile => "instruction_profile_invalid".to_owned(),
            Self::Refused(code) => format!("mova_agent:{}", code.name()),
        }
    }

    fn category(self) -> &'static str {
        match self {
            Self::ForbiddenTool => "authorization",
            Self::InvalidProfile => "config",
            Self::Refused(Code::MovaValidationFailed) => "other",
            Self::Refused(_) => "policy_violation",
        }
    }

    fn severity(self) -> &'static str {
        match self {
            Self::ForbiddenTool | Self::Refused(Code::MovaDestinationDenied) => "high",
            Self::Refused(Code::MovaValidationFailed) => "low",
            Self::InvalidProfile | Self::Refused(_) => "medium",
        }
    }
}

/// The names that every episode of a run contains.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) run_id: String,
    pub(crate) request_id: String,
    /// `plan_id`, if the plan has one.
    pub(crate) plan_id: Option<String>,
    /// `profile_id`, if the profile has one.
    pub(crate) profile_id: Option<String>,
}

/// A file of evidence that an episode covers.
#[derive(Debug)]
pub(crate) struct StoredFile {
    /// The path below the run's folder.
    pub(crate) path: String,
    /// The size in bytes.
    pub(crate) bytes: u64,
    /// The digest of the bytes.
    pub(crate) digest: String,
}

/// An episode before it has an id.
pub(crate) struct Episode<'e> {
    pub(crate) kind: EpisodeType,
    /// `result_status`
    pub(crate) status: &'static str,
    /// `result_summary`: a sentence.
    pub(crate) summary: String,
    pub(crate) started: Clock,
    /// Writes the members of `result_details`.
    pub(crate) details: Box<dyn FnOnce(&mut Writer) + 'e>,
}

impl Episode<'_> {
    /// Returns the episode as JSON that ends with a newline.
    pub(crate) fn json(
        self,
        id: &str,
        subject: &Subject,
        files: &[StoredFile],
        now: Clock,
    ) -> String {
        let mut w = Writer::pretty();
        w.object(|w| self.members(w, id, subject, files, now));
        w.finish()
    }

    fn members(
        self,
        w: &mut Writer,
        id: &str,
        subject: &Subject,
        files: &[StoredFile],
        now: Clock,
    ) {
        let security = match self.kind {
            EpisodeType::Security(kind) => Some(kind),
            _ => None,
        };
        if security.is_some() {
            w.key("actions_taken").array(|w| {
                w.object(|w| {
                    w.key("action_type").string("block");
                    w.key("status").string("completed");
                });
            });
            w.key("detection_source").string("rule_engine");
        }
        w.key("episode_id").string(id);
        w.key("episode_type").string(&self.kind.name());
        w.key("executor").object(|w| {
            w.key("environment").object(|w| {
                w.key("engine_version").string(VERSION);
            });
            w.key("executor_id").string("agent");
            w.key("executor_kind").string("service");
            w.key("role").string("executor");
        });
        w.key("finished_at").string(&now.rfc3339());
        w.key("input_envelopes").array(|w| {
            w.object(|w| {
                if let Some(plan) = &subject.plan_id {
                    w.key("envelope_id").string(plan);
                }
                w.key("envelope_type").string("env.mova_agent_plan_v1");
            });
        });
        w.key("meta_episode").object(|w| {
            if !files.is_empty() {
                w.key("files")
                    .array(|w| files.iter().for_each(|it| file(w, it)));
            }
            w.key("request_id").string(&subject.request_id);
            w.key("run_id").string(&subject.run_id);
        });
        w.key("mova_version").string(MOVA_VERSION);
        if let Some(profile) = subject.profile_id.as_ref().filter(|_| security.is_some()) {
            w.key("policy_ref").object(|w| {
                w.key("policy_document_id").string(profile);
            });
        }
        w.key("recorded_at").string(&now.rfc3339());
        w.key("result_details").object(self.details);
        w.key("result_status").string(self.status);
        w.key("result_summary").string(&self.summary);
        if let Some(kind) = security {
            w.key("security_event_category").string(kind.category());
            w.key("security_event_type").string(&kind.name());
            w.key("security_model_version")
                .string(SECURITY_MODEL_VERSION);
            w.key("severity").string(kind.severity());
        }
        w.key("started_at").string(&self.started.rfc3339());
    }
}

fn file(w: &mut Writer, file: &StoredFile) {
    w.object(|w| {
        number(w, "bytes", file.bytes);
        w.key("digest").string(&file.digest);
        w.key("name").string(&file.path);
    });
}
