//! Payloads of rare events, stored outside of the event queue.

/// A store of payloads for rare events that do not fit their 28-bit index.
#[derive(Debug)]
pub struct Slots<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    pub fn put(&mut self, item: T) -> usize {
        if let Some(slot) = self.free.pop() {
            self.items[slot as usize] = Some(item);
            return slot as usize;
        }
        self.items.push(Some(item));
        self.items.len() - 1
    }
    pub fn take(&mut self, slot: usize) -> Option<T> {
        let item = self.items.get_mut(slot)?.take();
        if item.is_some() {
            self.free.push(slot as u32);
        }
        item
    }
    pub fn peek(&self, slot: usize) -> Option<&T> {
        self.items.get(slot)?.as_ref()
    }
}
