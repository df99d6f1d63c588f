//! The pages about codes: what a code means, what triggers it and what resolves it.
//!
//! They are those of the book, in the Markdown that it uses.

use crate::browser;
use crate::problems::prose;
use crate::state::Dialog;
use agent_answer::Code;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// The folder of the pages on the web.
const PAGES: &str = "https://github.com/agent-engine/agent/blob/main/docs/reference/codes";

/// Returns the address of the page about a code.
pub(crate) fn address(code: Code) -> String {
    format!("{PAGES}/{}.md", code.page())
}

/// Returns the dialog with the page about a code.
pub(crate) fn page_of(code: Code) -> Dialog {
    Dialog {
        title: code.name(),
        body: html! { <CodePage {code} /> },
    }
}

#[derive(Properties, PartialEq)]
struct CodePageProps {
    code: Code,
}

/// The page about a code.
#[component]
fn CodePage(props: &CodePageProps) -> Html {
    let code = props.code;
    let page = use_state(|| None);
    {
        let page = page.setter();
        use_effect_with(code, move |code| {
            let code = *code;
            spawn_local(async move { page.set(Some(browser::code_page(&code.page()).await)) });
        });
    }
    match &*page {
        None => html! { <p class="quiet">{ "…" }</p> },
        Some(Some(text)) => html! { <div class="code-page">{ for blocks(text).map(shown) }</div> },
        Some(None) => html! {
            <p role="alert">
                { "The page can't be loaded now. It is also " }
                <a href={address(code)} target="_blank" rel="noreferrer">{ "on the web" }</a>
                { "." }
            </p>
        },
    }
}

/// A block of a page.
#[derive(Debug, PartialEq, Eq)]
enum Block {
    Heading(String),
    Paragraph(String),
    Item(String),
    Code(String),
}

/// Returns the blocks of a page after its title.
fn blocks(page: &str) -> impl Iterator<Item = Block> {
    let mut blocks = Vec::new();
    let mut fenced = false;
    // Whether the next line goes on with the last block.
    let mut open = false;
    for line in page.lines().skip(1) {
        let fence = line.starts_with("```");
        if fence || (line.is_empty() && !fenced) {
            fenced ^= fence;
            open = false;
            continue;
        }
        let (text, block): (_, fn(String) -> Block) = match line {
            _ if fenced => (line, Block::Code),
            _ if line.starts_with("    ") => (&line[4..], Block::Code),
            _ if line.starts_with('|') => (line, Block::Code),
            _ if line.starts_with("## ") => (&line[3..], Block::Heading),
            _ if line.starts_with("- ") => {
                open = false;
                (&line[2..], Block::Item)
            }
            _ => (line.trim_start(), Block::Paragraph),
        };
        match blocks.last_mut() {
            Some(Block::Code(code)) if open && matches!(block(String::new()), Block::Code(_)) => {
                *code += "\n";
                *code += text;
            }
            Some(Block::Paragraph(before) | Block::Item(before)) if open => {
                *before += " ";
                *before += text;
            }
            _ => blocks.push(block(text.to_owned())),
        }
        open = true;
    }
    blocks.into_iter()
}

fn shown(block: Block) -> Html {
    match block {
        Block::Heading(text) => html! { <h3>{ prose(&text) }</h3> },
        Block::Paragraph(text) => html! { <p>{ prose(&without_links(&text)) }</p> },
        Block::Item(text) => html! { <p class="item">{ prose(&without_links(&text)) }</p> },
        Block::Code(text) => html! { <pre>{ text }</pre> },
    }
}

/// Returns a text with the words of its links only: they lead to other pages of the book.
fn without_links(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some((before, from)) = rest.split_once('[') {
        out += before;
        let Some((words, behind)) = from.split_once("](") else {
            out += "[";
            rest = from;
            continue;
        };
        let Some((_, after)) = behind.split_once(')').filter(|_| !words.contains(']')) else {
            out += "[";
            rest = from;
            continue;
        };
        out += words;
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::{Block, blocks, without_links};

    #[test]
    fn a_page_has_headings_paragraphs_items_and_code() {
        let page = "# CODE\n\nOne\nline.\n\n## When\n\n- first\n  goes on\n- second\n\n    a\n    b\n\n```json\n{\n\n}\n```\nEnd.\n";
        let expected = [
            Block::Paragraph("One line.".to_owned()),
            Block::Heading("When".to_owned()),
            Block::Item("first goes on".to_owned()),
            Block::Item("second".to_owned()),
            Block::Code("a\nb".to_owned()),
            Block::Code("{\n\n}".to_owned()),
            Block::Paragraph("End.".to_owned()),
        ];
        assert_eq!(blocks(page).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn links_are_their_words() {
        for (text, expected) in [
            (
                "see [the lock](../lock.md), and [0, 2.1]",
                "see the lock, and [0, 2.1]",
            ),
            ("a [b] [c](d) e [f", "a [b] c e [f"),
            ("none", "none"),
        ] {
            assert_eq!(without_links(text), expected);
        }
    }
}
