// What linker scripts of others say.
#include "plan/other_script.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace llvm;

namespace frontload {

static bool isNameChar(char c) { return isAlnum(c) || c == '_' || c == '.' || c == '$'; }

/// The size of the name that a text begins with, or of the path whose parts are names: SECTIONS is
/// no keyword in one.
static size_t sizeOfWord(StringRef text) {
  size_t size = 0;
  auto isNameAt = [&](size_t i) { return i < text.size() && isNameChar(text[i]); };
  while (isNameAt(size) || (isNameAt(size + 1) && StringRef("/-~+").contains(text[size])))
    ++size;
  return size;
}

bool decidesLayout(StringRef script) {
  while (!script.empty()) {
    if (script.consume_front("/*")) {
      script = script.split("*/").second;
    } else if (script.consume_front("#")) {
      script = script.split('\n').second;
    } else if (script.consume_front("\"")) { // a name, never a keyword
      script = script.split('"').second;
    } else {
      StringRef word = script.take_front(sizeOfWord(script));
      if (is_contained({"SECTIONS", "OVERWRITE_SECTIONS", "MEMORY", "PHDRS"}, word))
        return true;
      script = script.drop_front(std::max(word.size(), size_t{1}));
    }
  }
  return false;
}

} // namespace frontload
