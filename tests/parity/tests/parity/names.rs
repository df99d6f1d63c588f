//! The host has the names that the engine gives to values of the contract.

use agent_host::contract::{daemon, run};

#[test]
fn names_of_the_host_are_those_of_the_engine() {
    let host: Vec<_> = daemon::ErrorCode::ALL.iter().map(|it| it.name()).collect();
    assert_eq!(host, agent_verbs::ErrorCode::ALL.map(|it| it.name()));
    let host: Vec<_> = daemon::Language::ALL.iter().map(|it| it.name()).collect();
    assert_eq!(host, agent_verbs::Language::ALL.map(|it| it.name()));
    let host: Vec<_> = daemon::TaskState::ALL.iter().map(|it| it.name()).collect();
    assert_eq!(host, agent_verbs::TaskState::ALL.map(|it| it.name()));
    let host: Vec<_> = run::DriverKind::ALL.iter().map(|it| it.name()).collect();
    assert_eq!(host, agent_run::DriverKind::ALL.map(|it| it.name()));
    for kind in run::DriverKind::ALL {
        assert_eq!(run::DriverKind::named(kind.name()), Some(*kind));
    }
}
