//! Names that commands had in earlier releases, which are still understood for one release.

use std::ffi::{OsStr, OsString};

/// The old words of each command, and the present ones.
const OLD: [(&[&str], &[&str]); 7] = [
    (&["audit", "verify"], &["audit"]),
    (&["explain-run"], &["evidence", "explain"]),
    (&["handler", "check"], &["check-handler"]),
    // The name in the third specification.
    (&["open-evidence"], &["evidence", "open"]),
    (&["runner", "test"], &["test-runner"]),
    (&["sandbox", "check"], &["sandbox"]),
    (&["servers", "install"], &["install"]),
];

/// The global options with a value, which may stand before a command.
const WITH_VALUE: [&str; 3] = ["--color", "--directory", "--engine"];

/// Returns a command line with the present name of its command.
pub(crate) fn renamed(mut line: Vec<OsString>) -> Vec<OsString> {
    let mut at = 1;
    while let Some(word) = line.get(at) {
        if WITH_VALUE.iter().any(|it| word == it) {
            at += 2;
        } else if word.as_encoded_bytes().starts_with(b"-") {
            at += 1;
        } else {
            break;
        }
    }
    let typed = line.get(at..).unwrap_or_default();
    let old = OLD.iter().find(|(old, _)| {
        let words = typed.iter().take(old.len());
        words.eq(old.iter().map(OsStr::new))
    });
    if let Some((old, new)) = old {
        line.splice(at..at + old.len(), new.iter().map(OsString::from));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{OLD, WITH_VALUE, renamed};
    use crate::args::Arguments;
    use clap::CommandFactory as _;

    fn of(line: &str) -> String {
        let words = line.split(' ').map(Into::into).collect();
        let words = renamed(words).into_iter();
        words
            .map(|it| it.into_string().unwrap())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn an_old_name_becomes_the_present_one() {
        assert_eq!(of("agent audit verify a.jsonl"), "agent audit a.jsonl");
        assert_eq!(
            of("agent -q --color never explain-run verify"),
            "agent -q --color never evidence explain verify"
        );
        for line in [
            "agent",
            "agent verify explain-run",
            "agent policy check sandbox check",
            "agent --engine sandbox check",
            "agent index add a -- runner test",
        ] {
            assert_eq!(of(line), line);
        }
    }

    #[test]
    fn the_names_are_those_of_commands() {
        let mut program = Arguments::command();
        program.build();
        for (_, new) in OLD {
            let command = new
                .iter()
                .try_fold(&program, |it, name| it.find_subcommand(name));
            assert!(command.is_some(), "{new:?}");
        }
        let options = program.get_arguments().filter(|it| it.is_global_set());
        let mut with_value: Vec<_> = options
            .filter(|it| it.get_action().takes_values())
            .map(|it| format!("--{}", it.get_long().unwrap()))
            .collect();
        with_value.sort();
        assert_eq!(with_value, WITH_VALUE);
    }
}
