//! Links that hold all inputs.
//!
//! `#1.` and the compressed state: what stands behind `#` is not sent to any server.

use crate::examples::HELLO;
use crate::files::copy_text;
use crate::inputs::{INPUTS, Texts};
use crate::page::{Page, use_page};
use crate::secrets;
use crate::state::Action;
use agent_ui::browser;
use agent_ui::editor::file_name;
use agent_ui::notice::Notice;
use serde::{Deserialize, Serialize};
use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlInputElement;
use yew::prelude::*;

/// The form of links that is written, and the only one that is read.
const FORM: &str = "1.";

/// The longest link that is made, in characters. Chats and trackers cut off longer ones.
const LINK_LIMIT: usize = 32_000;

/// The largest state that a link may hold, in bytes before compression.
const STATE_LIMIT: u32 = 8 << 20;

/// What a link holds.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Shared {
    /// The version of the engine that made it.
    engine: String,
    #[serde(flatten)]
    texts: Texts,
}

/// What the address holds behind `#`.
async fn unpack(fragment: &str) -> Result<Shared, String> {
    let packed = fragment
        .strip_prefix(FORM)
        .ok_or("it is of a form that this page does not know")?;
    let state = browser::decompress(packed, STATE_LIMIT).await?;
    serde_json::from_str(&state).map_err(|error| error.to_string())
}

/// The version of the engine that this page was built with.
const ENGINE: &str = env!("CARGO_PKG_VERSION");

/// Fills the editors at the beginning: from the link, from the last visit, or with the first
/// example.
pub(crate) fn open(page: Page) {
    let location = web_sys::window().map(|window| window.location());
    let hash = location.and_then(|location| location.hash().ok());
    let fragment = hash.unwrap_or_default();
    let fragment = fragment.trim_start_matches('#').to_owned();
    if fragment.is_empty() {
        Texts::kept().unwrap_or_else(|| HELLO.texts()).put(&page);
        return;
    }
    spawn_local(async move {
        match unpack(&fragment).await {
            Ok(shared) => {
                shared.texts.put(&page);
                page.dispatch(if shared.engine == ENGINE {
                    Notice::done("Opened what the link holds")
                } else {
                    Notice::alarm(format!(
                        "The link was made with engine {}, and this is {ENGINE}: the answer may differ",
                        shared.engine
                    ))
                });
                forget_fragment();
            }
            Err(reason) => {
                Texts::kept().unwrap_or_else(|| HELLO.texts()).put(&page);
                page.dispatch(Notice::alarm(format!("The link can't be opened: {reason}")));
            }
        }
    });
}

/// Takes the state out of the address: what is edited from now on is not what it holds.
fn forget_fragment() {
    let Some(window) = web_sys::window() else {
        return;
    };
    let path = window.location().pathname().unwrap_or_default();
    if let Ok(history) = window.history() {
        // Cosmetic: without it the next load opens the link again.
        let _ = history.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&path));
    }
}

/// A link to this page that holds the texts, or why there is none.
async fn link(texts: Texts) -> Result<String, String> {
    let shared = Shared {
        engine: ENGINE.to_owned(),
        texts,
    };
    let state = serde_json::to_string(&shared).map_err(|error| error.to_string())?;
    let packed = browser::compress(&state).await?;
    let location = web_sys::window().map(|window| window.location());
    let page =
        location.and_then(|location| Some(location.origin().ok()? + &location.pathname().ok()?));
    let link = format!("{}#{FORM}{packed}", page.unwrap_or_default());
    if link.len() > LINK_LIMIT {
        return Err(format!(
            "the link would have {} characters, and at most {LINK_LIMIT} get through everywhere: \
             send the files instead",
            link.len()
        ));
    }
    Ok(link)
}

