//! Endpoints: a URL without secrets, or the URL of a package.

use agent_model::user_info;
use agent_text::credential;

/// The reason why a text can't be used as a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Placeholder,
    NoUrl,
    UserInfo,
    Query,
    Credential,
    NoVersion,
    Registry,
    Identifier,
}

impl Refusal {
    /// Returns the label. It omits the text itself, which may be a secret.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Placeholder => "a placeholder",
            Self::NoUrl => "not an http or https URL",
            Self::UserInfo => "contains user info",
            Self::Query => "contains a query or a fragment",
            Self::Credential => "contains a likely credential",
            Self::NoVersion => "without a fixed version",
            Self::Registry => "an unknown registry",
            Self::Identifier => "invalid in its registry",
        }
    }

    /// Returns the message about a field.
    pub(super) fn message(self, what: &str) -> String {
        match self {
            Self::Placeholder => format!("{what} is a placeholder instead of a value"),
            Self::NoUrl => format!("{what} is not an http or https URL"),
            Self::UserInfo => format!("{what} contains user info, which is a secret"),
            Self::Query => {
                format!("{what} contains a query or a fragment, which may be a secret")
            }
            Self::Credential => format!("{what} contains a likely credential"),
            Self::NoVersion => format!("{what} has no fixed version to identify it"),
            Self::Registry => format!("{what} is of a registry without a known package URL"),
            Self::Identifier => format!("{what} has an identifier that is invalid in its registry"),
        }
    }
}

/// The beginning of the endpoint of a server that is started and is no package.
pub(super) const GENERIC: &str = "pkg:generic/";

/// Returns whether a text contains a placeholder: `${VERSION}`, `{host}`, `<token>`, `$NAME`. The
/// bound `mcp<2` is not a placeholder.
pub(super) fn is_placeholder(text: &str) -> bool {
    let filled = |rest: &str| {
        rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '(' | '{'))
    };
    let angled = |rest: &str| filled(rest) && rest.contains('>');
    text.contains(['{', '}'])
        || text.split('<').skip(1).any(angled)
        || text.split('$').skip(1).any(filled)
}

/// Returns whether a part of a text looks like a credential. It is one of a well-known service, or a
/// run of at least 20 letters and digits, with both among them.
pub(super) fn has_credential(text: &str) -> bool {
    let separated = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    text.split(separated).any(|word| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
        credential(word).is_some() || digits + letters >= 20 && digits >= 4 && letters >= 1
    })
}

/// Returns whether a URL contains user info.
pub(super) fn has_user_info(url: &str) -> bool {
    user_info(url).is_some()
}

/// Checks a URL of a document.
pub(super) fn check_url(url: &str) -> Result<(), Refusal> {
    let scheme_end = ["https://", "http://"].into_iter().find_map(|scheme| {
        let start = url.get(..scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(scheme.len())
    });
    if has_user_info(url) {
        return Err(Refusal::UserInfo);
    }
    if is_placeholder(url) {
        return Err(Refusal::Placeholder);
    }
    let Some(start) = scheme_end else {
        return Err(Refusal::NoUrl);
    };
    let rest = &url[start..];
    let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '\\' | '|' | '"' | '`');
    if host.is_empty() || rest.contains(odd) {
        return Err(Refusal::NoUrl);
    }
    if rest.contains(['?', '#']) {
        return Err(Refusal::Query);
    }
    if has_credential(rest) {
        return Err(Refusal::Credential);
    }
    Ok(())
}

/// A package of a registry's document.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Package<'a> {
    pub(super) registry: &'a str,
    pub(super) identifier: &'a str,
    pub(super) version: Option<&'a str>,
    pub(super) base_url: Option<&'a str>,
    pub(super) sha256: Option<&'a str>,
}

