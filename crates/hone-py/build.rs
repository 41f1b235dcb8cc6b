//! On macOS an extension leaves Python's symbols to be found when it is loaded; its linker needs an option.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
