// Who is called before main and after it, in which order: by priority, by object, by table.
#include <cstdio>

static void say(const char *text) { std::printf("%s ", text); }
#define PRIORITY(n)                                                                                \
  __attribute__((constructor(n))) static void begin_##n() { say("c" #n); }                         \
  __attribute__((destructor(n))) static void end_##n() { say("d" #n); }
PRIORITY(101)
PRIORITY(65535)
PRIORITY(500)
PRIORITY(201)

struct Named {
  explicit Named(const char *text) : name(text) { say(name); }
  ~Named() { say(name); }
  const char *name;
};
static Named plain("plain");
static Named early __attribute__((init_priority(150)))("early");
static Named late __attribute__((init_priority(60000)))("late");

static void from_table() { say("table"); }
static void at_last() { say("fini"); }
extern "C" {
__attribute__((section(".init_array"), used)) void (*in_table)() = from_table;
__attribute__((section(".init_array.00300"), used)) void (*with_number)() = from_table;
__attribute__((section(".fini_array"), used)) void (*in_fini)() = at_last;
}
int of_part();

int main() {
  say("main");
  return of_part() - 3;
}
