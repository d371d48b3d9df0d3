// Two versions of a function; what the version script does not name is local.
int callback(int n);
static int state = 40;
__attribute__((weak)) int overridden(int n) { return n + 7; }
__attribute__((noinline)) int hidden_by_script(int n) { return state += n; }
int answer_first(void) { return 41; }
int answer_second(void) { return 42 + (state > 1000); }
__asm__(".symver answer_first, answer@FIRST");
__asm__(".symver answer_second, answer@@SECOND");
int shared_state(int n) { return callback(hidden_by_script(n)) + overridden(n) * 10000; }
