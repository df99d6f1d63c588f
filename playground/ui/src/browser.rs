//! Functions of the browser.

use js_sys::{Array, Object, Promise, Reflect};
use wasm_bindgen::prelude::{Closure, JsCast as _, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Element, Event, EventTarget, HtmlElement};
use yew::prelude::{hook, use_effect_with};

#[wasm_bindgen(raw_module = "./browser.js")]
extern "C" {
    #[wasm_bindgen(js_name = compress)]
    fn js_compress(text: &str) -> Promise;
    #[wasm_bindgen(js_name = decompress)]
    fn js_decompress(packed: &str, limit: u32) -> Promise;
    #[wasm_bindgen(js_name = copy)]
    fn js_copy(text: &str) -> Promise;
    #[wasm_bindgen(js_name = codePage)]
    fn js_code_page(name: &str) -> Promise;
    #[wasm_bindgen(js_name = exampleFiles)]
    fn js_example_files(folder: &str) -> Promise;
    #[wasm_bindgen(js_name = readFiles)]
    fn js_read_files(files: &web_sys::FileList, limit: u32) -> Promise;

    /// Downloads those texts of an object that are not blank as one archive, by their names.
    #[wasm_bindgen(js_name = downloadAll)]
    pub(crate) fn download_all(name: &str, texts: &JsValue);
    /// Downloads a text as a file.
    pub fn download(name: &str, text: &str);
    /// Stores a value. Returns the reason if the browser does not.
    pub(crate) fn store(key: &str, value: &str) -> Option<String>;
    #[wasm_bindgen(js_name = storeLarge)]
    fn js_store_large(key: &str, texts: &JsValue) -> Promise;
    #[wasm_bindgen(js_name = loadLarge)]
    fn js_load_large(key: &str) -> Promise;
    /// Removes a large stored value.
    #[wasm_bindgen(js_name = forgetLarge)]
    pub(crate) fn forget_large(key: &str);
    /// Returns a stored value.
    pub(crate) fn load(key: &str) -> Option<String>;
    /// Removes a stored value.
    pub(crate) fn forget(key: &str);
    #[wasm_bindgen(js_name = storeInTab)]
    pub(crate) fn store_in_tab(key: &str, value: &str);
    #[wasm_bindgen(js_name = loadFromTab)]
    pub(crate) fn load_from_tab(key: &str) -> Option<String>;
    #[wasm_bindgen(js_name = claim)]
    fn js_claim(name: &str, patience: u32) -> Promise;
    #[wasm_bindgen(js_name = newId)]
    pub(crate) fn new_id() -> String;
    /// Returns a time, in milliseconds since 1970, as the user writes it.
    #[wasm_bindgen(js_name = dateAndTime)]
    pub(crate) fn date_and_time(milliseconds: f64) -> String;
    /// Returns what the address has behind the path: nothing, or `#` and more.
    pub(crate) fn hash() -> String;
    #[wasm_bindgen(js_name = setHash)]
    pub(crate) fn set_hash(hash: &str);
    /// Shows another hash, or none, in the address.
    #[wasm_bindgen(js_name = replaceHash)]
    pub(crate) fn replace_hash(hash: &str);
    /// Returns what the address says of a name behind `?`, or nothing.
    pub(crate) fn parameter(name: &str) -> String;
    /// Returns the address of the page, without a hash.
    pub(crate) fn address() -> String;
    /// Returns whether a node is an element or inside of it.
    #[wasm_bindgen(js_name = hasInside)]
    pub(crate) fn has_inside(element: &Element, node: Option<&EventTarget>) -> bool;
    /// Moves the keyboard to the element of an id.
    pub fn focus(id: &str);
    /// Returns whether a panel is beside an element and not over it, and then keeps the element in sight.
    #[wasm_bindgen(js_name = isBeside)]
    pub fn is_beside(panel: &Element, element: &Element) -> bool;
    /// Returns the value of the field that an event is about.
    #[wasm_bindgen(js_name = valueOf)]
    pub fn value_of(event: &Event) -> String;
    /// Gives the part before a bar its share of both parts, in percent.
    pub(crate) fn share(bar: &Element, axis: &str, percent: u32);
    /// Returns the share that the part before a bar has, in percent, when the bar is at a place of the window, or where
    /// it is.
    #[wasm_bindgen(js_name = shareAt)]
    pub(crate) fn share_at(bar: &Element, rows: bool, at: Option<i32>) -> u32;
    /// Returns whether editors break long lines, if the user chose or there is little room.
    pub(crate) fn wrapping() -> Option<bool>;
    /// Breaks long lines in all editors, or not, and sends the event `wrapping` to the window.
    #[wasm_bindgen(js_name = setWrapping)]
    pub(crate) fn set_wrapping(on: bool);
    pub(crate) fn theme() -> Option<String>;
    /// Shows a title for the tab, and an icon for the mark of an answer.
    #[wasm_bindgen(js_name = showTitle)]
    pub(crate) fn show_title(mark: &str, title: &str);
    #[wasm_bindgen(js_name = showTheme)]
    pub(crate) fn show_theme(name: &str);
}

/// A file that the user opened.
pub(crate) struct File {
    pub(crate) name: String,
    /// The content, or the reason why there is none.
    pub(crate) text: Result<String, String>,
}

/// Converts a text to base64url of its DEFLATE form.
///
/// # Errors
/// The browser's message, if it can't.
pub(crate) async fn compress(text: &str) -> Result<String, String> {
    text_of(js_compress(text)).await
}

