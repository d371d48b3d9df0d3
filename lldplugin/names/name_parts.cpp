// How compilers change a function's name.
//
// Suffixes and the compilers that make them:
//
//   .llvm.N .content.N     LLVM: a local symbol that another module uses
//   .__uniq.N              clang -funique-internal-linkage-names
//   .lto_priv.N            gcc -flto: a local symbol that another partition uses
//   .localalias            gcc: another name for a global symbol that cannot be interposed
//   .cfi .cfi_jt           clang -fsanitize=cfi: the function, and its entry in the jump table
//   .N                     both: local variables of functions, LTO's second of a name, clones
//   @VERSION, @@VERSION    .symver
//   @plt                   other tools' name for the stub that jumps to a function
//   .isra.N .constprop.N .clone.N           gcc: copies for some of the callers
//   .specialized.N .argprom .argelim .retelim .memprof.N .internalized .coldclone
//                                           LLVM: the same
//   .Tgm                                    LLVM: the common code of functions that differ little
//   .part.N .cold .cold.N                   gcc, LLVM: split-off parts
//   .__part.N .eh                           clang -fbasic-block-sections: blocks, landing pads
//
// Any other suffix belongs to the name (`f.avx2` is another function than `f`, and
// `_GLOBAL__sub_I_main.cpp` has its name from a file), and so do numbers behind it (`f._omp_fn.1`).
#include "names/name_parts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace llvm;

namespace frontload {

StringRef toString(Likeness likeness) {
  static constexpr StringLiteral names[numLikenesses] = {"exact", "suffix", "clone", "variant",
                                                         "tag",   "hash",   "part"};
  return names[static_cast<unsigned>(likeness)];
}

static constexpr StringLiteral renamings[] = {"llvm",       "content", "__uniq", "lto_priv",
                                              "localalias", "cfi",     "cfi_jt"};
static constexpr StringLiteral cloneSuffixes[] = {
    "isra",    "constprop", "clone", "specialized",  "argprom",  "argelim",
    "retelim", "memprof",   "Tgm",   "internalized", "coldclone"};
static constexpr StringLiteral partSuffixes[] = {"part", "cold", "__part", "eh"};
/// `part` is the rest of a function whose beginning is inlined everywhere.
static constexpr uint32_t enteredParts = 1;

/// The bit of `word` in a list of suffixes, 0 if it is not there.
static uint32_t bitOf(StringRef word, ArrayRef<StringLiteral> suffixes) {
  const StringLiteral *found = llvm::find(suffixes, word);
  return found == suffixes.end() ? 0 : 1u << (found - suffixes.begin());
}

static bool isNumber(StringRef word) { return !word.empty() && llvm::all_of(word, isDigit); }

/// Where the hash of Rust's legacy mangling begins, at the end of the name or before a suffix; npos
/// if there is none. Such names have dots of their own.
static size_t findLegacyHash(StringRef name) {
  if (!name.starts_with("_ZN"))
    return StringRef::npos;
  auto endsAt = [&](size_t end) {
    StringRef hash = name.take_front(end).take_back(legacyHashLength);
    return hash.ends_with("E") && hash.starts_with("17h") &&
           llvm::all_of(hash.substr(3, 16), isHexDigit);
  };
  size_t end = 0;
  do {
    end = name.find('.', end + 1);
    if (endsAt(end))
      return std::min(end, name.size()) - legacyHashLength;
  } while (end != StringRef::npos);
  return StringRef::npos;
}

NameParts takeApart(StringRef name) {
  NameParts result;
  // Nearly all names are plain, and Microsoft's C++ names have an @, but no suffixes.
  if (headOf(name).size() == name.size() || name.starts_with("?")) {
    result.stem = name;
    return result;
  }
  StringRef suffixes;
  if (size_t hash = findLegacyHash(name); hash != StringRef::npos) {
    result.hash = name.substr(hash, legacyHashLength);
    result.stem = name.take_front(hash);
    suffixes = name.substr(hash + result.hash.size());
  } else {
    size_t end = std::min(name.find('.', 1), name.find('@', 1));
    result.stem = name.take_front(end);
    if (end == StringRef::npos)
      return result;
    suffixes = name.substr(end);
  }
  suffixes = suffixes.take_front(suffixes.find('@'));
  bool followsOwn = false; // behind a part of the name, to which numbers also belong
  while (suffixes.consume_front(".")) {
    auto [word, rest] = suffixes.split('.');
    suffixes = suffixes.drop_front(word.size());
    bool isKnown = true;
    if (uint32_t clone = bitOf(word, cloneSuffixes))
      result.clones |= clone;
    else if (uint32_t part = bitOf(word, partSuffixes))
      result.parts |= part;
    else
      isKnown = is_contained(renamings, word) || (isNumber(word) && !followsOwn);
    followsOwn = !isKnown;
    if (!isKnown && result.hash.empty()) {
      // All up to here is the name.
      result = NameParts();
      result.stem = StringRef(name.data(), word.end() - name.data());
    }
  }
  result.isCold = result.parts & ~enteredParts;
  return result;
}

std::optional<Likeness> compare(const NameParts &wanted, const NameParts &found) {
  if (wanted.hash.empty() != found.hash.empty())
    return std::nullopt;
  if (wanted.parts != found.parts) {
    bool isPartOf = found.parts == 0 || (wanted.parts == 0 && !found.isCold);
    return isPartOf ? std::optional(Likeness::Part) : std::nullopt;
  }
  if (wanted.hash != found.hash)
    return Likeness::Hash;
  return wanted.clones == found.clones ? Likeness::Suffix : Likeness::Clone;
}

} // namespace frontload
