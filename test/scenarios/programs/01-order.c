/* Each function counts once, when it is entered for the first time.

   exit 0
   process: main outer inner last */
static void inner(void) {}

static void outer(void) { inner(); }

static void last(void) {}

void never_called(void) {}

int main(void) {
  outer();
  inner();
  last();
  outer();
  return 0;
}
