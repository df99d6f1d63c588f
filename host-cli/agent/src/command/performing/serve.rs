//! `agent serve`: stands between MCP clients and the servers of locks.

use super::live_servers::operator;
use super::observing::observed;
use crate::args::{
    AUDIT, ApprovalsMode, EvaluationContext, ExpansionMode, Global, INDEX, LOCK, NamedServer,
    Output, PolicyOptions, Serve, ServedAgent,
};
use crate::command::CommandAnswer;
use crate::command::performing::client_limits::warn_of_limits;
use crate::command::session::CommandSession;
use crate::command::session::documents::{Given, documents, text};
use agent_effects::{Access, Otlp, Resolver};
use agent_host::contract::diagnostic::{Diagnostic, DocumentKind};
use agent_host::contract::session::{ApprovalMode, Documents, Expansion, ObservedServer, Options};
use agent_host::input::Input;
use agent_host::session_files::{DEFINITIONS, beside};
use agent_host::{Failure, Hangups, Signals, Zone, block_on, output, random};
use agent_mcp_server::{Listener, Token};
use agent_operator::{Agents, Operator, ServedAgent as Entry};
use agent_serve::{AuditLog, Gateway, Setup, Source, Work, token_path};
use std::io::{IsTerminal as _, stdin};
use std::path::{Path, PathBuf};

/// The name of the only client over HTTP, if the options do not name several.
const CLIENT: &str = "http";

/// An agent with the token files of its clients.
struct Served {
    /// Its name among several agents.
    name: Option<String>,
    args: ServedAgent,
    lock: Input,
    index: Input,
    audit: PathBuf,
    /// The servers that are observed as long as there is no lock.
    observed: Vec<ObservedServer>,
    tokens: Vec<(String, PathBuf)>,
}

impl Served {
    /// Returns an agent. Files that its options do not name stand beside its lock.
    fn new(
        name: Option<String>,
        args: ServedAgent,
        lock: Input,
        tokens: Vec<(String, PathBuf)>,
        operator: &Operator,
    ) -> Result<Self, Failure> {
        let beside = |usual: &str| match &lock {
            Input::File(path) => path.with_file_name(usual),
            Input::Stdin => usual.into(),
        };
        let index = args.index.clone();
        Ok(Self {
            name,
            observed: observed(&args, &lock, operator)?,
            index: index.unwrap_or_else(|| Input::File(beside(INDEX))),
            audit: args.audit.clone().unwrap_or_else(|| beside(AUDIT)),
            args,
            lock,
            tokens,
        })
    }

    /// Returns whether no lock is read.
    fn has_no_lock(&self) -> bool {
        let is_named = !self.args.server.is_empty();
        !self.observed.is_empty() && (is_named || self.lock.is_missing())
    }
}

pub(super) fn run(args: &Serve, global: &Global) -> Result<CommandAnswer, Failure> {
    let operator = operator(args.servers.as_deref())?;
    let (agents, otlp) = agents(args, &operator)?;
    for agent in agents.iter().filter(|it| it.has_no_lock() && !global.quiet) {
        let names: Vec<_> = agent.observed.iter().map(|it| &*it.name).collect();
        output::note(format_args!(
            "observes without a lock: {}",
            names.join(", ")
        ));
    }
    let mut source = Files {
        global,
        agents: &agents,
        session: CommandSession::open(global, &Output::TEXT)?,
    };
    if let Some(client) = &args.client {
        let agent = &agents[0];
        if !agent.has_no_lock() && !agent.lock.is_missing() && !agent.index.is_missing() {
            warn_of_limits(client, &agent.lock, &agent.index, &mut source.session)?;
        }
    }
    let served = block_on(async {
        let mut signals = Signals::new()?;
        let mut gateway = Gateway::default();
        for (number, agent) in agents.iter().enumerate() {
            let documents = source.load(number)?;
            let engine = source.session.component();
            let resolver = Resolver::system();
            let access = Access::new(&operator, engine.clone(), resolver, &mut signals).await?;
            if let (0, Some(url)) = (number, &otlp) {
                gateway.trace(Otlp::new("agent-gateway", url, access.posts())?);
            }
            let setup = setup(agent, args, (access, operator.ignoring()), documents)?;
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
            None => {
                if stdin().is_terminal() && !global.quiet {
                    output::note(
                        "waits for the MCP client that starts it: `agent adopt` makes yours start it, and `--http` \
                         serves clients over HTTP",
                    );
                }
                gateway.serve_stdio(work(&mut source)).await?;
            }
            Some(address) => {
                let listener = Listener::bind(address).await?;
                announce(&gateway, &listener, &agents)?;
                gateway.serve_http(listener, work(&mut source)).await?;
            }
        }
        Ok(None)
    })?;
    match served {
        None => Ok(CommandAnswer::Yes),
        Some(problems) => source.session.refuse_for(problems),
    }
}