impl Package<'_> {
    /// Returns the package URL (purl), which does not depend on the transport.
    pub(super) fn purl(self) -> Result<String, Refusal> {
        self.check()?;
        let fixed = self
            .version
            .filter(|version| !version.is_empty() && *version != "latest");
        match self.registry {
            "oci" => return self.image(fixed),
            "mcpb" => return self.bundle(fixed),
            _ => {}
        }
        let (before, after) = self.unversioned()?;
        let version = fixed.ok_or(Refusal::NoVersion)?;
        Ok(format!("{before}{}{after}", encode(version, ":")))
    }

    /// Returns the package URL without its version: what precedes and what follows it.
    pub(super) fn unversioned(self) -> Result<(String, String), Refusal> {
        self.check()?;
        let (mut name, mut repository) = (self.identifier, self.base_url);
        let name = match (self.registry, name.split_once('/')) {
            ("npm", Some((scope, name))) if scope.starts_with('@') && !name.contains('/') => {
                format!("{}/{}", encode(scope, ""), encode(name, ""))
            }
            ("npm", Some(_)) => return Err(Refusal::Identifier),
            ("pypi", _) => {
                let name = name.to_ascii_lowercase();
                encode(&name.replace('_', "-"), "")
            }
            ("docker", parts) => {
                // The first part is a host if it has a dot or a port.
                if let Some((host, rest)) = parts
                    && (host.contains(['.', ':']) || host == "localhost")
                {
                    (name, repository) = (rest, Some(host));
                }
                encode(&name.to_ascii_lowercase(), "/")
            }
            ("npm" | "nuget", _) => encode(name, ""),
            _ => return Err(Refusal::Registry),
        };
        let after = repository.map(|base| format!("?repository_url={}", encode(base, "/:")));
        let before = format!("pkg:{}/{name}@", self.registry);
        Ok((before, after.unwrap_or_default()))
    }

    /// Checks that no part is a placeholder or may be a secret.
    fn check(self) -> Result<(), Refusal> {
        let all = [
            Some(self.identifier),
            self.version,
            self.base_url,
            self.sha256,
        ];
        if all.into_iter().flatten().any(is_placeholder) {
            return Err(Refusal::Placeholder);
        }
        let urls = [Some(self.identifier), self.base_url];
        if urls.into_iter().flatten().any(has_user_info) {
            return Err(Refusal::UserInfo);
        }
        if let Some(base) = self.base_url {
            if base.contains(['?', '#']) {
                return Err(Refusal::Query);
            }
            if has_credential(base) {
                return Err(Refusal::Credential);
            }
        }
        if self.identifier.is_empty() || all.into_iter().flatten().any(has_space) {
            return Err(Refusal::Identifier);
        }
        Ok(())
    }

    /// Returns the package URL of an image: `registry/namespace/name:tag`, or with `@` and a digest.
    fn image(self, version: Option<&str>) -> Result<String, Refusal> {
        let (image, digest) = match self.identifier.split_once('@') {
            Some((image, digest)) => (image, Some(digest)),
            None => (self.identifier, None),
        };
        // A colon before the last slash precedes a port.
        let name_at = image.rfind('/').map_or(0, |at| at + 1);
        let (image, tag) = match image[name_at..].find(':') {
            Some(at) => (&image[..name_at + at], Some(&image[name_at + at + 1..])),
            None => (image, version),
        };
        let tag = tag.filter(|tag| *tag != "latest");
        if digest.is_none() && tag.is_none() {
            return Err(Refusal::NoVersion);
        }
        let name = image[name_at..].to_ascii_lowercase();
        if name.is_empty() {
            return Err(Refusal::Identifier);
        }
        let repository = match self.base_url {
            Some(base) => {
                let base = base.split_once("://").map_or(base, |(_, rest)| rest);
                format!("{}/{image}", base.trim_end_matches('/'))
            }
            None => image.to_owned(),
        };
        let mut purl = format!("pkg:oci/{}", encode(&name, ""));
        if let Some(digest) = digest {
            purl.push_str(&format!("@{}", encode(digest, "")));
        }
        purl.push_str(&format!("?repository_url={}", encode(&repository, "/:")));
        if let Some(tag) = tag {
            purl.push_str(&format!("&tag={}", encode(tag, "")));
        }
        Ok(purl)
    }

    /// Returns the package URL of a bundle, whose identifier is its download URL.
    fn bundle(self, version: Option<&str>) -> Result<String, Refusal> {
        check_url(self.identifier)?;
        let file = self.identifier.rsplit('/').next().unwrap_or_default();
        let (name, sha256) = match (file.strip_suffix(".mcpb").unwrap_or(file), self.sha256) {
            ("", _) => return Err(Refusal::Identifier),
            (_, None) => return Err(Refusal::NoVersion),
            (name, Some(sha256)) => (name, sha256),
        };
        let version = version.map_or(String::new(), |version| format!("@{}", encode(version, "")));
        Ok(format!(
            "pkg:generic/{}{version}?checksum=sha256:{}&download_url={}",
            encode(name, ""),
            encode(sha256, ""),
            encode(self.identifier, "/:")
        ))
    }
}

/// Returns the URL of a package in a version.
pub(super) fn package_url(before: &str, version: &str, after: &str) -> String {
    format!("{before}{}{after}", encode(version, ":"))
}

