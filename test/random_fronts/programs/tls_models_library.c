// Thread-local data of a library: seen from outside, or its own.
__thread int library_general = 7;
__thread int library_initial __attribute__((tls_model("initial-exec"))) = 8;
static __thread int own = 9;
static __thread int zero[40];

__attribute__((noinline)) int *library_own(int i) { return i ? &own : &zero[39]; }
int library_sum(void) { return library_general + library_initial + own + zero[39] + zero[0]; }
