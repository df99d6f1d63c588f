//! The scopes that a login asks for.

use super::metadata::{Issuer, Resource};

/// The scope of a refresh token, which some authorization servers require (OpenID Connect Core, 11).
const OFFLINE: &str = "offline_access";

/// What user and operator say about scopes.
pub(super) struct ScopeChoice<'w> {
    /// The id of the server, for messages.
    pub(super) id: &'w str,
    /// The only scopes that the operator allows.
    pub(super) limit: Option<&'w [String]>,
    /// Scopes instead of those that the server asks for.
    pub(super) only: &'w [String],
    /// Scopes in addition.
    pub(super) more: &'w [String],
}

impl ScopeChoice<'_> {
    fn is_allowed(&self, scope: &str) -> bool {
        self.limit
            .is_none_or(|limit| limit.iter().any(|it| it == scope))
    }

    /// Returns the scopes: the user's, or else those that `known` or the metadata names, within the limit.
    ///
    /// # Errors
    ///
    /// When the limit lacks one that the user names.
    pub(super) fn of(
        &self,
        known: Option<Vec<String>>,
        resource: &Resource,
        issuer: &Issuer,
    ) -> Result<Vec<String>, String> {
        let mut named = self.only.iter().chain(self.more);
        if let Some(scope) = named.find(|it| !self.is_allowed(it)) {
            return Err(format!(
                "`oauth.scopes` of `{}` in `servers.local.yaml` lacks `{scope}`",
                self.id
            ));
        }
        if !self.only.is_empty() {
            return Ok(self.only.to_vec());
        }
        let mut scopes = known
            .or_else(|| resource.scopes.clone())
            .unwrap_or_default();
        scopes.retain(|it| !it.is_empty() && self.is_allowed(it));
        for scope in self.more {
            if !scopes.contains(scope) {
                scopes.push(scope.clone());
            }
        }
        // Without any scope, the authorization server chooses.
        let offers_refresh = issuer.scopes.iter().flatten().any(|it| it == OFFLINE);
        let has_it = scopes.iter().any(|it| it == OFFLINE);
        if offers_refresh && !has_it && !scopes.is_empty() && self.is_allowed(OFFLINE) {
            scopes.push(OFFLINE.to_owned());
        }
        Ok(scopes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::metadata::{Issuer, Resource};
    use super::ScopeChoice;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// The scopes of a server that supports `a b`, with an issuer that supports `offers`.
    fn asked(
        limit: Option<&str>,
        only: &str,
        more: &str,
        known: Option<&str>,
        offers: &str,
    ) -> String {
        let limit = limit.map(words);
        let choice = ScopeChoice {
            id: "x",
            limit: limit.as_deref(),
            only: &words(only),
            more: &words(more),
        };
        let resource = Resource {
            identifier: String::new(),
            issuers: Vec::new(),
            scopes: Some(words("a b")),
        };
        let issuer = Issuer {
            identifier: String::new(),
            authorization: String::new(),
            token: String::new(),
            registration: None,
            scopes: Some(words(offers)),
            authentications: None,
            names_itself: false,
            takes_client_urls: false,
        };
        match choice.of(known.map(words), &resource, &issuer) {
            Ok(scopes) => scopes.join(" "),
            Err(message) => message,
        }
    }

    #[test]
    fn scopes_are_those_of_the_user_the_challenge_or_the_metadata() {
        assert_eq!(asked(None, "", "", None, ""), "a b");
        assert_eq!(asked(None, "", "", Some("c"), ""), "c");
        assert_eq!(asked(None, "d", "", Some("c"), ""), "d");
        assert_eq!(asked(Some("a"), "", "", None, ""), "a");
        assert!(asked(Some("a"), "b", "", None, "").contains("lacks `b`"));
    }

    #[test]
    fn more_scopes_keep_the_earlier_ones() {
        assert_eq!(asked(None, "", "d c", Some("c"), ""), "c d");
        assert_eq!(asked(None, "", "d", None, ""), "a b d");
        assert!(asked(Some("c"), "", "d", Some("c"), "").contains("lacks `d`"));
    }

    #[test]
    fn a_refresh_token_is_asked_for_where_it_has_a_scope() {
        let offline = "a offline_access";
        assert_eq!(asked(None, "", "", Some("c"), offline), "c offline_access");
        assert_eq!(
            asked(None, "", "", Some("offline_access"), offline),
            "offline_access"
        );
        assert_eq!(asked(None, "", "", Some(""), offline), "");
        assert_eq!(asked(None, "c", "", None, offline), "c");
        assert_eq!(asked(Some("a"), "", "", None, offline), "a");
        assert_eq!(asked(None, "", "", Some("c"), "a"), "c");
    }
}
