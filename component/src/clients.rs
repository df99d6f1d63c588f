//! `agent:engine/clients`

use crate::Component;
use crate::bindings::exports::agent::engine::clients::{
    Diagnostic, EnvironmentVariable, Gateway, Guest, InstalledServer, NamedSetting, RemoteServer,
    RunPackage, ServerCommand, ServerStart, SettingPart,
};
use crate::convert::all;
use agent_api::documents::{self, Variable, installed_servers, run_package};
use agent_api::{CLIENT_LIMITS, client_limits};

impl Guest for Component {
    fn installed(document: Vec<u8>) -> Result<Vec<InstalledServer>, Vec<Diagnostic>> {
        installed_servers(document).map(all).map_err(all)
    }

    fn package_of(program: String, arguments: Vec<String>) -> Option<RunPackage> {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        run_package(&program, &arguments).map(Into::into)
    }

    fn limits(client: String, tools: String) -> Result<Vec<Diagnostic>, Vec<String>> {
        match CLIENT_LIMITS.iter().find(|it| it.name == client) {
            Some(limits) => Ok(all(client_limits(limits, &tools).unwrap_or_default())),
            None => Err(CLIENT_LIMITS.iter().map(|it| it.name.to_owned()).collect()),
        }
    }

    fn govern(
        document: Vec<u8>,
        place: Vec<String>,
        servers: Vec<String>,
        gateway: Gateway,
    ) -> Result<String, Vec<Diagnostic>> {
        documents::govern(document, &place, &servers, &gateway.into()).map_err(all)
    }

    fn release(
        document: Vec<u8>,
        place: Vec<String>,
        gateway: Gateway,
        original: Vec<u8>,
        servers: Vec<String>,
    ) -> Result<String, Vec<Diagnostic>> {
        let gateway = gateway.into();
        documents::release(document, &place, &gateway, original, &servers).map_err(all)
    }
}

impl From<Gateway> for documents::Gateway {
    fn from(gateway: Gateway) -> Self {
        Self {
            name: gateway.name,
            program: gateway.program,
            arguments: gateway.arguments,
        }
    }
}

impl From<documents::InstalledServer> for InstalledServer {
    fn from(server: documents::InstalledServer) -> Self {
        Self {
            path: server.path,
            name: server.name,
            is_enabled: server.is_enabled,
            start: match server.start {
                documents::ServerStart::Command(it) => ServerStart::Command(it.into()),
                documents::ServerStart::Remote(it) => ServerStart::Remote(it.into()),
                documents::ServerStart::Unknown => ServerStart::Unknown,
            },
        }
    }
}

impl From<documents::ServerCommand> for ServerCommand {
    fn from(command: documents::ServerCommand) -> Self {
        Self {
            program: setting(command.program),
            arguments: command.arguments.into_iter().map(setting).collect(),
            environment: named(command.environment),
            environment_file: command.environment_file.map(setting),
            folder: command.folder.map(setting),
            package: command.package.map(Into::into),
        }
    }
}

impl From<documents::RunPackage> for RunPackage {
    fn from(package: documents::RunPackage) -> Self {
        let (url_before, url_after) = package.url;
        Self {
            url_before,
            url_after,
            version: package.version,
            // A command has fewer arguments than bytes.
            arguments_from: package.arguments_from as u32,
        }
    }
}

impl From<documents::RemoteServer> for RemoteServer {
    fn from(remote: documents::RemoteServer) -> Self {
        Self {
            url: setting(remote.url),
            user_info: remote.user_info,
            query: named(remote.query),
            headers: named(remote.headers),
        }
    }
}

fn named(values: Vec<(String, documents::Setting)>) -> Vec<NamedSetting> {
    let values = values.into_iter().map(|(name, value)| NamedSetting {
        name,
        value: setting(value),
    });
    values.collect()
}

fn setting(value: documents::Setting) -> Vec<SettingPart> {
    let parts = value.0.into_iter().map(|part| match part {
        documents::SettingPart::Plain(text) => SettingPart::Plain(text),
        documents::SettingPart::Secret(text) => SettingPart::Secret(text),
        documents::SettingPart::Variable(variable) => match variable {
            Variable::Environment { name, default } => {
                SettingPart::Environment(EnvironmentVariable { name, default })
            }
            Variable::Input(id) => SettingPart::Input(id),
            Variable::WorkingFolder => SettingPart::WorkingFolder,
            Variable::Home => SettingPart::Home,
            Variable::Other(name) => SettingPart::Other(name),
        },
    });
    parts.collect()
}
