//! Requests and responses of `wasi:http`, and `wasi:keyvalue` for what outlives a request.
//!
//! The host makes an instance of the component for each request and calls `handle` of the crate: nothing in
//! static variables is there for the next request.
#![allow(dead_code)]

use std::alloc::{alloc, handle_alloc_error, realloc, Layout};
use std::sync::OnceLock;

/// A request.
pub struct Request {
    handle: i32,
    /// The method in upper case.
    pub method: String,
    /// The path with its query.
    pub path: String,
}

/// A response.
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// Returns a response with a type of its content.
pub fn response(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Response {
    Response {
        status,
        headers: vec![("content-type".to_owned(), content_type.to_owned())],
        body: body.into(),
    }
}

impl Request {
    /// Returns the first value of a header.
    pub fn header(&self, name: &str) -> Option<String> {
        let mut list = [0_usize; 2];
        let values = unsafe {
            let headers = http::request_headers(self.handle);
            http::fields_get(headers, name.as_ptr(), name.len(), &mut list);
            http::drop_fields(headers);
            taken_lists(list)
        };
        let first = values.into_iter().next()?;
        String::from_utf8(first).ok()
    }

    /// Reads the body, once; `None` if it is larger than a limit, or breaks off.
    pub fn body(&self, limit: usize) -> Option<Vec<u8>> {
        let mut content = Vec::new();
        let mut result = [0_usize; 3];
        unsafe {
            let mut handle = [0_i32; 2];
            http::request_consume(self.handle, &mut handle);
            let body = ok(handle)?;
            http::body_stream(body, &mut handle);
            let stream = ok(handle)?;
            let is_whole = loop {
                io::read(stream, 64 << 10, &mut result);
                match result {
                    [0, start, len] => content.append(&mut taken(start, len)),
                    // The failure of a stream has a handle, which ends with the instance.
                    [_, failure, _] => break failure as u8 == CLOSED,
                }
                if content.len() > limit {
                    break false;
                }
            };
            io::drop_input(stream);
            http::drop_body(body);
            is_whole.then_some(content)
        }
    }
}

/// Returns the value of a key.
pub fn get(key: &str) -> Option<Vec<u8>> {
    let mut result = [0_usize; 4];
    unsafe { store::get(bucket(), key.as_ptr(), key.len(), &mut result) };
    match result {
        [0, 1, start, len] => Some(unsafe { taken(start, len) }),
        _ => None,
    }
}

/// Returns whether there is a key.
pub fn exists(key: &str) -> bool {
    let mut result = [0_usize; 4];
    unsafe { store::exists(bucket(), key.as_ptr(), key.len(), &mut result) };
    result[0] == 0 && result[1] == 1
}

/// Sets the value of a key. Returns whether the store had room for it.
pub fn set(key: &str, value: &[u8]) -> bool {
    let mut result = [0_usize; 4];
    let (start, len) = (value.as_ptr(), value.len());
    unsafe { store::set(bucket(), key.as_ptr(), key.len(), start, len, &mut result) };
    result[0] == 0
}

/// Removes a key. Returns whether it was there.
pub fn delete(key: &str) -> bool {
    let mut result = [0_usize; 4];
    let is_known = exists(key);
    unsafe { store::delete(bucket(), key.as_ptr(), key.len(), &mut result) };
    is_known
}

/// Returns all keys, sorted.
pub fn keys() -> Vec<String> {
    let mut keys = Vec::new();
    let mut cursor = Some(0);
    while let Some(at) = cursor {
        let mut result = [0_u64; 4];
        unsafe { store::list_keys(bucket(), 1, at, &mut result) };
        // The first word says whether it is a failure, the second one is a list, the third and fourth ones a cursor.
        let is_failure = result[0] as u8 != 0;
        if is_failure {
            break;
        }
        let list = [result[1] as usize, (result[1] >> 32) as usize];
        let page = unsafe { taken_lists(list) };
        keys.extend(page.into_iter().filter_map(|it| String::from_utf8(it).ok()));
        cursor = (result[2] as u8 == 1).then_some(result[3]);
    }
    keys.sort();
    keys
}

/// Returns the bucket of this app.
fn bucket() -> i32 {
    static BUCKET: OnceLock<i32> = OnceLock::new();
    *BUCKET.get_or_init(|| {
        let mut result = [0_i32; 4];
        unsafe { store::open("".as_ptr(), 0, &mut result) };
        match result {
            [0, bucket, ..] => bucket,
            _ => panic!("the host has no store"),
        }
    })
}

/// What the host calls for each request.
#[export_name = "wasi:http/incoming-handler@0.2.0#handle"]
extern "C" fn handle(request: i32, out: i32) {
    let mut method = [0_usize; 3];
    let mut path = [0_usize; 3];
    let response = unsafe {
        http::request_method(request, &mut method);
        http::request_path(request, &mut path);
        let method = match method {
            [9, start, len] => taken(start, len),
            [known, ..] => METHODS[known as u8 as usize].as_bytes().to_vec(),
        };
        let path = match path {
            [1, start, len] => taken(start, len),
            _ => b"/".to_vec(),
        };
        crate::handle(Request {
            handle: request,
            method: String::from_utf8_lossy(&method).into_owned(),
            path: String::from_utf8_lossy(&path).into_owned(),
        })
    };
    send(out, &response);
}

/// Sends a response: its head first, then its body in parts.
fn send(out: i32, response: &Response) {
    let mut handle = [0_i32; 2];
    let mut result = [0_usize; 3];
    unsafe {
        let fields = http::fields();
        for (name, value) in &response.headers {
            let (name, value) = (name.as_bytes(), value.as_bytes());
            let (start, len) = (value.as_ptr(), value.len());
            http::fields_append(fields, name.as_ptr(), name.len(), start, len, &mut result);
        }
        let head = http::response(fields);
        http::response_set_status(head, response.status.into());
        http::response_body(head, &mut handle);
        let body = ok(handle).expect("a response has one body");
        http::outparam_set(out, 0, head, 0, 0, 0, 0, 0, 0);
        http::body_write(body, &mut handle);
        let stream = ok(handle).expect("a body has one stream");
        for part in response.body.chunks(4096) {
            io::write(stream, part.as_ptr(), part.len(), &mut result);
            // The client is gone.
            if result[0] as u8 != 0 {
                break;
            }
        }
        io::drop_output(stream);
        http::body_finish(body, 0, 0, &mut [0; 8]);
    }
}

const METHODS: [&str; 9] = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
];

