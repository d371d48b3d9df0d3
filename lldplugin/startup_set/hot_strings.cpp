//===- hot_strings.cpp - gathers the strings of startup --------------------===//

#include "startup_set/hot_strings.h"
#include "llvm/Support/xxhash.h"
#include <atomic>

using namespace llvm;

namespace frontload {

void HotStrings::add(StringRef contents) {
  uint64_t hash = xxh3_64bits(contents);
  if (hash >= ~uint64_t(0) - 1)
    return; // DenseMap reserves these two keys
  filter.add(uint32_t(hash));
  if (known.try_emplace(hash, State::Absent).second)
    strings.push_back(contents);
}

bool HotStrings::seeHash(uint64_t hash) {
  if (!filter.mayContain(uint32_t(hash)))
    return false;
  auto it = known.find(hash);
  if (it == known.end())
    return false;
  std::atomic_ref(it->second).store(State::Elsewhere, std::memory_order_relaxed);
  return true;
}

void HotStrings::see(StringRef contents) {
  if (auto it = known.find(xxh3_64bits(contents)); it != known.end())
    it->second = State::Elsewhere;
}

HotStrings::State HotStrings::state(StringRef contents) const {
  return known.lookup(xxh3_64bits(contents));
}

uint64_t HotStrings::placePrefix(StringRef section) {
  StringRef rest = section;
  while (!rest.empty()) {
    size_t end = rest.find('\0');
    if (end == StringRef::npos)
      break;
    auto it = known.find(xxh3_64bits(rest.take_front(end)));
    if (it == known.end())
      break;
    it->second = State::Placed;
    rest = rest.drop_front(end + 1);
  }
  return section.size() - rest.size();
}

} // namespace frontload
