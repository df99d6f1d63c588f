//! Who may ask over a network, and what.

use super::answer::Refusal;
use super::given::{Given, parsed};
use super::service::Endpoint;
use agent_host::Failure;
use agent_host::contract::decision_point::Digests;
use agent_host::input::{Input, TEXT_MAX};
use agent_host::output::visible;
use agent_mcp_server::{Token, client};
use agent_ownership::refuse_foreign;
use hyper::StatusCode;
use hyper::header::HeaderMap;
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use std::path::Path;
use std::sync::Arc;

/// Maximum number of callers.
pub(crate) const CALLERS_MAX: usize = 256;

/// What a caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Answer for humans who approve calls.
    Approver,
    /// Ask about calls.
    Enforcer,
    /// See what decides.
    Reader,
    /// Put the next bundle in place.
    Publisher,
}

impl Role {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "approver" => Self::Approver,
            "enforcer" => Self::Enforcer,
            "reader" => Self::Reader,
            "publisher" => Self::Publisher,
            _ => return None,
        })
    }

    /// Returns whether it may make requests to a path.
    fn may(self, path: Endpoint) -> bool {
        match path {
            Endpoint::Metadata => true,
            Endpoint::Approval => self == Self::Approver,
            Endpoint::Status => matches!(self, Self::Reader | Self::Publisher),
            Endpoint::Bundle => self == Self::Publisher,
            Endpoint::Check
            | Endpoint::Decide
            | Endpoint::DecideByGrpc
            | Endpoint::Evaluation
            | Endpoint::Evaluations
            | Endpoint::Process
            | Endpoint::SearchActions
            | Endpoint::SearchResources => self == Self::Enforcer,
        }
    }
}

/// A caller that the operator named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    pub(crate) name: String,
    role: Role,
    /// The agents whose calls it may ask about. None for every agent.
    agents: Option<Vec<String>>,
    /// The tenants by which it may ask. None for every tenant.
    tenants: Option<Vec<String>>,
}

impl Caller {
    /// Refuses a request that its role does not include.
    ///
    /// # Errors
    ///
    /// It does not.
    pub(crate) fn admit(&self, path: Endpoint) -> Result<(), Refusal> {
        match self.role.may(path) {
            true => Ok(()),
            false => Err(forbidden(
                "the role of the caller does not include this request",
            )),
        }
    }

    /// Returns the agent that a question is about: the one that it names, or the only one of the caller.
    ///
    /// # Errors
    ///
    /// The caller may not ask about it, or does not say which of several.
    pub(crate) fn agent(&self, named: Option<String>) -> Result<Option<String>, Refusal> {
        match (&self.agents, named) {
            (None, named) => Ok(named),
            (Some(own), Some(named)) if own.contains(&named) => Ok(Some(named)),
            (Some(_), Some(_)) => Err(forbidden("the caller may not ask about this agent")),
            (Some(own), None) => match &own[..] {
                [only] => Ok(Some(only.clone())),
                _ => Err(forbidden(
                    "the question names no agent, and the caller has several",
                )),
            },
        }
    }

    /// Returns whether it may ask by some tenants only.
    pub(crate) fn has_tenants(&self) -> bool {
        self.tenants.is_some()
    }

    /// Refuses a decision by a tenant that is none of the caller's.
    ///
    /// # Errors
    ///
    /// It is none.
    pub(crate) fn admit_tenant(&self, decided: &Digests) -> Result<(), Refusal> {
        let Some(own) = &self.tenants else {
            return Ok(());
        };
        match decided
            .tenant_id
            .as_ref()
            .is_some_and(|it| own.contains(it))
        {
            true => Ok(()),
            false => Err(forbidden("the caller may not ask by this tenant")),
        }
    }
}

fn forbidden(text: &str) -> Refusal {
    Refusal::of_http(StatusCode::FORBIDDEN, text)
}

