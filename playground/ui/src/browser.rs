//! What a page does with the browser besides showing itself.

use js_sys::{Array, Object, Promise, Reflect};
use wasm_bindgen::prelude::{JsCast as _, JsValue, wasm_bindgen};
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(raw_module = "./browser.js")]
extern "C" {
    #[wasm_bindgen(js_name = compress)]
    fn js_compress(text: &str) -> Promise;
    #[wasm_bindgen(js_name = decompress)]
    fn js_decompress(packed: &str, limit: u32) -> Promise;
    #[wasm_bindgen(js_name = copy)]
    fn js_copy(text: &str) -> Promise;
    #[wasm_bindgen(js_name = readFiles)]
    fn js_read_files(files: &web_sys::FileList, limit: u32) -> Promise;

    /// Hands a text to the person as a file.
    pub fn download(name: &str, text: &str);
    /// Whether the value is kept; storage may be full or forbidden.
    pub fn store(key: &str, value: &str) -> bool;
    /// A value that was kept.
    pub fn load(key: &str) -> Option<String>;
    /// Forgets a value.
    pub fn forget(key: &str);
}

/// A file that was picked or dropped.
pub struct File {
    /// Its name.
    pub name: String,
    /// None: it is too large.
    pub text: Option<String>,
}

/// Text to base64url of its DEFLATE form.
///
/// # Errors
/// What the browser says, where it can't.
pub async fn compress(text: &str) -> Result<String, String> {
    text_of(js_compress(text)).await
}

/// The reverse of [`compress`], for texts of at most `limit` bytes.
///
/// # Errors
/// What the browser says, where it is no such form or holds more.
pub async fn decompress(packed: &str, limit: u32) -> Result<String, String> {
    text_of(js_decompress(packed, limit)).await
}

/// Whether the text is in the clipboard now.
pub async fn copy(text: &str) -> bool {
    JsFuture::from(js_copy(text)).await == Ok(JsValue::TRUE)
}

/// Reads files of at most `limit` bytes each.
pub async fn read_files(files: &web_sys::FileList, limit: u32) -> Vec<File> {
    let files = JsFuture::from(js_read_files(files, limit)).await;
    let files = files.unwrap_or_else(|_| Array::new().into());
    Array::from(&files)
        .iter()
        .map(|file| File {
            name: property(&file, "name").unwrap_or_default(),
            text: property(&file, "text"),
        })
        .collect()
}

/// A plain object.
pub fn object(fields: &[(&str, JsValue)]) -> JsValue {
    let object = Object::new();
    for (name, value) in fields {
        // A plain object takes every property.
        let _ = Reflect::set(&object, &JsValue::from_str(name), value);
    }
    object.into()
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
