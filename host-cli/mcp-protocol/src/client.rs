//! The client.

use crate::error::Error;
use crate::identity::{self, Call, Identity};
use crate::inbox::{Inbox, Notification, Traffic};
use crate::json::Json;
use crate::limits::Limits;
use crate::message::write_notification;
use crate::negotiation::{
    Next, UNSUPPORTED_PROTOCOL_VERSION, check_complete, discovered, initialized, no_common,
    refused_and_listed, requires_input,
};
use crate::parameter_headers::values;
use crate::tool_list::{Pages, ToolHeaders, ToolList};
use crate::transport::{Outgoing, Transport};
use crate::version::{Generation, Version};
use crate::wait::Wait;

/// The identity of a client, and its choices.
#[derive(Debug, Clone)]
pub struct Options {
    /// The client's name.
    pub name: String,
    /// The client's version.
    pub version: String,
    /// The accepted generations.
    pub generations: Generations,
    /// The limits.
    pub limits: Limits,
}

/// The generations of the protocol that a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Generations {
    /// Both. The first request is `server/discover`. Some servers with sessions exit on it; start such
    /// a server again and connect with [`Generations::Sessions`].
    #[default]
    Both,
    /// Only [`Generation::Stateless`].
    Stateless,
    /// Only [`Generation::Sessions`].
    Sessions,
}

/// A client of one server. It declares no capabilities.
///
/// It runs one operation at a time. An operation that exceeds its [`Wait`] is cancelled at the server.
#[derive(Debug)]
pub struct Client<T> {
    pub(crate) transport: T,
    pub(crate) inbox: Inbox,
    pub(crate) identity: Identity,
    pub(crate) version: Version,
    pub(crate) server: Json,
    pub(crate) headers: ToolHeaders,
    /// The span that requests belong to.
    pub(crate) traceparent: Option<String>,
}

impl<T: Transport> Client<T> {
    /// Connects to a server, and agrees on a version with it.
    ///
    /// # Errors
    ///
    /// When both sides have no common version, or the server does not answer. The transport is closed.
    pub async fn connect(transport: T, options: &Options, wait: &Wait) -> Result<Self, Error> {
        let mut client = Self {
            transport,
            inbox: Inbox::new(options.limits),
            identity: Identity::new(&options.name, &options.version),
            version: Version::LATEST,
            server: Json::null(),
            headers: ToolHeaders::new(),
            traceparent: None,
        };
        let next = match options.generations {
            Generations::Sessions => Next::Initialize(Version::LATEST_WITH_SESSIONS),
            Generations::Both | Generations::Stateless => match client.discover(wait).await? {
                // Clients should repeat a refused request with a version that the server lists.
                Next::Discover => client.discover(wait).await?,
                next => next,
            },
        };
        match next {
            Next::Stateless => {}
            Next::Discover => return Err(refused_and_listed()),
            Next::Initialize(version) if options.generations != Generations::Stateless => {
                match client.initialize(version, wait).await {
                    // A server that starts slowly answers the probe when it is no longer waited for. One
                    // without sessions has then agreed to it, and opens none.
                    Err(Error::Rpc(refused))
                        if options.generations == Generations::Both
                            && refused.code == UNSUPPORTED_PROTOCOL_VERSION =>
                    {
                        if client.discover(wait).await? != Next::Stateless {
                            return Err(Error::Rpc(refused));
                        }
                    }
                    initialized => initialized?,
                }
            }
            Next::Initialize(version) => return Err(no_common(&[version.name().to_owned()])),
        }
        client.inbox.generation = Some(client.version.generation());
        Ok(client)
    }

