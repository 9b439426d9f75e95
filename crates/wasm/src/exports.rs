//! What the module exports, and the one function that it imports.
#![allow(unsafe_code, reason = "names of exports must be kept, and imports are declared")]

use crate::answer::{Answer, answer};
use std::cell::RefCell;
use std::sync::Once;

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Receives the share of simulated time that has passed; returns 0 to stop the run.
    safe fn progress(share: f64) -> u32;
}

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Answer> = RefCell::default();
}

/// Makes room for a request of so many bytes, and returns where it is to be written.
#[unsafe(no_mangle)]
extern "C" fn fanin_reserve(bytes: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        *request = vec![0; bytes];
        request.as_mut_ptr()
    })
}

/// Answers the request that was written.
#[unsafe(no_mangle)]
extern "C" fn fanin_answer() {
    static HOOK: Once = Once::new();
    // A panic ends the module, but the host can still read its memory.
    HOOK.call_once(|| std::panic::set_hook(Box::new(|panic| put(Answer::of_panic(&panic.to_string())))));
    let request = REQUEST.with_borrow_mut(std::mem::take);
    // The last answer's memory is free before the next one needs some.
    put(Answer::default());
    put(answer(&request, &mut |share| progress(share) != 0));
}

fn put(answer: Answer) {
    ANSWER.with_borrow_mut(|kept| *kept = answer);
}

/// Where the answer's JSON begins.
#[unsafe(no_mangle)]
extern "C" fn fanin_json() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.json.as_ptr())
}

/// The length of the answer's JSON in bytes.
#[unsafe(no_mangle)]
extern "C" fn fanin_json_bytes() -> usize {
    ANSWER.with_borrow(|answer| answer.json.len())
}

/// Where the answer's numbers begin.
#[unsafe(no_mangle)]
extern "C" fn fanin_numbers() -> *const f64 {
    ANSWER.with_borrow(|answer| answer.numbers.as_ptr())
}

/// How many numbers the answer has.
#[unsafe(no_mangle)]
extern "C" fn fanin_numbers_count() -> usize {
    ANSWER.with_borrow(|answer| answer.numbers.len())
}