fn has_space(text: &str) -> bool {
    text.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// Percent-encodes all but unreserved characters and those in `kept`.
pub(super) fn encode(text: &str, kept: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || "-._~".contains(c) || kept.contains(c) {
            encoded.push(c);
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_no_values() {
        for text in [
            "${VERSION}",
            "{host}",
            "1.${x}",
            "$VERSION",
            "$(git)",
            "<token>",
        ] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in ["1.0.0", "a$", "a$1", "https://mcp.example/a~b"] {
            assert!(!is_placeholder(text), "{text}");
        }
    }

    #[test]
    fn urls_that_may_hold_a_secret_are_not_taken() {
        for (url, refusal) in [
            ("https://mcp.example/", None),
            ("HTTPS://mcp.example:8443/a/b", None),
            ("http://[::1]:80/mcp", None),
            ("https://api.githubcopilot.com/mcp/", None),
            (
                "https://mcp.example/context7-mcp-server-of-the-team-2",
                None,
            ),
            ("https://user@mcp.example/", Some(Refusal::UserInfo)),
            ("https://a:{b}@mcp.example/", Some(Refusal::UserInfo)),
            ("https:/\\a:b@mcp.example/", Some(Refusal::UserInfo)),
            ("https://mcp.example/?key=1", Some(Refusal::Query)),
            ("https://mcp.example/#a", Some(Refusal::Query)),
            ("https://{tenant}.example/", Some(Refusal::Placeholder)),
            ("https:///a", Some(Refusal::NoUrl)),
            ("https://mcp.example/a b", Some(Refusal::NoUrl)),
            ("https://mcp.example/a|b", Some(Refusal::NoUrl)),
            ("ftp://mcp.example/", Some(Refusal::NoUrl)),
            ("stdio", Some(Refusal::NoUrl)),
            ("", Some(Refusal::NoUrl)),
            (
                "https://mcp.example/s/sk-abcdefgh1j/",
                Some(Refusal::Credential),
            ),
            (
                "https://mcp.example/s/550e8400-e29b-41d4-a716-446655440000/mcp",
                Some(Refusal::Credential),
            ),
        ] {
            assert_eq!(check_url(url).err(), refusal, "{url}");
        }
    }

    #[test]
    fn user_info_is_found_in_any_spelling() {
        for url in [
            "https://user@mcp.example/",
            "https://@mcp.example/",
            "HTTPS:a:b@mcp.example",
            "wss:////a:b@mcp.example",
            "a:b@mcp.example",
        ] {
            assert!(has_user_info(url), "{url}");
        }
        for url in [
            "https://mcp.example/@acme",
            "https://mcp.example?a@b",
            "pkg:npm/%40acme/reports@1.0.0",
            "pkg:reports@1.0.0",
            "npm:@acme/reports",
            "stdio",
        ] {
            assert!(!has_user_info(url), "{url}");
        }
    }

    /// Reads a package: registry, identifier, version, base URL and SHA-256, between bars.
    fn package(text: &str) -> Package<'_> {
        let mut parts = text
            .split(" | ")
            .map(|part| Some(part).filter(|it| *it != "-"));
        let mut part = || parts.next().flatten();
        Package {
            registry: part().unwrap_or_default(),
            identifier: part().unwrap_or_default(),
            version: part(),
            base_url: part(),
            sha256: part(),
        }
    }

    #[test]
    fn packages_have_package_urls() {
        for (text, purl) in [
            (
                "npm | @playwright/mcp | 0.0.79",
                "pkg:npm/%40playwright/mcp@0.0.79",
            ),
            (
                "npm | @playwright/mcp | 0.0.79 | https://npm.registry.example",
                "pkg:npm/%40playwright/mcp@0.0.79?repository_url=https://npm.registry.example",
            ),
            (
                "pypi | MCP_server | 1!2.0+a",
                "pkg:pypi/mcp-server@1%212.0%2Ba",
            ),
            (
                "oci | oci.registry.example:5000/Acme/Reports:1.2.0",
                "pkg:oci/reports?repository_url=oci.registry.example:5000/Acme/Reports&tag=1.2.0",
            ),
            (
                "oci | acme/reports | v0.1.6 | https://oci.registry.example/",
                "pkg:oci/reports?repository_url=oci.registry.example/acme/reports&tag=v0.1.6",
            ),
            (
                "oci | oci.registry.example/acme/reports@sha256:00ff",
                "pkg:oci/reports@sha256%3A00ff?repository_url=oci.registry.example/acme/reports",
            ),
            (
                "mcpb | https://archive.example/reports.mcpb | - | - | 00ff",
                "pkg:generic/reports?checksum=sha256:00ff&download_url=https://archive.example/reports.mcpb",
            ),
        ] {
            assert_eq!(package(text).purl().as_deref(), Ok(purl), "{text}");
        }
    }

    #[test]
    fn packages_without_an_identity_are_refused() {
        let npm = "npm | @playwright/mcp | 0.0.79";
        for (text, refusal) in [
            (
                format!("{npm} | https://npm.registry.example/a b"),
                Refusal::Identifier,
            ),
            (
                format!("{npm} | https://npm.registry.example/?token=1"),
                Refusal::Query,
            ),
            (
                format!("{npm} | https://npm.registry.example/ghp_0123456789ab"),
                Refusal::Credential,
            ),
            ("npm | @playwright/mcp | latest".into(), Refusal::NoVersion),
            ("npm | a/b | 0.0.79".into(), Refusal::Identifier),
            ("oci | acme/reports:${VERSION}".into(), Refusal::Placeholder),
            ("oci | acme/reports:latest".into(), Refusal::NoVersion),
            (
                "mcpb | https://archive.example/reports.mcpb".into(),
                Refusal::NoVersion,
            ),
            (
                "mcpb | https://a:b@archive.example/reports.mcpb | - | - | 00ff".into(),
                Refusal::UserInfo,
            ),
            (npm.replace("npm |", "homebrew |"), Refusal::Registry),
        ] {
            assert_eq!(package(&text).purl(), Err(refusal), "{text}");
        }
    }
}