    /// Requests the server's versions. Only servers without sessions know this request.
    async fn discover(&mut self, wait: &Wait) -> Result<Next, Error> {
        let request = Outgoing {
            id: self.inbox.open_alone(),
            method: "server/discover",
            params: self
                .identity
                .params(Version::LATEST, Vec::new(), None, None),
            version: Some(Version::LATEST),
            name: None,
            parameter_headers: Vec::new(),
        };
        let older = Next::Initialize(Version::LATEST_WITH_SESSIONS);
        // HTTP answers each request. Over stdio, a server may ignore an unknown method.
        let probe = match T::HAS_HEADERS {
            true => wait.clone(),
            false => wait.at_most(self.inbox.limits.probe),
        };
        let answer = self.transport.exchange(&request, &mut self.inbox, &probe);
        match answer.await {
            Ok(answer) => {
                let next = discovered(&answer.outcome)?;
                if let (Next::Stateless, Ok(result)) = (&next, answer.outcome) {
                    check_complete(&result, Generation::Stateless)?;
                    self.server = result;
                }
                Ok(next)
            }
            Err(Error::Timeout) if !T::HAS_HEADERS && !wait.left().is_zero() => Ok(older),
            // The server does not know the request. Refused access and overload are other errors.
            Err(Error::Status(status))
                if (400..500).contains(&status) && !matches!(status, 401 | 403 | 407 | 429) =>
            {
                Ok(older)
            }
            Err(error) => Err(error),
        }
    }

    /// Opens a session.
    async fn initialize(&mut self, version: Version, wait: &Wait) -> Result<(), Error> {
        let (name, info) = (version.name(), self.identity.json());
        let request = Outgoing {
            id: self.inbox.open_alone(),
            method: "initialize",
            params: format!(
                r#"{{"protocolVersion":"{name}","capabilities":{{}},"clientInfo":{info}}}"#
            ),
            version: None,
            name: None,
            parameter_headers: Vec::new(),
        };
        // The specification forbids to cancel `initialize`, so that a timeout sends nothing.
        let answer = self.transport.exchange(&request, &mut self.inbox, wait);
        let result = answer.await?.outcome.map_err(Error::Rpc)?;
        self.version = initialized(&result)?;
        self.server = result;
        let notification = write_notification("notifications/initialized", None);
        let notified = self.transport.notify(notification, self.version, wait);
        notified.await
    }

    /// Returns the version that both sides speak.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the server's description: the result of `server/discover` or `initialize`.
    #[must_use]
    pub fn server(&self) -> &Json {
        &self.server
    }

