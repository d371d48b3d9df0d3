"""Stands in for rules_java, which Bazel 4 would download, also for C++: its rules are its own."""

java_binary = native.java_binary
java_import = native.java_import
java_library = native.java_library
java_proto_library = native.java_proto_library
java_runtime = native.java_runtime
java_toolchain = native.java_toolchain
