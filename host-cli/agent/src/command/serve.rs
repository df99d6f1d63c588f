//! `agent serve`: stands between an MCP client and the servers of a lock.

use super::Answer;
use super::running::{present, text};
use super::session::{DEFINITIONS, Session};
use crate::args::{EvaluationContext, ExpansionMode, INDEX, LOCK, Serve};
use agent_effects::{Access, Resolver, Signals, block_on, random};
use agent_gateway::{AuditLog, Gateway};
use agent_host::Failure;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::session::{Documents, Expansion, Options};
use agent_host::input::{INDEX_MAX, Input};
use agent_operator::Operator;

pub(super) fn run(args: &Serve, session: &mut Session) -> Result<Answer, Failure> {
    let given = Given {
        lock: &args.lock,
        index: &args.index.index,
        task: args.task.as_ref(),
        context: &args.context,
    };
    let documents = documents(given, session)?;
    let operator = match &args.servers {
        Some(path) => Operator::read(path),
        None => Operator::usual(),
    };
    let operator = operator.map_err(Failure::new)?;
    let log = AuditLog::open(&args.audit)?;
    let engine = session.component();
    let refused = block_on(async {
        let mut signals = Signals::new()?;
        let resolver = Resolver::system();
        let access = Access::new(&operator, engine.clone(), resolver, &mut signals).await?;
        let options = Options {
            seed: random()?,
            expansion: match args.expansion {
                ExpansionMode::Stub => Expansion::Stub,
                ExpansionMode::List => Expansion::List,
                ExpansionMode::None => Expansion::None,
            },
            budget: args.budget,
            observe: args.observe,
            servers: Vec::new(),
            audit_arguments: args.audit_arguments,
            approval_by_retry: false,
            payload_max_bytes: None,
            secrets: access.secrets(),
            state: None,
        };
        let zone = args.timezone.clone();
        match Gateway::open(engine, access, documents, options, zone, log)? {
            Ok(gateway) => gateway.serve_stdio(signals).await.map(|()| Vec::new()),
            Err(problems) => Ok(problems),
        }
    })?;
    match refused.is_empty() {
        true => Ok(Answer::Yes),
        false => session.refuse_for(refused),
    }
}

/// The documents of a session, as options name them.
pub(super) struct Given<'a> {
    pub(super) lock: &'a Input,
    pub(super) index: &'a Input,
    pub(super) task: Option<&'a Input>,
    pub(super) context: &'a EvaluationContext,
}

/// Reads the documents of a session.
pub(super) fn documents(given: Given<'_>, session: &mut Session) -> Result<Documents, Failure> {
    let context = given.context;
    let policy = session.policy_input(&context.policy)?;
    let tenant = context.policy.tenant.as_ref();
    let policy_context = context.policy.policy_context.as_ref();
    let definitions = match given.lock {
        Input::File(path) => {
            let beside = Input::File(path.with_file_name(DEFINITIONS));
            (!beside.is_missing()).then_some(beside)
        }
        Input::Stdin => None,
    };
    let required = |document: Option<Vec<u8>>, usual: &str| {
        let missing = || {
            Failure::new(format_args!("there is no `{usual}` here"))
                .help("run `agent resolve` first, or name the files with `--lock` and `--index`")
        };
        document.ok_or_else(missing)
    };
    let lock = text(session, DocumentKind::Lock, present(given.lock, LOCK))?;
    let index = present(given.index, INDEX);
    let index = index.map(|it| session.text(DocumentKind::Index, it, INDEX_MAX));
    let definitions = definitions.map(|it| session.text(DocumentKind::Document, &it, INDEX_MAX));
    Ok(Documents {
        lock: Some(required(lock, LOCK)?),
        index: Some(required(index.transpose()?, INDEX)?),
        definitions: definitions.transpose()?,
        policy: text(session, DocumentKind::Policy, policy.as_ref())?,
        policy_context: text(session, DocumentKind::Context, policy_context)?,
        tenant: text(session, DocumentKind::Tenant, tenant)?,
        tenant_id: context.policy.tenant_id.clone(),
        task: text(session, DocumentKind::Task, given.task)?,
        health: text(session, DocumentKind::Health, context.health.as_ref())?,
    })
}