/// Reverses [`compress`], for texts of at most `limit` bytes. Returns an empty text if this is not
/// such a form.
///
/// # Errors
/// A sentence, if the text is larger.
pub(crate) async fn decompress(packed: &str, limit: u32) -> Result<String, String> {
    text_of(js_decompress(packed, limit)).await
}

/// Returns whether only this tab has a name, from now until it is closed. `patience`: the time for
/// which to wait for another tab, in milliseconds.
pub(crate) async fn claim(name: &str, patience: u32) -> bool {
    JsFuture::from(js_claim(name, patience)).await == Ok(JsValue::TRUE)
}

/// Returns the time in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    js_sys::Date::now() as u64
}

/// Copies a text to the clipboard. Returns false if the browser does not allow it.
pub(crate) async fn copy(text: &str) -> bool {
    JsFuture::from(js_copy(text)).await == Ok(JsValue::TRUE)
}

/// Returns the page about a code, as Markdown. Returns `None` if it can't be had now.
pub(crate) async fn code_page(name: &str) -> Option<String> {
    JsFuture::from(js_code_page(name)).await.ok()?.as_string()
}

/// Returns the names and texts of an example's files. Returns `None` if they can't be had now.
pub(crate) async fn example_files(folder: &str) -> Option<Vec<(String, String)>> {
    let files = JsFuture::from(js_example_files(folder)).await.ok()?;
    let files = parse(&files.as_string()?)?.into_iter();
    files.map(|(name, text)| Some((name, text?))).collect()
}

/// Reads files of at most `limit` bytes each.
pub(crate) async fn read_files(files: &web_sys::FileList, limit: u32) -> Vec<File> {
    let files = JsFuture::from(js_read_files(files, limit)).await;
    let files = files.unwrap_or_else(|_| Array::new().into());
    Array::from(&files)
        .iter()
        .map(|file| File {
            name: property(&file, "name").unwrap_or_default(),
            text: property(&file, "text")
                .ok_or_else(|| property(&file, "refusal").unwrap_or_default()),
        })
        .collect()
}

/// Returns a plain object.
pub(crate) fn object(fields: &[(&str, JsValue)]) -> JsValue {
    let object = Object::new();
    for (name, value) in fields {
        // A plain object accepts every property.
        let _ = Reflect::set(&object, &JsValue::from_str(name), value);
    }
    object.into()
}

/// Returns the fields of a JSON object, each as a text if it is one. Returns `None` if the text is
/// no JSON object.
pub(crate) fn parse(json: &str) -> Option<Vec<(String, Option<String>)>> {
    let object: Object = js_sys::JSON::parse(json).ok()?.dyn_into().ok()?;
    if Array::is_array(&object) {
        return None;
    }
    fields_of(&Object::entries(&object))
}

/// Returns the names of entries, and their values that are texts.
fn fields_of(entries: &Array) -> Option<Vec<(String, Option<String>)>> {
    let fields = entries.iter().map(|entry| {
        let entry = Array::from(&entry);
        Some((entry.get(0).as_string()?, entry.get(1).as_string()))
    });
    fields.collect()
}

/// Stores an object of texts that are too large for [`store`]. Returns the reason if the browser does not.
pub(crate) async fn store_large(key: &str, texts: &JsValue) -> Option<String> {
    let reason = JsFuture::from(js_store_large(key, texts)).await;
    reason.unwrap_or_else(|error| error).as_string()
}

/// Returns the texts of [`store_large`] by their names, if there are any.
pub(crate) async fn load_large(key: &str) -> Option<Vec<(String, Option<String>)>> {
    let entries = JsFuture::from(js_load_large(key)).await.ok()?;
    fields_of(entries.dyn_ref()?)
}

/// Returns a JSON object of texts.
pub(crate) fn stringify<'t>(fields: impl Iterator<Item = (&'t str, &'t str)>) -> String {
    let fields: Vec<_> = fields.map(|(name, text)| (name, text.into())).collect();
    // An object of texts has JSON.
    js_sys::JSON::stringify(&object(&fields)).map_or_else(|_| String::new(), String::from)
}

fn property(object: &JsValue, name: &str) -> Option<String> {
    Reflect::get(object, &name.into()).ok()?.as_string()
}

async fn text_of(promise: Promise) -> Result<String, String> {
    match JsFuture::from(promise).await {
        Ok(text) => Ok(text.as_string().unwrap_or_default()),
        Err(error) => Err(match error.dyn_into::<js_sys::Error>() {
            Ok(error) => error.message().into(),
            Err(other) => format!("{other:?}"),
        }),
    }
}

/// Moves the keyboard to the first element inside another that fits a selector.
pub(crate) fn focus_in(element: &Element, selector: &str) {
    let found = element.query_selector(selector).ok().flatten();
    if let Some(found) = found.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
        // If it can't have the keyboard, the user can still reach it.
        let _ = found.focus();
    }
}

/// Listens to events of the window for as long as the component lives.
#[hook]
pub(crate) fn use_window_event(name: &'static str, listen: impl FnMut(Event) + 'static) {
    use_effect_with((), move |()| {
        let listener = Closure::<dyn FnMut(Event)>::new(listen);
        let window = web_sys::window();
        if let Some(window) = &window {
            // A window accepts every listener.
            let _ =
                window.add_event_listener_with_callback(name, listener.as_ref().unchecked_ref());
        }
        move || {
            if let Some(window) = window {
                let listener = listener.as_ref().unchecked_ref();
                let _ = window.remove_event_listener_with_callback(name, listener);
            }
        }
    });
}