    /// Returns counts of all messages that were not answers.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        self.inbox.traffic
    }

    /// Returns the notifications received since the last call: of progress, cancellation, changed
    /// lists and logs, at most 64.
    pub fn take_notifications(&mut self) -> Vec<Notification> {
        self.inbox.take_notifications()
    }

    /// Lists all tools. The list contains each tool as received, whatever its shape.
    ///
    /// # Errors
    ///
    /// When a page does not arrive, or the list passes a limit.
    pub async fn list_tools(&mut self, wait: &Wait) -> Result<ToolList, Error> {
        let with_headers = T::HAS_HEADERS && self.version.generation() == Generation::Stateless;
        let mut pages = self
            .pages(("tools/list", "tools"), with_headers, wait)
            .await?;
        self.headers = std::mem::take(&mut pages.headers);
        pages.finish()
    }

    /// Returns the whole list of a method: an object with a member that has the entries of all pages, as
    /// received, whatever their shape.
    ///
    /// # Errors
    ///
    /// When a page does not arrive, or the list passes a limit: those of tools.
    pub async fn list(
        &mut self,
        method: &str,
        member: &'static str,
        wait: &Wait,
    ) -> Result<Json, Error> {
        let pages = self.pages((method, member), false, wait).await?;
        Ok(pages.finish()?.json)
    }

    async fn pages(
        &mut self,
        (method, member): (&str, &'static str),
        with_headers: bool,
        wait: &Wait,
    ) -> Result<Pages, Error> {
        let mut pages = Pages::new(member);
        let mut cursor: Option<String> = None;
        loop {
            let members = identity::page(cursor.as_deref());
            let request = (method, None, Vec::new());
            let page = self.request(request, members, wait).await?;
            check_complete(&page, self.version.generation())?;
            match pages.add(&page, with_headers, &self.inbox.limits)? {
                Some(same) if cursor.as_ref() == Some(&same) => {
                    return Err(Error::protocol("a page names itself as the next one"));
                }
                Some(next) => cursor = Some(next),
                None => return Ok(pages),
            }
        }
    }

    /// Sends a request with an object of parameters, which names a prompt or the URI of a resource. Returns the
    /// result as it was received; its type may be `input_required`.
    ///
    /// # Errors
    ///
    /// When the server answers with an error, or there is no answer.
    pub async fn ask(
        &mut self,
        method: &str,
        name: &str,
        params: &Json,
        wait: &Wait,
    ) -> Result<Json, Error> {
        let members = identity::members(params);
        let request = (method, Some(name), Vec::new());
        let result = self.request(request, members, wait).await?;
        requires_input(&result, self.version.generation())?;
        Ok(result)
    }

    /// Limits the size of the server's messages from now on, in bytes. A call whose result is larger ends
    /// with [`Error::TooLarge`] before the rest of it arrives.
    pub fn limit_messages(&mut self, bytes: usize) {
        self.inbox.limits.frame_bytes = bytes;
        self.transport.limit(bytes);
    }

    /// Names the span that the next requests belong to, as a `traceparent` \[W3C Trace Context\].
    pub fn trace(&mut self, traceparent: Option<String>) {
        self.traceparent = traceparent;
    }

    /// Calls a tool with an object of arguments, and returns the complete result as it was received.
    ///
    /// # Errors
    ///
    /// When the arguments are not an object of strict JSON, the server answers with an error or asks for input, or
    /// there is no answer. A tool's own error is a result.
    pub async fn call_tool(
        &mut self,
        name: &str,
        arguments: &[u8],
        wait: &Wait,
    ) -> Result<Json, Error> {
        let call = Call {
            tool: name,
            arguments: identity::arguments(arguments)?,
            state: None,
        };
        let result = self.call(&call, wait).await?;
        check_complete(&result, self.version.generation())?;
        Ok(result)
    }

    /// Calls a tool, and returns the result as it was received; its type may be `input_required`.
    ///
    /// Some tools require headers that repeat arguments, over HTTP. The last
    /// [`Client::list_tools`] determines these headers.
    ///
    /// # Errors
    ///
    /// When the server answers with an error, or there is no answer. A tool's own error is a result.
    pub async fn call(&mut self, call: &Call<'_>, wait: &Wait) -> Result<Json, Error> {
        let headers = self.headers.get(call.tool);
        let headers = values(
            headers.map(Vec::as_slice).unwrap_or_default(),
            &call.arguments,
        )?;
        let request = ("tools/call", Some(call.tool), headers);
        let result = self.request(request, call.members(), wait).await?;
        requires_input(&result, self.version.generation())?;
        Ok(result)
    }

    /// Sends a request, and returns its result, whose type the caller checks.
    async fn request(
        &mut self,
        (method, name, parameter_headers): (&str, Option<&str>, Vec<(String, String)>),
        members: Vec<String>,
        wait: &Wait,
    ) -> Result<Json, Error> {
        let traceparent = self.traceparent.as_deref();
        let request = Outgoing {
            id: self.inbox.open_alone(),
            method,
            params: (self.identity).params(self.version, members, None, traceparent),
            version: Some(self.version),
            name,
            parameter_headers,
        };
        let answer = self.transport.exchange(&request, &mut self.inbox, wait);
        match answer.await {
            Ok(answer) => answer.outcome.map_err(Error::Rpc),
            Err(error @ (Error::Timeout | Error::Cancelled)) => {
                if let Some(id) = self.inbox.give_up_all() {
                    self.transport.abandon(id, self.version).await;
                }
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    /// Ends the conversation: closes the input of a process, or ends the session over HTTP.
    ///
    /// # Errors
    ///
    /// When the server can't be reached. The conversation ends anyway.
    pub async fn close(self, wait: &Wait) -> Result<(), Error> {
        self.transport.close(wait).await
    }
}
