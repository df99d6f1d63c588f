//! Command lines: POSIX words, and commands joined by `&&`.

use super::failure::{ErrorCode, Failure};
use super::limits::{COMMAND_MAX_BYTES, COMMAND_WORDS_MAX, COMMANDS_MAX};
use std::iter::Peekable;
use std::str::Chars;

/// The words that a shell reads as its own syntax at the beginning of a command.
const RESERVED: [&str; 17] = [
    "!", "{", "}", "case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "in", "then", "until", "while",
];

/// Splits a command line into commands of words, of which each has at least one.
///
/// Quotes and backslashes have the meaning of POSIX. Other syntax of a shell is refused rather than passed on as
/// text, except for brackets: extras of Python packages have them, and a shell keeps those that match no file.
///
/// # Errors
/// `E_PLAN`: the line has other shell syntax, an open quote or a command without words, or is too long. The
/// message names the character, counted from 1.
pub(crate) fn commands(line: &str) -> Result<Vec<Vec<String>>, Failure> {
    if line.len() > COMMAND_MAX_BYTES {
        let message = format!(
            "the command has {} bytes; at most {COMMAND_MAX_BYTES} are allowed",
            line.len()
        );
        return Err(Failure::new(ErrorCode::Plan, message).hint("move the work into a file"));
    }
    let mut scanner = Scanner {
        chars: line.chars().peekable(),
        at: 0,
    };
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut count = 0;
    while let Some(token) = scanner.token()? {
        match token {
            Token::Word(word) => {
                count += 1;
                words.push(word);
            }
            Token::And if words.is_empty() => {
                return Err(scanner.refuse("`&&` has no command before it", "write a command"));
            }
            Token::And => commands.push(std::mem::take(&mut words)),
        }
        if count > COMMAND_WORDS_MAX || commands.len() >= COMMANDS_MAX {
            let message = format!(
                "the command has more than {COMMAND_WORDS_MAX} words or {COMMANDS_MAX} parts"
            );
            let hint = "move the work into a file";
            return Err(Failure::new(ErrorCode::Plan, message).hint(hint));
        }
    }
    if words.is_empty() {
        let message = match commands.is_empty() {
            true => "the command has no word",
            false => "`&&` has no command after it",
        };
        return Err(Failure::new(ErrorCode::Plan, message).hint("write a command"));
    }
    commands.push(words);
    for command in &commands {
        check_first(&command[0])?;
    }
    Ok(commands)
}

/// Refuses a first word that a shell would not take for a program.
fn check_first(word: &str) -> Result<(), Failure> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || it == b'_')
    };
    if RESERVED.contains(&word) {
        let message = format!("the command begins with `{word}`, which is shell syntax");
        let hint = "name a program, or move the work into a file";
        return Err(Failure::new(ErrorCode::Plan, message).hint(hint));
    }
    if word.is_empty() {
        let message = "the command begins with an empty word";
        return Err(Failure::new(ErrorCode::Plan, message).hint("name a program"));
    }
    if word.split_once('=').is_some_and(|(name, _)| is_name(name)) {
        let message = "the command begins with an assignment, which is shell syntax";
        let hint = "set the variable in `env` of `run.start`";
        return Err(Failure::new(ErrorCode::Plan, message).hint(hint));
    }
    Ok(())
}

enum Token {
    Word(String),
    And,
}

struct Scanner<'l> {
    chars: Peekable<Chars<'l>>,
    /// The number of characters read.
    at: usize,
}

