// A hash map that keeps the order of insertion: a template that many files instantiate alike.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tabula {

template <class T> struct Hash;
template <> struct Hash<long> {
  unsigned operator()(long n) const { return static_cast<unsigned>(n) * 2654435761u; }
};
template <> struct Hash<std::string> {
  unsigned operator()(std::string_view s) const {
    unsigned h = 2166136261u;
    for (char c : s)
      h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
    return h;
  }
};

template <class K, class V> class HashMap {
public:
  HashMap() : slots(8, empty) {}

  V *find(const K &key) {
    unsigned slot = slotOf(key);
    return slots[slot] == empty ? nullptr : &entries[slots[slot]].second;
  }

  V &operator[](const K &key) {
    unsigned slot = slotOf(key);
    if (slots[slot] == empty) {
      if (4 * entries.size() >= 3 * slots.size()) {
        grow();
        slot = slotOf(key);
      }
      slots[slot] = static_cast<unsigned>(entries.size());
      entries.emplace_back(key, V());
    }
    return entries[slots[slot]].second;
  }

  /// Slow: what came after it moves up.
  bool erase(const K &key) {
    if (!find(key))
      return false;
    auto kept = std::move(entries);
    entries.clear();
    slots.assign(slots.size(), empty);
    for (auto &entry : kept)
      if (!(entry.first == key))
        (*this)[entry.first] = std::move(entry.second);
    return true;
  }

  size_t size() const { return entries.size(); }
  auto begin() { return entries.begin(); }
  auto end() { return entries.end(); }

private:
  static constexpr unsigned empty = ~0u;

  unsigned slotOf(const K &key) const {
    unsigned mask = static_cast<unsigned>(slots.size() - 1);
    unsigned slot = Hash<K>()(key) & mask;
    while (slots[slot] != empty && !(entries[slots[slot]].first == key))
      slot = (slot + 1) & mask;
    return slot;
  }

  void grow() {
    slots.assign(2 * slots.size(), empty);
    for (unsigned i = 0; i < entries.size(); ++i)
      slots[slotOf(entries[i].first)] = i;
  }

  std::vector<unsigned> slots;
  std::vector<std::pair<K, V>> entries;
};

} // namespace tabula
