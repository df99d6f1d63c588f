//! `agent serve`: stands between MCP clients and the servers of locks.

use super::Answer;
use super::running::{present, text};
use super::session::{DEFINITIONS, Session};
use crate::args::{
    EvaluationContext, ExpansionMode, Global, INDEX, IndexOption, LOCK, Output, PolicyOptions,
    Serve, ServedAgent,
};
use agent_effects::{Access, Hangups, Resolver, Signals, Zone, block_on, random};
use agent_gateway::{AuditLog, Gateway, Listener, Setup, Source, Token, Work, token_path};
use agent_host::contract::diagnostic::{Diagnostic, DocumentKind};
use agent_host::contract::session::{ApprovalMode, Documents, Expansion, Options};
use agent_host::input::{INDEX_MAX, Input};
use agent_host::{Failure, output};
use agent_operator::{Agents, Operator, ServedAgent as Entry};
use std::path::{Path, PathBuf};

/// The name of the only client over HTTP, if nobody names several.
const CLIENT: &str = "http";

/// An agent with the token files of its clients.
struct Served {
    /// Its name among several agents.
    name: Option<String>,
    args: ServedAgent,
    tokens: Vec<(String, PathBuf)>,
}

pub(super) fn run(args: &Serve, global: &Global) -> Result<Answer, Failure> {
    let agents = agents(args)?;
    let operator = match &args.servers {
        Some(path) => Operator::read(path),
        None => Operator::usual(),
    };
    let operator = operator.map_err(Failure::new)?;
    let mut source = Files {
        global,
        agents: &agents,
        session: Session::open(global, &Output::TEXT)?,
    };
    let served = block_on(async {
        let mut signals = Signals::new()?;
        let mut gateway = Gateway::default();
        for (number, agent) in agents.iter().enumerate() {
            let documents = source.load(number)?;
            let engine = source.session.component();
            let resolver = Resolver::system();
            let access = Access::new(&operator, engine.clone(), resolver, &mut signals).await?;
            let setup = setup(agent, args, access, documents)?;
            if let Err(problems) = gateway.add(engine, setup)? {
                return Ok(Some(problems));
            }
        }
        let page = match args.ui {
            Some(address) => Some(Listener::bind(address).await?),
            None => None,
        };
        let hangups = Hangups::new()?;
        let work = |source| Work {
            page,
            source,
            hangups,
            signals,
        };
        match args.http {
            None => gateway.serve_stdio(work(&mut source)).await?,
            Some(address) => {
                let listener = Listener::bind(address).await?;
                announce(&gateway, &listener, &agents)?;
                gateway.serve_http(listener, work(&mut source)).await?;
            }
        }
        Ok(None)
    })?;
    match served {
        None => Ok(Answer::Yes),
        Some(problems) => source.session.refuse_for(problems),
    }
}

/// Returns the agents of the options, or those of the file that they name.
fn agents(args: &Serve) -> Result<Vec<Served>, Failure> {
    let Some(config) = &args.config else {
        let tokens = match (&args.http, &args.token_file) {
            (None, _) => Vec::new(),
            (_, Some(file)) => vec![(CLIENT.to_owned(), file.clone())],
            (_, None) => vec![token_of(&args.agent.lock, CLIENT)?],
        };
        return Ok(vec![Served {
            name: None,
            args: args.agent.clone(),
            tokens,
        }]);
    };
    let agents = Agents::read(config).map_err(Failure::new)?;
    let folder = config.parent().unwrap_or(Path::new(""));
    let served = agents.agents.into_iter().map(|(name, entry)| {
        let mut tokens: Vec<_> = entry
            .tokens
            .iter()
            .map(|(client, file)| (client.clone(), folder.join(file)))
            .collect();
        let args = options(&name, entry, folder)?;
        if tokens.is_empty() {
            tokens.push(token_of(&args.lock, CLIENT)?);
        }
        Ok(Served {
            name: Some(name),
            args,
            tokens,
        })
    });
    served.collect()
}

/// Returns a client with the file of its token, which is made if there is none.
fn token_of(lock: &Input, client: &str) -> Result<(String, PathBuf), Failure> {
    let lock = match lock {
        Input::File(path) => path.clone(),
        Input::Stdin => PathBuf::from("-"),
    };
    Ok((client.to_owned(), token_path(&lock, client)?))
}