impl Scanner<'_> {
    fn next(&mut self) -> Option<char> {
        let next = self.chars.next();
        self.at += usize::from(next.is_some());
        next
    }

    /// Returns a failure about the character that was read last.
    fn refuse(&self, message: &str, hint: &str) -> Failure {
        let message = format!("character {} of the command: {message}", self.at);
        Failure::new(ErrorCode::Plan, message).hint(hint)
    }

    fn shell_syntax(&self, c: char) -> Failure {
        let (shown, hint) = match c {
            '\n' => ("a line end".to_owned(), "join commands by `&&`"),
            '\r' => ("U+000D".to_owned(), "join commands by `&&`"),
            ';' | '|' | '&' => (
                format!("`{c}`"),
                "join commands by `&&`, or quote the character",
            ),
            '<' | '>' => (
                format!("`{c}`"),
                "let the program read and write its files itself",
            ),
            '$' | '`' => (
                format!("`{c}`"),
                "write the value itself, or let the program read its environment",
            ),
            c if c.is_control() => (format!("U+{:04X}", u32::from(c)), "remove the character"),
            _ => (format!("`{c}`"), "quote the character"),
        };
        self.refuse(
            &format!("{shown} is shell syntax other than words and `&&`"),
            hint,
        )
    }

    fn token(&mut self) -> Result<Option<Token>, Failure> {
        while self.chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {
            self.at += 1;
        }
        if self.chars.peek() == Some(&'&') {
            self.next();
            return match self.chars.peek() {
                Some('&') => {
                    self.next();
                    Ok(Some(Token::And))
                }
                _ => Err(self.shell_syntax('&')),
            };
        }
        let mut word = None;
        let mut is_continued = false;
        while let Some(c) = self.chars.peek().copied() {
            if matches!(c, ' ' | '\t' | '&') {
                break;
            }
            self.next();
            // A line goes on in the next one.
            if c == '\\' && self.chars.next_if_eq(&'\n').is_some() {
                self.at += 1;
                is_continued = true;
                continue;
            }
            let word = word.get_or_insert_with(String::new);
            match c {
                '\'' => self.single_quoted(word)?,
                '"' => self.double_quoted(word)?,
                '\\' => match self.next() {
                    Some(c) if c.is_control() => return Err(self.shell_syntax(c)),
                    Some(c) => word.push(c),
                    None => return Err(self.refuse("a backslash escapes nothing", "remove it")),
                },
                '|' | ';' | '<' | '>' | '$' | '`' | '(' | ')' | '*' | '?' | '~' | '#' => {
                    return Err(self.shell_syntax(c));
                }
                c if c.is_control() => return Err(self.shell_syntax(c)),
                c => word.push(c),
            }
        }
        match word {
            // Nothing but the end of a line was read.
            None if is_continued => self.token(),
            word => Ok(word.map(Token::Word)),
        }
    }

    fn single_quoted(&mut self, word: &mut String) -> Result<(), Failure> {
        let opened = self.at;
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some('\0') => return Err(self.shell_syntax('\0')),
                Some(c) => word.push(c),
                None => return Err(self.unclosed(opened)),
            }
        }
    }

    fn double_quoted(&mut self, word: &mut String) -> Result<(), Failure> {
        let opened = self.at;
        loop {
            match self.next() {
                Some('"') => return Ok(()),
                Some(c @ ('$' | '`' | '\0')) => return Err(self.shell_syntax(c)),
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => word.push(c),
                    Some('\0') => return Err(self.shell_syntax('\0')),
                    Some(c) => word.extend(['\\', c]),
                    None => return Err(self.unclosed(opened)),
                },
                Some(c) => word.push(c),
                None => return Err(self.unclosed(opened)),
            }
        }
    }

    fn unclosed(&self, opened: usize) -> Failure {
        let message = format!("character {opened} of the command: the quote is not closed");
        Failure::new(ErrorCode::Plan, message).hint("close the quote")
    }
}

#[cfg(test)]
mod tests {
    use super::commands;
    use crate::limits::{COMMAND_MAX_BYTES, COMMAND_WORDS_MAX, COMMANDS_MAX};
    use proptest::prelude::*;

