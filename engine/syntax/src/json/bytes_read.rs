//! A count of the bytes of JSON that were read, for tests of how often a text is parsed. Release builds do not
//! contain it.

use super::Reader;
use core::cell::Cell;

thread_local! {
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// Returns the number of bytes that this thread has read, by readers that were dropped and by other parsers.
pub fn bytes_read() -> u64 {
    BYTES.get()
}

/// Counts bytes that another parser of JSON reads.
pub fn count_bytes_read(bytes: usize) {
    BYTES.set(BYTES.get().wrapping_add(bytes as u64));
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        count_bytes_read(self.offset());
    }
}
