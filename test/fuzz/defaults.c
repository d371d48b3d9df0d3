// What the sanitizers of fuzz targets and units are told, so that nobody has to set variables.
//
// LLVM's libraries are the system's, without checks. The containers that these and we share would
// be poisoned by one side only, so nothing is poisoned by hand. What is asked for is the libraries'
// and ours alike: a reader that wants more than a small multiple of its file is a find.
const char *__asan_default_options(void) {
  return "allow_user_poisoning=0:detect_leaks=0:allocator_may_return_null=0:"
         "max_allocation_size_mb=512:quarantine_size_mb=16";
}

const char *__ubsan_default_options(void) { return "print_stacktrace=1"; }
