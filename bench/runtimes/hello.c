// What C programs commonly start with: arguments, the environment, locale, files, time, output.
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
  setlocale(LC_ALL, "");
  int option = getopt(argc, argv, "h");
  const char *home = getenv("HOME");
  char line[64] = "";
  FILE *file = fopen("/etc/hostname", "r");
  if (file) {
    if (!fgets(line, sizeof line, file))
      *line = 0;
    fclose(file);
  }
  time_t now = time(NULL);
  char *copy = strdup(home ? home : line);
  printf("%d %d %s %s", option, (int)strlen(copy), line, now ? strerror(0) : "");
  fprintf(stderr, "%s\n", argv[0]);
  free(copy);
  return 0;
}
