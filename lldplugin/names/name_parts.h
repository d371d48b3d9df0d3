// How compilers change a function's name.
//
// A profile outlives the build it was recorded from. The next build may clone or split a function
// or make it local, and change its suffix (`f.isra.0`, `f.llvm.1234`, `f.cold`). It may emit
// another variant of a constructor, and Rust's names end in other hashes. Here a name is taken
// apart into its stable and its changing parts, and two names are compared by them. What changes
// inside of a stem is in mangled_names.h.
//
// Only these two files have such rules. They are part of the meaning of a startup profile: a name
// that they find today has to be found next year, so rules may be added, not removed.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace frontload {

/// How alike a profile's name and a name in the link are; of two, the lower is meant.
enum class Likeness : uint8_t {
  Exact,
  Suffix,  ///< but for a suffix that only makes names different: .llvm.N, .lto_priv.N, .N, @VERSION
  Clone,   ///< but for the clone of the function: .isra, .constprop, .specialized, ...
  Variant, ///< but for the variant of a constructor or destructor (C1 C2 C3, D0 D1 D2)
  Tag,     ///< but for ABI tags of C++, or numbers and passes in names of other languages
  Hash,    ///< but for the hash at the end of a Rust name, or those of its crates
  Part,    ///< one is a part that was split off (.cold, .part), the other is the function
};
constexpr unsigned numLikenesses = 7;

/// The name of a likeness as it stands in reports: "exact", "suffix", ...
llvm::StringRef toString(Likeness likeness);

struct NameParts {
  /// The name in the source: no suffixes, and no hash of Rust's legacy mangling.
  llvm::StringRef stem;
  /// The hash of Rust's legacy mangling, if there is one.
  llvm::StringRef hash;
  /// Sets of suffixes, as bits: those of clones, and those of parts.
  uint32_t clones = 0, parts = 0;
  /// Whether the part is one that the function does not enter by itself at startup (.cold, .eh).
  bool isCold = false;
};

NameParts takeApart(llvm::StringRef name);

/// Whether takeApart() may find a cold part, by the suffixes behind a name's head. Many local names
/// have other suffixes.
inline bool mayBeCold(llvm::StringRef suffixes) {
  for (size_t i = 0; i + 1 < suffixes.size(); ++i)
    if (suffixes[i] == '.' &&
        (suffixes[i + 1] == 'c' || suffixes[i + 1] == '_' || suffixes[i + 1] == 'e'))
      return true; // .cold, .__part, .eh
  return false;
}

/// The length of the hash of Rust's legacy mangling: `17h`, 16 hexadecimal digits and E.
constexpr size_t legacyHashLength = 20;

/// The beginning of a name, without suffixes: up to the first dot or @, and without hashes of
/// Rust's legacy mangling. The stem of a name has the same head, and takes many times as long to
/// find.
inline llvm::StringRef headOf(llvm::StringRef name) {
  // A name may begin with a dot, or an @.
  llvm::StringRef head = name.take_front(name.find('.', 1));
  head = head.take_front(head.find('@', 1));
  while (head.size() >= legacyHashLength && head.ends_with("E") &&
         head.take_back(legacyHashLength).starts_with("17h"))
    head = head.drop_back(legacyHashLength);
  return head;
}

/// How alike two names of the same stem are, if they may be the same function. `wanted` is the name
/// in the profile. Never returns Exact.
std::optional<Likeness> compare(const NameParts &wanted, const NameParts &found);

} // namespace frontload
