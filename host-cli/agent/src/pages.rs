//! The documentation page of each code.

/// Returns the page of a code, as Markdown.
pub(crate) fn of(code: &str) -> Option<&'static str> {
    let page = PAGES.binary_search_by_key(&code, |(known, _)| known).ok()?;
    Some(PAGES[page].1)
}

/// The codes and their pages, ordered by code. The build script collects them.
const PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

#[cfg(test)]
mod tests {
    use super::PAGES;
    use agent_host::Engine;

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let mut engine = Engine::embedded().unwrap().instantiate().unwrap();
        let codes: Vec<_> = engine
            .catalogue()
            .unwrap()
            .iter()
            .map(|entry| entry.name.as_str())
            .collect();
        assert_eq!(
            PAGES.iter().map(|(code, _)| *code).collect::<Vec<_>>(),
            codes
        );
    }
}