/// The failure of a stream that has ended.
const CLOSED: u8 = 1;

/// Returns the handle of a result that is not a failure.
fn ok([failure, handle]: [i32; 2]) -> Option<i32> {
    (failure as u8 == 0).then_some(handle)
}

/// Takes bytes that the host wrote into memory of this component.
unsafe fn taken(start: usize, len: usize) -> Vec<u8> {
    match len {
        0 => Vec::new(),
        _ => Vec::from_raw_parts(start as *mut u8, len, len),
    }
}

/// Takes a list of such bytes.
unsafe fn taken_lists([start, len]: [usize; 2]) -> Vec<Vec<u8>> {
    if len == 0 {
        return Vec::new();
    }
    let lists = Vec::from_raw_parts(start as *mut [usize; 2], len, len);
    lists.into_iter().map(|[start, len]| taken(start, len)).collect()
}

/// Gives the host memory for what it returns.
#[export_name = "cabi_realloc"]
unsafe extern "C" fn memory(old: *mut u8, old_len: usize, align: usize, len: usize) -> *mut u8 {
    if len == 0 {
        return align as *mut u8;
    }
    let layout = |len| Layout::from_size_align_unchecked(len, align);
    let new = match old_len {
        0 => alloc(layout(len)),
        _ => realloc(old, layout(old_len), len),
    };
    if new.is_null() {
        handle_alloc_error(layout(len));
    }
    new
}