/// Returns the options of an agent of a file, whose paths begin in the file's folder.
fn options(name: &str, entry: Entry, folder: &Path) -> Result<ServedAgent, Failure> {
    let file = |path: PathBuf| Input::File(folder.join(path));
    let zone = entry.timezone.as_deref().unwrap_or("UTC");
    let wrong = |message| Failure::new(format_args!("`{name}`: {message}"));
    Ok(ServedAgent {
        lock: file(entry.lock.unwrap_or_else(|| LOCK.into())),
        task: entry.task.map(file),
        audit: folder.join(
            entry
                .audit
                .unwrap_or_else(|| format!("{name}.audit.jsonl").into()),
        ),
        audit_arguments: entry.audit_arguments,
        expansion: match entry.expansion.as_deref() {
            None | Some("stub") => ExpansionMode::Stub,
            Some("list") => ExpansionMode::List,
            Some(_) => ExpansionMode::None,
        },
        budget: entry.budget,
        observe: entry.observe,
        timezone: Zone::parse(zone).map_err(wrong)?,
        context: EvaluationContext {
            policy: PolicyOptions {
                tenant: entry.tenant.map(file),
                tenant_id: entry.tenant_id,
                policy: entry.policy.map(file),
                policy_context: entry.policy_context.map(file),
            },
            health: entry.health.map(file),
        },
        index: IndexOption {
            index: file(entry.index.unwrap_or_else(|| INDEX.into())),
        },
    })
}

fn setup(
    agent: &Served,
    args: &Serve,
    access: Access,
    documents: Documents,
) -> Result<Setup, Failure> {
    let clients = agent.tokens.iter().map(|(client, file)| {
        let token = Token::of_file(file)?;
        Ok((client.clone(), token))
    });
    let own = &agent.args;
    Ok(Setup {
        name: agent.name.clone(),
        clients: clients.collect::<Result<_, Failure>>()?,
        options: Options {
            seed: random()?,
            expansion: match own.expansion {
                ExpansionMode::Stub => Expansion::Stub,
                ExpansionMode::List => Expansion::List,
                ExpansionMode::None => Expansion::None,
            },
            budget: own.budget,
            observe: own.observe,
            servers: Vec::new(),
            audit_arguments: own.audit_arguments,
            approval_mode: ApprovalMode::Host,
            payload_max_bytes: None,
            secrets: access.secrets(),
            last_record: None,
            state: None,
        },
        access,
        documents,
        zone: own.timezone.clone(),
        log: AuditLog::open(&own.audit, args.audit_size)?,
    })
}

/// Prints where each agent is reached, and the files of the tokens.
fn announce(gateway: &Gateway, listener: &Listener, agents: &[Served]) -> Result<(), Failure> {
    let mut lines = String::new();
    for (path, agent) in gateway.paths().zip(agents) {
        lines.push_str(&format!("http://{}{path}\n", listener.address()));
        for (client, file) in &agent.tokens {
            lines.push_str(&format!("  token of {client}: {}\n", file.display()));
        }
    }
    output::print_text(&lines)
}

/// The documents of agents, in files.
struct Files<'a> {
    global: &'a Global,
    agents: &'a [Served],
    /// The session that read documents last, which knows their lines.
    session: Session,
}

impl Source for Files<'_> {
    fn files(&mut self, agent: usize) -> Vec<PathBuf> {
        let args = &self.agents[agent].args;
        let policy = &args.context.policy;
        // The policy of a tenant that can't be read is none.
        let own = self.session.policy_input(policy).unwrap_or_default();
        let named = [
            Some(&args.lock),
            Some(&args.index.index),
            args.task.as_ref(),
            policy.tenant.as_ref(),
            policy.policy_context.as_ref(),
            args.context.health.as_ref(),
            own.as_ref(),
        ];
        let files = named.into_iter().flatten().filter_map(|input| match input {
            Input::File(path) => Some(path.clone()),
            Input::Stdin => None,
        });
        let mut files: Vec<_> = files.collect();
        files.extend(definitions(&args.lock));
        files
    }

    fn load(&mut self, agent: usize) -> Result<Documents, Failure> {
        // Problems point into the documents that are read now.
        self.session = Session::open(self.global, &Output::TEXT)?;
        let args = &self.agents[agent].args;
        let given = Given {
            lock: &args.lock,
            index: &args.index.index,
            task: args.task.as_ref(),
            context: &args.context,
        };
        documents(given, &mut self.session)
    }

    fn show(&mut self, problems: Vec<Diagnostic>) {
        if let Err(failure) = self.session.refuse_for(problems) {
            output::note(failure.message);
        }
    }
}

/// Returns the file of the definitions beside a lock.
fn definitions(lock: &Input) -> Option<PathBuf> {
    match lock {
        Input::File(path) => Some(path.with_file_name(DEFINITIONS)),
        Input::Stdin => None,
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
    let definitions = definitions(given.lock).map(Input::File);
    let definitions = definitions.filter(|beside| !beside.is_missing());
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
