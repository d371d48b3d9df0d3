// A program as small as can have a start and a rest: it splits a text and counts words, and only
// `--report` runs the other file.
#include "words.h"
#include <cstdio>
#include <cstring>

std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> words(1);
  for (char letter : text)
    if (letter != ' ')
      words.back() += letter;
    else if (!words.back().empty())
      words.emplace_back();
  return words;
}

int main(int count, char **arguments) {
  std::vector<std::string> words = split("so much of a start is reading");
  bool asked = count > 1 && !std::strcmp(arguments[1], "--report");
  std::string text = asked ? report(words) : std::to_string(words.size()) + " words";
  return std::puts(text.c_str()) < 0;
}
