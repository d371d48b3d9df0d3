// What the program of the packaging tests does not need for its start.
#include "words.h"
#include <map>
#include <sstream>

std::string report(const std::vector<std::string> &words) {
  std::map<std::string, int> counts;
  for (const std::string &word : words)
    ++counts[word];
  std::ostringstream text;
  for (const auto &[word, number] : counts)
    text << word << ": " << number << "\n";
  return text.str();
}
