/* What cc1 compiles. It includes nothing, so that no other file's reads are measured. */
int printf(const char *, ...);

int main(void) {
  printf("hello\n");
  return 0;
}
