"""wasm-tools, a Rust program of 23 MB: its work is to turn a small text into a WebAssembly module.

This is a crate from cargo's registry, in this version and with its published dependencies. It needs
rustc 1.88: Debian 12's rustc (1.63) is too old, but its rustc-web and rustup's will do.
"""

from coldbench.variants.workload import Workload

_COMMANDS = ("parse {file} -o {output}", "print {file}", "validate {file}", "dump {file}",
             "objdump {file}", "strip {file} -o {output}", "demangle {file} -o {output}",
             "metadata show {file}", "metadata add --name hello {file} -o {output}",
             "json-from-wast {file} -o {output}", "smith {file} -o {output}",
             "--help", "help component")

WORKLOAD = Workload(
    name="wasm-tools",
    title="wasm-tools 1.263 (Rust): `wasm-tools parse hello.wat`",
    variants=("default", "order", "order+relr", "front", "front+prefetch"),
    peers=("temporal", "bp-startup", "clang-pgo", "bolt", "preread", "willneed",
           "front+run"),
    absent={
        "gcc-pgo": "gcc 12 compiles no Rust",
        "gcc-pgo-lto": "gcc 12 compiles no Rust",
        "gcc-pgo+front": "gcc 12 compiles no Rust",
        "clang-pgo+front": "not tried with Rust",
        "front+blocks+prefetch": "rustc has no option for lists of basic blocks",
    },
    recorders={"clang-pgo": ("temporal",)},
    scenarios={command.split(" {")[0]: tuple(
        word.replace("{file}", "{source}/hello.wat") for word in command.split())
        for command in _COMMANDS},
    arguments=("parse", "{source}/hello.wat", "-o", "{output}"),
)
