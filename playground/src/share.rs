//! Links that hold all inputs.
//!
//! A link ends in `#1.` and the compressed inputs. Browsers send nothing behind `#` to a server.

use crate::inputs::{KEPT, Texts};
use crate::secrets;
use crate::state::{Page, Servers};
use agent_ui::answer::ENGINE;
use agent_ui::browser;
use agent_ui::content::Documents as _;
use agent_ui::notice::Notice;
use agent_ui::page::use_page;
use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlInputElement;
use yew::prelude::*;

/// The only form of links.
const FORM: &str = "1.";

/// Maximum length of a link, in characters. Chats and trackers cut longer ones.
const LINK_LIMIT: usize = 32_000;

/// Maximum size of the inputs in a link, in bytes before compression.
const STATE_LIMIT: u32 = 8 << 20;

/// The name of the engine's version in a link.
const ENGINE_NAME: &str = "engine";

/// Loads the inputs of the link, or of the last visit, or of the first example.
pub(crate) fn open(page: &Page) {
    let fragment = browser::hash().trim_start_matches('#').to_owned();
    if fragment.is_empty() {
        return open_kept(page);
    }
    let page = page.clone();
    spawn_local(async move {
        let json = match fragment.strip_prefix(FORM) {
            Some(packed) => browser::decompress(packed, STATE_LIMIT).await,
            None => Err("its format is unknown".to_owned()),
        };
        match json.and_then(|json| read(&json)) {
            Ok(texts) => {
                texts.load(&page);
                let engine = texts.field(ENGINE_NAME);
                page.notify(if engine == ENGINE {
                    Notice::done("Opened the link")
                } else {
                    Notice::alarm(format!(
                        "Engine {engine} made the link, and this is {ENGINE}: the answer may differ"
                    ))
                });
                // The address does not follow later edits.
                browser::forget_hash();
            }
            Err(reason) => {
                open_kept(&page);
                page.notify(Notice::alarm(format!("The link can't be opened: {reason}")));
            }
        }
    });
}

/// Reads the inputs of a link.
fn read(json: &str) -> Result<Texts, String> {
    let texts = Texts::read(json)?;
    let named = !texts.field(ENGINE_NAME).is_empty();
    named
        .then_some(texts)
        .ok_or_else(|| "it names no engine".to_owned())
}

fn open_kept(page: &Page) {
    match browser::load(KEPT).and_then(|json| Texts::read(&json).ok()) {
        Some(texts) => texts.load(page),
        None => page.load(Servers::kinds(), Servers::first_text),
    }
}

/// Returns a link to this page that holds the texts, or the reason why it has none.
async fn link(mut texts: Texts) -> Result<String, String> {
    texts.0.insert(ENGINE_NAME.to_owned(), ENGINE.into());
    let packed = browser::compress(&texts.to_json()).await?;
    let link = format!("{}#{FORM}{packed}", browser::address());
    if link.len() > LINK_LIMIT {
        return Err(format!(
            "the link would have {} characters, and many programs cut links after {LINK_LIMIT}; \
             send the files instead",
            link.len()
        ));
    }
    Ok(link)
}

/// Returns warnings about texts that look like secrets.
fn warnings(texts: &Texts) -> Vec<String> {
    let in_document = |kind| {
        let found = secrets::find(texts.get(kind)).into_iter();
        found.map(move |(line, secret)| {
            format!("{}, line {line}: looks like {secret}", kind.usual_name())
        })
    };
    Servers::kinds().flat_map(in_document).collect()
}