/// Returns the agents of the options, or those of the file that they name, and the URL of the collector of spans.
fn agents(args: &Serve, operator: &Operator) -> Result<(Vec<Served>, Option<String>), Failure> {
    let Some(config) = &args.config else {
        let agent = args.agent.clone();
        let lock = agent.lock.clone();
        let lock = lock.unwrap_or_else(|| Input::File(LOCK.into()));
        let tokens = match (&args.http, &args.token_file) {
            (None, _) => Vec::new(),
            (_, Some(file)) => vec![(CLIENT.to_owned(), file.clone())],
            (_, None) => vec![token_of(&lock, CLIENT)?],
        };
        let served = Served::new(None, agent, lock, tokens, operator)?;
        return Ok((vec![served], args.otlp.clone()));
    };
    let agents = Agents::read(config).map_err(Failure::new)?;
    let folder = config.parent().unwrap_or(Path::new(""));
    let otlp = args.otlp.clone().or(agents.otlp);
    let served = agents.agents.into_iter().map(|(name, entry)| {
        let mut tokens: Vec<_> = entry
            .tokens
            .iter()
            .map(|(client, file)| (client.clone(), folder.join(file)))
            .collect();
        let args = options(&name, entry, folder)?;
        let lock = args.lock.clone();
        let lock = lock.unwrap_or_else(|| Input::File(folder.join(LOCK)));
        if tokens.is_empty() {
            // Each agent of one lock has a token of its own.
            let (_, file) = token_of(&lock, &format!("{name}/{CLIENT}"))?;
            tokens.push((CLIENT.to_owned(), file));
        }
        Served::new(Some(name), args, lock, tokens, operator)
    });
    Ok((served.collect::<Result<_, Failure>>()?, otlp))
}

/// Returns a client with the file of its token, which is made if it does not exist.
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
        lock: entry.lock.map(file),
        task: entry.task.map(file),
        index: Some(file(entry.index.unwrap_or_else(|| INDEX.into()))),
        // Agents of one folder have logs of their own.
        audit: Some(
            folder.join(
                entry
                    .audit
                    .unwrap_or_else(|| format!("{name}.audit.jsonl").into()),
            ),
        ),
        audit_arguments: entry.audit_arguments,
        expansion: match entry.expansion.as_deref() {
            None | Some("stub") => ExpansionMode::Stub,
            Some("list") => ExpansionMode::List,
            Some(_) => ExpansionMode::None,
        },
        budget: entry.budget,
        observe: entry.observe,
        server: entry
            .server
            .iter()
            .map(|text| NamedServer::parse(text).map_err(wrong))
            .collect::<Result<_, _>>()?,
        approvals: match entry.approvals.as_deref() {
            None | Some("host") => ApprovalsMode::Host,
            Some("retry") => ApprovalsMode::Retry,
            Some(_) => ApprovalsMode::Elicitation,
        },
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
    })
}

fn setup(
    agent: &Served,
    args: &Serve,
    (access, ignoring): (Access, Vec<(String, String)>),
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
            seed: random::<32>()?.to_vec(),
            expansion: match own.expansion {
                ExpansionMode::Stub => Expansion::Stub,
                ExpansionMode::List => Expansion::List,
                ExpansionMode::None => Expansion::None,
            },
            budget: own.budget,
            observe: own.observe,
            servers: agent.observed.clone(),
            audit_arguments: own.audit_arguments,
            approval_mode: match own.approvals {
                ApprovalsMode::Host => ApprovalMode::Host,
                ApprovalsMode::Retry => ApprovalMode::Retry,
                ApprovalsMode::Elicitation => ApprovalMode::Elicitation,
            },
            payload_max_bytes: None,
            secrets: access.secrets(),
            last_record: None,
            state: None,
        },
        ignoring,
        access,
        documents,
        zone: own.timezone.clone(),
        log: AuditLog::open(&agent.audit, args.audit_size)?,
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
    session: CommandSession,
}

impl Source for Files<'_> {
    fn files(&mut self, agent: usize) -> Vec<PathBuf> {
        let agent = &self.agents[agent];
        let Served { args, lock, .. } = agent;
        let policy = &args.context.policy;
        // A tenant that can't be read has no policy.
        let own = self.session.policy_input(policy).unwrap_or_default();
        let health = args.context.health.as_ref();
        let of_lock = [
            Some(&agent.index),
            args.task.as_ref(),
            policy.tenant.as_ref(),
            policy.policy_context.as_ref(),
            own.as_ref(),
        ];
        let has_no_lock = agent.has_no_lock();
        let named = match has_no_lock {
            // It is loaded as soon as it is there.
            true if args.server.is_empty() => vec![Some(lock), health],
            true => vec![health],
            false => [&[Some(lock), health], &of_lock[..]].concat(),
        };
        let definitions = beside(lock, DEFINITIONS).filter(|_| !has_no_lock);
        let named = named.into_iter().flatten().cloned();
        let files = named.chain(definitions).filter_map(|input| match input {
            Input::File(path) => Some(path),
            Input::Stdin => None,
        });
        files.collect()
    }

    fn load(&mut self, agent: usize) -> Result<Documents, Failure> {
        // Problems point into the documents that are read now.
        self.session = CommandSession::open(self.global, &Output::TEXT)?;
        let agent = &self.agents[agent];
        let args = &agent.args;
        if agent.has_no_lock() {
            let health = args.context.health.as_ref();
            let health = text(&mut self.session, DocumentKind::Health, health)?;
            return Ok(without_lock(health));
        }
        let given = Given {
            lock: &agent.lock,
            index: &agent.index,
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

/// Returns the documents of a session without a lock.
fn without_lock(health: Option<Vec<u8>>) -> Documents {
    Documents {
        lock: None,
        index: None,
        definitions: None,
        policy: None,
        policy_context: None,
        tenant: None,
        tenant_id: None,
        task: None,
        health,
    }
}
