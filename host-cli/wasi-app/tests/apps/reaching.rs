//! An app that tries to reach the machine by the interfaces of WASI.

#[path = "../../../planner/services/rust/wasi.rs"]
mod wasi;

use wasi::{response, Request, Response};

fn handle(request: Request) -> Response {
    let report = match &*request.path {
        "/folders" => {
            let mut list = [0_usize; 2];
            unsafe { get_directories(&mut list) };
            format!("{} folders", list[1])
        }
        "/environment" => {
            let mut list = [0_usize; 2];
            unsafe { get_environment(&mut list) };
            let pairs = list[0] as *const [&str; 2];
            (0..list[1])
                .map(|at| unsafe { *pairs.add(at) })
                .map(|[name, value]| format!("{name}={value}\n"))
                .collect()
        }
        "/tcp" => {
            let mut result = [0_usize; 2];
            unsafe { create_tcp_socket(0, &mut result) };
            format!("{} {}", result[0], result[1])
        }
        "/udp" => {
            let mut result = [0_usize; 2];
            unsafe { create_udp_socket(0, &mut result) };
            format!("{} {}", result[0], result[1])
        }
        "/print" => {
            for (stream, text) in unsafe { [(get_stdout(), "out\n"), (get_stderr(), "err\n")] } {
                let mut result = [0_usize; 3];
                unsafe { write(stream, text.as_ptr(), text.len(), &mut result) };
            }
            "printed".to_owned()
        }
        "/request" => unsafe {
            let out = outgoing_request(fields());
            let authority = request.header("x-authority").unwrap();
            set_authority(out, 1, authority.as_ptr(), authority.len());
            set_path(out, 1, "/".as_ptr(), 1);
            let mut result = [0_u64; 8];
            send(out, 0, 0, &mut result);
            if result[0] as u8 != 0 {
                return response(200, "text/plain", format!("refused {}", result[1] as u8));
            }
            let future = result[1] as i32;
            let pollable = subscribe(future);
            block(pollable);
            let mut result = [0_u64; 10];
            get(future, &mut result);
            // option, result, result, error code
            format!("{} {} {} {}", result[0] as u8, result[1] as u8, result[2] as u8, result[3] as u8)
        },
        "/sleep" => unsafe {
            block(subscribe_duration(3_600_000_000_000));
            "slept".to_owned()
        },
        "/exit" => unsafe {
            exit(0);
            "still here".to_owned()
        },
        _ => return response(404, "text/plain", ""),
    };
    response(200, "text/plain", report)
}

#[link(wasm_import_module = "wasi:filesystem/preopens@0.2.0")]
extern "C" {
    #[link_name = "get-directories"]
    fn get_directories(list: &mut [usize; 2]);
}

#[link(wasm_import_module = "wasi:cli/environment@0.2.0")]
extern "C" {
    #[link_name = "get-environment"]
    fn get_environment(list: &mut [usize; 2]);
}

#[link(wasm_import_module = "wasi:cli/exit@0.2.0")]
extern "C" {
    #[link_name = "exit"]
    fn exit(status: i32);
}

#[link(wasm_import_module = "wasi:cli/stdout@0.2.0")]
extern "C" {
    #[link_name = "get-stdout"]
    fn get_stdout() -> i32;
}

#[link(wasm_import_module = "wasi:cli/stderr@0.2.0")]
extern "C" {
    #[link_name = "get-stderr"]
    fn get_stderr() -> i32;
}

#[link(wasm_import_module = "wasi:sockets/tcp-create-socket@0.2.0")]
extern "C" {
    #[link_name = "create-tcp-socket"]
    fn create_tcp_socket(family: i32, result: &mut [usize; 2]);
}

#[link(wasm_import_module = "wasi:sockets/udp-create-socket@0.2.0")]
extern "C" {
    #[link_name = "create-udp-socket"]
    fn create_udp_socket(family: i32, result: &mut [usize; 2]);
}

#[link(wasm_import_module = "wasi:clocks/monotonic-clock@0.2.0")]
extern "C" {
    #[link_name = "subscribe-duration"]
    fn subscribe_duration(nanoseconds: i64) -> i32;
}

#[link(wasm_import_module = "wasi:io/poll@0.2.0")]
extern "C" {
    #[link_name = "[method]pollable.block"]
    fn block(pollable: i32);
}

#[link(wasm_import_module = "wasi:io/streams@0.2.0")]
extern "C" {
    #[link_name = "[method]output-stream.blocking-write-and-flush"]
    fn write(stream: i32, start: *const u8, len: usize, result: &mut [usize; 3]);
}

#[link(wasm_import_module = "wasi:http/types@0.2.0")]
extern "C" {
    #[link_name = "[constructor]fields"]
    fn fields() -> i32;
    #[link_name = "[constructor]outgoing-request"]
    fn outgoing_request(fields: i32) -> i32;
    #[link_name = "[method]outgoing-request.set-authority"]
    fn set_authority(request: i32, has_authority: i32, start: *const u8, len: usize) -> i32;
    #[link_name = "[method]outgoing-request.set-path-with-query"]
    fn set_path(request: i32, has_path: i32, start: *const u8, len: usize) -> i32;
    #[link_name = "[method]future-incoming-response.subscribe"]
    fn subscribe(future: i32) -> i32;
    #[link_name = "[method]future-incoming-response.get"]
    fn get(future: i32, result: &mut [u64; 10]);
}

#[link(wasm_import_module = "wasi:http/outgoing-handler@0.2.0")]
extern "C" {
    #[link_name = "handle"]
    fn send(request: i32, has_options: i32, options: i32, result: &mut [u64; 8]);
}