mod http {
    #[link(wasm_import_module = "wasi:http/types@0.2.0")]
    extern "C" {
        #[link_name = "[method]incoming-request.method"]
        pub fn request_method(request: i32, result: &mut [usize; 3]);
        #[link_name = "[method]incoming-request.path-with-query"]
        pub fn request_path(request: i32, result: &mut [usize; 3]);
        #[link_name = "[method]incoming-request.headers"]
        pub fn request_headers(request: i32) -> i32;
        #[link_name = "[method]incoming-request.consume"]
        pub fn request_consume(request: i32, result: &mut [i32; 2]);
        #[link_name = "[method]incoming-body.stream"]
        pub fn body_stream(body: i32, result: &mut [i32; 2]);
        #[link_name = "[resource-drop]incoming-body"]
        pub fn drop_body(body: i32);
        #[link_name = "[constructor]fields"]
        pub fn fields() -> i32;
        #[link_name = "[method]fields.get"]
        pub fn fields_get(fields: i32, name: *const u8, len: usize, result: &mut [usize; 2]);
        #[link_name = "[method]fields.append"]
        pub fn fields_append(
            fields: i32,
            name: *const u8,
            len: usize,
            value: *const u8,
            value_len: usize,
            result: &mut [usize; 3],
        );
        #[link_name = "[resource-drop]fields"]
        pub fn drop_fields(fields: i32);
        #[link_name = "[constructor]outgoing-response"]
        pub fn response(fields: i32) -> i32;
        #[link_name = "[method]outgoing-response.set-status-code"]
        pub fn response_set_status(response: i32, status: i32) -> i32;
        #[link_name = "[method]outgoing-response.body"]
        pub fn response_body(response: i32, result: &mut [i32; 2]);
        // A result is passed in as many words as its largest case needs.
        #[link_name = "[static]response-outparam.set"]
        pub fn outparam_set(
            out: i32,
            failure: i32,
            response: i32,
            _: i32,
            _: i64,
            _: i32,
            _: i32,
            _: i32,
            _: i32,
        );
        #[link_name = "[method]outgoing-body.write"]
        pub fn body_write(body: i32, result: &mut [i32; 2]);
        #[link_name = "[static]outgoing-body.finish"]
        pub fn body_finish(body: i32, has_trailers: i32, trailers: i32, result: &mut [u64; 8]);
    }
}

mod io {
    #[link(wasm_import_module = "wasi:io/streams@0.2.0")]
    extern "C" {
        #[link_name = "[method]input-stream.blocking-read"]
        pub fn read(stream: i32, len: i64, result: &mut [usize; 3]);
        #[link_name = "[method]output-stream.blocking-write-and-flush"]
        pub fn write(stream: i32, start: *const u8, len: usize, result: &mut [usize; 3]);
        #[link_name = "[resource-drop]input-stream"]
        pub fn drop_input(stream: i32);
        #[link_name = "[resource-drop]output-stream"]
        pub fn drop_output(stream: i32);
    }
}

mod store {
    #[link(wasm_import_module = "wasi:keyvalue/store@0.2.0-draft")]
    extern "C" {
        #[link_name = "open"]
        pub fn open(name: *const u8, len: usize, result: &mut [i32; 4]);
        #[link_name = "[method]bucket.get"]
        pub fn get(bucket: i32, key: *const u8, len: usize, result: &mut [usize; 4]);
        #[link_name = "[method]bucket.exists"]
        pub fn exists(bucket: i32, key: *const u8, len: usize, result: &mut [usize; 4]);
        #[link_name = "[method]bucket.set"]
        pub fn set(
            bucket: i32,
            key: *const u8,
            len: usize,
            value: *const u8,
            value_len: usize,
            result: &mut [usize; 4],
        );
        #[link_name = "[method]bucket.delete"]
        pub fn delete(bucket: i32, key: *const u8, len: usize, result: &mut [usize; 4]);
        #[link_name = "[method]bucket.list-keys"]
        pub fn list_keys(bucket: i32, has_cursor: i32, cursor: u64, result: &mut [u64; 4]);
    }
}