/// The content of the dialog.
#[component]
pub(crate) fn Share() -> Html {
    let page = use_page::<Servers>();
    let made = use_state(|| None);
    let texts = use_memo((), |()| Texts::of(&page));
    let warnings = use_memo((), |()| warnings(&texts));
    {
        let made = made.setter();
        use_effect_with((), move |()| {
            spawn_local(async move { made.set(Some(link((*texts).clone()).await)) });
        });
    }
    let result = match &*made {
        None => html! { <p class="quiet">{ "…" }</p> },
        Some(Err(reason)) => {
            html! { <p class="alarming" role="alert">{ format!("There is no link: {reason}.") }</p> }
        }
        Some(Ok(link)) => {
            let copied = link.clone();
            let copy = page.callback(move |page, _| {
                page.update(|state| state.dialog = None);
                page.copy("the link", copied.clone());
            });
            let select = |event: FocusEvent| {
                if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
                    input.select();
                }
            };
            html! {
                <div class="link">
                    <input readonly=true value={link.clone()} aria-label="Link" onfocus={select} />
                    <button onclick={copy}>{ "Copy" }</button>
                </div>
            }
        }
    };
    html! {
        <>
            <p>
                { "The link holds the inputs themselves. No server stores them; everyone who has the \
                   link has the inputs." }
            </p>
            if !warnings.is_empty() {
                <div class="alarming" role="alert">
                    <p>{ "Check these lines before you share them:" }</p>
                    <ul>{ for warnings.iter().map(|warning| html! { <li>{ warning }</li> }) }</ul>
                </div>
            }
            { result }
        </>
    }
}

#[cfg(test)]
mod tests {
    use super::{ENGINE_NAME, read};
    use agent_answer::DocumentKind;

    /// Links stay in use: every later version must read them.
    #[test]
    fn the_form_of_links() {
        let json = r#"{"engine":"0.1.0","manifest":"---\nname: \"𝄞\"\n---\n","index":"[]\u0000</script>","lock":"{}"}"#;
        let texts = read(json).unwrap();
        assert_eq!(texts.field(ENGINE_NAME), "0.1.0");
        for (kind, text) in [
            (DocumentKind::Manifest, "---\nname: \"𝄞\"\n---\n"),
            (DocumentKind::Index, "[]\u{0}</script>"),
            (DocumentKind::Lock, "{}"),
        ] {
            assert_eq!(texts.get(kind), text);
        }
        assert_eq!(read(&texts.to_json()), Ok(texts));
    }

    #[test]
    fn a_link_of_another_version_is_read_and_names_it() {
        // Additions of a later version are ignored.
        let json = r#"{"plan":{"id":1},"engine":"99.0.0-beta.1","manifest":"a","index":"b"}"#;
        assert_eq!(read(json).unwrap().field(ENGINE_NAME), "99.0.0-beta.1");
    }

    #[test]
    fn a_link_without_a_lock_has_none() {
        let json = r#"{"engine":"0.1.0","manifest":"a","index":"b"}"#;
        let texts = read(json).unwrap();
        assert_eq!(texts.get(DocumentKind::Lock), "");
        assert_eq!(texts.get(DocumentKind::Manifest), "a");
        assert_eq!(texts.get(DocumentKind::Index), "b");
    }

    #[test]
    fn invalid_states_are_refused() {
        for (json, reason) in [
            ("", "EOF"),
            ("null", "invalid type: null"),
            ("[]", "invalid type: sequence"),
            ("{}", "`manifest` is not a text"),
            (r#"{"engine":"0.1.0","manifest":"a"}"#, "`index` is not"),
            (r#"{"manifest":"a","index":"b"}"#, "it names no engine"),
            (r#"{"engine":1,"manifest":"a","index":"b"}"#, "it names no"),
            (
                r#"{"engine":"0.1.0","manifest":1,"index":"b"}"#,
                "`manifest` is not a text",
            ),
            (
                r#"{"engine":"0.1.0","manifest":"a","index":"b","lock":{}}"#,
                "`lock` is not a text",
            ),
            (
                r#"{"engine":"0.1.0","manifest":"a","index":"b"} and more"#,
                "trailing characters",
            ),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.starts_with(reason), "{json}: {error}");
        }
    }
}
