//! `mcp.index.json`: accepted with every server in its place, or refused with places; and never
//! accepted if the other reader refuses it as JSON.
#![no_main]

use agent_lower as lower;
use agent_render as render;
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeSet;

fuzz_target!(|bytes: &[u8]| {
    let Some(index) = agent_fuzz::checked(bytes, lower::index(bytes.to_vec())) else {
        return;
    };
    assert!(
        agent_fuzz::reference::compare(index.text().as_str()),
        "a text that is not strict JSON was accepted"
    );
    let mut names = BTreeSet::new();
    let mut before = None;
    for server in index.servers() {
        // Unique, and numbered in the order of tie-breaking.
        assert!(names.insert((server.id(), server.version())));
        let rank = (
            !server.constraint_key().signed(),
            server.id(),
            server.version(),
        );
        assert!(before < Some(rank));
        before = Some(rank);
        assert!(server.categories().is_sorted_by(|a, b| a < b));
        assert!(server.scopes().is_sorted_by(|a, b| a < b));
        assert_eq!(lower::integrity(server).len(), "sha256-".len() + 44);
    }
    let by_name: Vec<_> = index
        .by_name()
        .iter()
        .map(|rank| index.server(*rank))
        .collect();
    assert_eq!(by_name.len(), index.len());
    assert!(by_name.is_sorted_by_key(|server| (server.id(), server.version())));
    for (number, name) in (0..).zip(index.category_names()) {
        assert!(
            !index.with_category(number).ranks.is_empty(),
            "a category that no server has"
        );
        for rank in index.with_category(number).ranks {
            assert!(
                index
                    .server(*rank)
                    .categories()
                    .any(|category| category == name)
            );
        }
    }
    render::discover(&index);
    let json = render::discover_json(&index);
    serde_json::from_str::<serde_json::Value>(&json).expect("a view is JSON");
});