/// The callers of a network.
#[derive(Default)]
pub(crate) struct Callers {
    /// By their tokens.
    tokens: Vec<(String, Token)>,
    /// By the names in their certificates.
    certificates: Vec<(ServerName<'static>, Arc<Caller>)>,
    all: Vec<Arc<Caller>>,
}

impl Callers {
    /// Reads the file of callers, which no other user may change. Paths of tokens begin in its folder.
    ///
    /// # Errors
    ///
    /// When a file can't be read or is not safe, or a member is wrong.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        let unusable = |why: &str| {
            Failure::new(format_args!(
                "the callers in `{shown}` can't be used: {why}"
            ))
        };
        let text = Input::File(path.to_owned()).read(TEXT_MAX)?;
        refuse_foreign(path).map_err(|foreign| unusable(&foreign.to_string()))?;
        let wrong = |refusal: Refusal| unusable(&refusal.text);
        let (text, root) = parsed(&text).map_err(|_| unusable("it is not strict JSON"))?;
        let whole = Given::whole(text, &root).map_err(|_| unusable("it is not an object"))?;
        whole.only(&["callers"]).map_err(wrong)?;
        let callers = whole.required_object("callers").map_err(wrong)?;
        let names = callers.names();
        if names.len() > CALLERS_MAX {
            return Err(unusable(&format!("there are more than {CALLERS_MAX}")));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut read = Self {
            tokens: Vec::new(),
            certificates: Vec::new(),
            all: Vec::new(),
        };
        for name in names {
            let given = callers.required_object(name).map_err(wrong)?;
            let (caller, credentials) = caller(name, &given).map_err(wrong)?;
            let caller = Arc::new(caller);
            match credentials {
                Credentials::Token(file) => {
                    let file = folder.join(file);
                    // One that is missing is not made: its caller would not have it.
                    std::fs::metadata(&file).map_err(|error| {
                        let (file, why) = (file.display(), agent_host::input::reason(&error));
                        unusable(&format!("the token `{file}` of `{}`: {why}", visible(name)))
                    })?;
                    let token = Token::of_file(&file)?;
                    let mut tokens = read.tokens.iter();
                    if let Some((other, _)) = tokens.find(|(_, it)| it.is(token.reveal())) {
                        let (other, name) = (visible(other), visible(name));
                        return Err(unusable(&format!("`{other}` and `{name}` have one token")));
                    }
                    read.tokens.push((name.to_owned(), token));
                }
                Credentials::Certificate(of) => {
                    if read.certificates.iter().any(|(it, _)| *it == of) {
                        let why = format!("`{}` has the certificate of another", visible(name));
                        return Err(unusable(&why));
                    }
                    read.certificates.push((of, Arc::clone(&caller)));
                }
            }
            read.all.push(caller);
        }
        Ok(read)
    }

    /// Returns the caller of a request: by its token, or by the verified certificate of its connection.
    pub(crate) fn of(
        &self,
        headers: &HeaderMap,
        certificate: Option<&CertificateDer<'_>>,
    ) -> Option<Arc<Caller>> {
        if let Some(name) = client(headers, &self.tokens) {
            return self.all.iter().find(|it| it.name == name).cloned();
        }
        let certificate = ParsedCertificate::try_from(certificate?).ok()?;
        let named = self.certificates.iter();
        let mut named = named.filter(|(name, _)| verify_server_name(&certificate, name).is_ok());
        match (named.next(), named.next()) {
            (Some((_, caller)), None) => Some(Arc::clone(caller)),
            // It has the names of several.
            _ => None,
        }
    }

    /// Returns whether a caller has a certificate.
    pub(crate) fn have_certificates(&self) -> bool {
        !self.certificates.is_empty()
    }
}

/// How a caller is known.
enum Credentials {
    Token(String),
    Certificate(ServerName<'static>),
}

fn caller(name: &str, given: &Given<'_>) -> Result<(Caller, Credentials), Refusal> {
    given.only(&["agents", "certificate", "role", "tenants", "token"])?;
    let wrong = |member: &str, what: &str| {
        let path = given.path_to(member);
        Err(Refusal::of_http(
            StatusCode::BAD_REQUEST,
            format!("`{path}` {what}"),
        ))
    };
    let role = given.required_string("role")?;
    let Some(role) = Role::named(&role) else {
        return wrong(
            "role",
            "is none of `approver`, `enforcer`, `publisher` and `reader`",
        );
    };
    let credentials = match (given.string("token")?, given.string("certificate")?) {
        (Some(token), None) => Credentials::Token(token),
        (None, Some(name)) => match ServerName::try_from(name) {
            Ok(name) => Credentials::Certificate(name),
            Err(_) => return wrong("certificate", "is not a DNS name or an address"),
        },
        _ => {
            return wrong(
                "token",
                "or `certificate` says how the caller is known: give one of them",
            );
        }
    };
    let (agents, tenants) = (given.strings("agents")?, given.strings("tenants")?);
    for (member, list) in [("agents", &agents), ("tenants", &tenants)] {
        if list.as_ref().is_some_and(Vec::is_empty) {
            return wrong(member, "is empty: the caller could ask nothing");
        }
    }
    if role != Role::Enforcer && (agents.is_some() || tenants.is_some()) {
        return wrong("agents", "and `tenants` are those of an enforcer");
    }
    let caller = Caller {
        name: name.to_owned(),
        role,
        agents,
        tenants,
    };
    Ok((caller, credentials))
}