    #[test]
    fn words_are_those_of_posix() {
        for (line, expected) in [
            ("python app.py", "python|app.py"),
            ("  a \t b  ", "a|b"),
            ("a&&b && c", "a / b / c"),
            ("a 'b c' d", "a|b c|d"),
            (r#"a "b c" 'd'"e"f"#, "a|b c|def"),
            (r#"a "\$\`\"\\\n""#, r#"a|$`"\\n"#),
            (r"a b\ c \& \| \$", "a|b c|&|||$"),
            (r"a '\'", r"a|\"),
            ("a '' \"\"", "a||"),
            ("a 'x\ny'", "a|x\ny"),
            ("a \\\nb", "a|b"),
            ("a \\\n b", "a|b"),
            ("pip install x[y]", "pip|install|x[y]"),
            ("a x\\\ny", "a|xy"),
            ("a '$HOME' '&&' ';'", "a|$HOME|&&|;"),
            ("a --x=y {b,c} a@b %c ^d !e", "a|--x=y|{b,c}|a@b|%c|^d|!e"),
            ("'$a' b", "$a|b"),
            ("a \u{e4}", "a|\u{e4}"),
        ] {
            let found = commands(line).unwrap_or_else(|it| panic!("{line}: {}", it.message));
            let found: Vec<_> = found.iter().map(|words| words.join("|")).collect();
            assert_eq!(found.join(" / "), expected, "{line}");
        }
    }

    #[test]
    fn other_shell_syntax_is_refused_at_its_place() {
        for (line, message) in [
            ("a | b", "character 3 of the command: `|`"),
            ("a ; b", "character 3 of the command: `;`"),
            ("a; b", "character 2 of the command: `;`"),
            ("a & b", "character 3 of the command: `&`"),
            ("a &", "character 3 of the command: `&`"),
            ("a &&& b", "character 5 of the command: `&`"),
            ("a || b", "character 3 of the command: `|`"),
            ("a > b", "character 3 of the command: `>`"),
            ("a 2>&1", "character 4 of the command: `>`"),
            ("a < b", "character 3 of the command: `<`"),
            ("a $B", "character 3 of the command: `$`"),
            ("a \"$B\"", "character 4 of the command: `$`"),
            ("a `b`", "character 3 of the command: ```"),
            ("a \"`b`\"", "character 4 of the command: ```"),
            ("a $(b)", "character 3 of the command: `$`"),
            ("(a)", "character 1 of the command: `(`"),
            ("a b)", "character 4 of the command: `)`"),
            ("a *.py", "character 3 of the command: `*`"),
            ("a ?", "character 3 of the command: `?`"),
            ("a ~/b", "character 3 of the command: `~`"),
            ("a # b", "character 3 of the command: `#`"),
            ("a\nb", "character 2 of the command: a line end"),
            ("a\rb", "character 2 of the command: U+000D"),
            ("a\0b", "character 2 of the command: U+0000"),
            ("a '\0'", "character 4 of the command: U+0000"),
            (
                "a 'b",
                "character 3 of the command: the quote is not closed",
            ),
            (
                "a \"b",
                "character 3 of the command: the quote is not closed",
            ),
            (
                "a \"b\\",
                "character 3 of the command: the quote is not closed",
            ),
            (
                "a \\",
                "character 3 of the command: a backslash escapes nothing",
            ),
            ("", "the command has no word"),
            (" ", "the command has no word"),
            (
                "&& a",
                "character 2 of the command: `&&` has no command before it",
            ),
            (
                "a && && b",
                "character 7 of the command: `&&` has no command before it",
            ),
            ("a &&", "`&&` has no command after it"),
            ("if a", "the command begins with `if`"),
            ("a && while b", "the command begins with `while`"),
            ("{ a", "the command begins with `{`"),
            ("! a", "the command begins with `!`"),
            ("A=b c", "the command begins with an assignment"),
            ("'' a", "the command begins with an empty word"),
        ] {
            let failure = commands(line).expect_err(line);
            assert!(
                failure.message.starts_with(message),
                "{line}: {}",
                failure.message
            );
            assert_eq!(failure.hints.len(), 1, "{line}");
        }
    }

    #[test]
    fn command_lines_have_limits() {
        let words = |count: usize| vec!["a"; count].join(" ");
        assert!(commands(&words(COMMAND_WORDS_MAX)).is_ok());
        assert!(commands(&words(COMMAND_WORDS_MAX + 1)).is_err());
        let parts = |count: usize| vec!["a"; count].join("&&");
        assert!(commands(&parts(COMMANDS_MAX)).is_ok());
        assert!(commands(&parts(COMMANDS_MAX + 1)).is_err());
        assert!(commands(&"a".repeat(COMMAND_MAX_BYTES)).is_ok());
        assert!(commands(&"a".repeat(COMMAND_MAX_BYTES + 1)).is_err());
    }

    proptest! {
        #[test]
        fn quoted_words_come_back(words in prop::collection::vec("[^\0']{0,8}", 1..6)) {
            let quoted: Vec<_> = words.iter().map(|it| format!("'{it}'")).collect();
            let line = format!("x {}", quoted.join(" "));
            let found = commands(&line).expect("quoted words");
            prop_assert_eq!(&found[0][1..], &words[..]);
        }

        #[test]
        fn no_line_panics(line in r#"([a-z &'"\\$;|\n]|\PC){0,40}"#) {
            if let Ok(commands) = commands(&line) {
                prop_assert!(commands.iter().all(|it| !it.is_empty()));
            }
        }
    }
}