/// The dialog.
#[component]
pub(crate) fn Share() -> Html {
    let page = use_page();
    let made = use_state(|| None);
    let warnings = use_memo((), |()| {
        let texts = Texts::of(&page);
        let found = |source, text: &str| {
            let found = secrets::find(text).into_iter();
            found
                .map(|secret| {
                    let file = file_name(source);
                    format!("{file}, line {}: looks like {}", secret.line, secret.kind)
                })
                .collect::<Vec<_>>()
        };
        INPUTS
            .iter()
            .flat_map(|source| found(*source, texts.get(*source)))
            .collect::<Vec<_>>()
    });
    {
        let (made, texts) = (made.clone(), Texts::of(&page));
        use_effect_with((), move |()| {
            spawn_local(async move { made.set(Some(link(texts).await)) });
        });
    }
    let result = match &*made {
        None => html! { <p class="quiet">{ "…" }</p> },
        Some(Err(reason)) => {
            html! { <p class="alarming" role="alert">{ format!("There is no link: {reason}.") }</p> }
        }
        Some(Ok(link)) => {
            let copy = {
                let (page, link) = (page.clone(), link.clone());
                Callback::from(move |_: MouseEvent| {
                    page.dispatch(Action::CloseDialog);
                    copy_text(page.clone(), "the link", link.clone());
                })
            };
            let select = Callback::from(|event: FocusEvent| {
                if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
                    input.select();
                }
            });
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
                { "The link holds the inputs themselves. Nothing is stored anywhere; whoever has the \
                   link has the inputs." }
            </p>
            if !warnings.is_empty() {
                <div class="alarming" role="alert">
                    <p>{ "Look again before you share it:" }</p>
                    <ul>{ for warnings.iter().map(|warning| html! { <li>{ warning }</li> }) }</ul>
                </div>
            }
            { result }
        </>
    }
}

#[cfg(test)]
mod tests {
    use super::{Shared, Texts};

    fn shared(engine: &str, lock: &str) -> Shared {
        Shared {
            engine: engine.to_owned(),
            texts: Texts {
                manifest: "---\nname: \"𝄞\"\n---\n".to_owned(),
                index: "[]\u{0}</script>".to_owned(),
                lock: lock.to_owned(),
                ..Texts::default()
            },
        }
    }

    /// Links that were made live on: what they hold must be read by every later version.
    #[test]
    fn the_form_of_links() {
        let json = r#"{"engine":"0.1.0","manifest":"---\nname: \"𝄞\"\n---\n","index":"[]\u0000</script>","lock":"{}"}"#;
        let state = shared("0.1.0", "{}");
        assert_eq!(serde_json::to_string(&state).unwrap(), json);
        assert_eq!(serde_json::from_str::<Shared>(json).unwrap(), state);
    }

    #[test]
    fn a_link_of_another_version_is_read_and_names_it() {
        let json = serde_json::to_string(&shared("99.0.0-beta.1", "")).unwrap();
        // What a later version adds is passed over.
        let json = json.replacen('{', r#"{"plan":{"id":1},"#, 1);
        let read: Shared = serde_json::from_str(&json).unwrap();
        assert_eq!(read, shared("99.0.0-beta.1", ""));
    }

    #[test]
    fn a_link_without_a_lock_has_none() {
        let json = r#"{"engine":"0.1.0","manifest":"a","index":"b"}"#;
        let read: Shared = serde_json::from_str(json).unwrap();
        assert_eq!(read.texts.lock, "");
        assert_eq!((&*read.texts.manifest, &*read.texts.index), ("a", "b"));
    }

    #[test]
    fn what_is_no_state_is_refused() {
        for json in [
            "",
            "null",
            "[]",
            "{}",
            r#"{"engine":"0.1.0","manifest":"a"}"#,
            r#"{"manifest":"a","index":"b"}"#,
            r#"{"engine":"0.1.0","manifest":1,"index":"b"}"#,
            r#"{"engine":"0.1.0","manifest":"a","index":"b"} and more"#,
        ] {
            assert!(serde_json::from_str::<Shared>(json).is_err(), "{json}");
        }
    }
}
