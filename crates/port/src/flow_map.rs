//! What is kept of each flow for as long as something may still happen to it.

use fanin_core::ids::FlowId;
use std::ops::{Index, IndexMut};

/// Something of every flow that is not over. Handles are never given twice, since tables and schemes name flows by them;
/// of one that is over an empty place remains.
#[derive(Debug)]
pub struct FlowMap<T> {
    /// By handle.
    places: Vec<Option<Box<T>>>,
}

impl<T> Default for FlowMap<T> {
    fn default() -> Self {
        Self { places: Vec::new() }
    }
}

impl<T> FlowMap<T> {
    /// Flows so far, those that are over included: the next one's handle.
    pub fn count(&self) -> usize {
        self.places.len()
    }
    /// Adds the item of the next flow.
    pub fn push(&mut self, item: T) {
        self.places.push(Some(Box::new(item)));
    }
    /// The item of a flow, unless the flow is over.
    #[inline(always)]
    pub fn get(&self, flow: FlowId) -> Option<&T> {
        self.places.get(flow.index())?.as_deref()
    }
    /// The item of a flow, unless the flow is over.
    #[inline(always)]
    pub fn get_mut(&mut self, flow: FlowId) -> Option<&mut T> {
        self.places.get_mut(flow.index())?.as_deref_mut()
    }
    /// Takes out the item of a flow that is over.
    pub fn take(&mut self, flow: FlowId) -> Option<Box<T>> {
        self.places.get_mut(flow.index())?.take()
    }
    /// The items of all flows that are not over, in the order of their handles.
    pub fn iter(&self) -> impl Iterator<Item = (FlowId, &T)> {
        self.places.iter().enumerate().filter_map(|(i, place)| Some((FlowId::new(i), place.as_deref()?)))
    }
}

impl<T> Index<FlowId> for FlowMap<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, flow: FlowId) -> &T {
        self.get(flow).expect("the flow is not over")
    }
}

impl<T> IndexMut<FlowId> for FlowMap<T> {
    #[inline(always)]
    fn index_mut(&mut self, flow: FlowId) -> &mut T {
        self.get_mut(flow).expect("the flow is not over")
    }
}
