//! Python bindings of the fanin engine.
