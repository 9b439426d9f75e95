//! The module `fanin._engine` with the schemes of this repository.

fanin_python::engine!();
