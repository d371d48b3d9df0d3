//===- section_marks.h - names that tell a linker where sections go --------===//
//
// Even a linker without hooks matches and sorts sections by their names. So each startup section
// gets a mark: its pattern and its place in first-touch order overwrite the first bytes of its
// name, and a script matches and sorts by them. No name gets longer, so a mark fits into an object,
// or into a member of an archive, without moving anything.
//
// A mark is `~`, a letter or digit that tells the pattern, a byte that never follows one in UTF-8
// text, and any byte but zero. So marks can be told from anything else a linker writes, and its
// messages and maps can get the names back.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "plan/front_script.h"
#include <array>
#include <optional>
#include <string>

namespace frontload {

constexpr size_t markSize = 4; // as long as the shortest name, .bss
using Mark = std::array<char, markSize>;

/// The mark of the section that is number `order` (from 0) in `pattern`, which is not Strings. None
/// if there are too many. Marks of a pattern sort by their bytes in ascending order.
std::optional<Mark> markFor(Pattern pattern, uint32_t order);

/// A glob that fits names with a mark of `pattern`, and no others.
std::string markGlob(Pattern pattern);

/// The beginning that all unmarked names of a pattern's sections share.
llvm::StringRef markedStem(Pattern pattern);

/// The text of a linker, with the unmarked names of sections.
std::string withoutMarks(std::string text);

} // namespace frontload
