// C++ with some of the standard library's containers.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Word {
  std::string text;
  int count = 0;
};

static std::vector<Word> count(const std::vector<std::string> &words) {
  std::map<std::string, int> counts;
  for (const auto &word : words)
    ++counts[word];
  std::vector<Word> result;
  for (const auto &[text, number] : counts)
    result.push_back({text, number});
  std::sort(result.begin(), result.end(),
            [](const Word &a, const Word &b) { return a.count > b.count; });
  return result;
}

int main(int argc, char **argv) {
  std::vector<std::string> words(argv, argv + argc);
  auto counted = std::make_unique<std::vector<Word>>(count(words));
  return counted->empty() ? 1 : int(counted->front().text.size());
}
