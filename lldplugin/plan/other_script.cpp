//===- other_script.cpp - what linker scripts of others say ----------------===//

#include "plan/other_script.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <optional>

using namespace llvm;

namespace frontload {

namespace {
/// The words of a linker script, as far as it takes to tell keywords from the names of files,
/// sections and symbols.
class ScriptWords {
public:
  struct Word {
    StringRef text;
    bool isQuoted; ///< it is a name then, never a keyword
  };

  explicit ScriptWords(StringRef script) : rest(script) {}
  /// The next word; none at the end of the script.
  std::optional<Word> next();

private:
  StringRef rest;

  void skipBlanks();
  StringRef takeWord();
};
} // namespace

static bool isNameChar(char c) { return isAlnum(c) || c == '_' || c == '.' || c == '$'; }

/// Skips white space and comments.
void ScriptWords::skipBlanks() {
  for (;;) {
    rest = rest.ltrim(" \t\n\r\v\f");
    if (rest.starts_with("/*")) {
      size_t end = rest.find("*/", 2);
      rest = end == StringRef::npos ? "" : rest.substr(end + 2);
    } else if (rest.starts_with("#")) {
      rest = rest.drop_until([](char c) { return c == '\n'; });
    } else {
      return;
    }
  }
}

/// A name, or a path whose parts are names: SECTIONS is no keyword in one. Empty for anything else.
StringRef ScriptWords::takeWord() {
  size_t length = 0;
  auto isNameAt = [&](size_t i) { return i < rest.size() && isNameChar(rest[i]); };
  while (isNameAt(length) ||
         (length < rest.size() && StringRef("/-~+").contains(rest[length]) && isNameAt(length + 1)))
    ++length;
  StringRef word = rest.take_front(length);
  rest = rest.drop_front(length);
  return word;
}

std::optional<ScriptWords::Word> ScriptWords::next() {
  for (skipBlanks(); !rest.empty(); skipBlanks()) {
    if (rest.consume_front("\"")) {
      auto [text, behind] = rest.split('"');
      rest = behind;
      return Word{text, true};
    }
    if (StringRef word = takeWord(); !word.empty())
      return Word{word, false};
    rest = rest.drop_front();
  }
  return std::nullopt;
}

bool decidesLayout(StringRef script) {
  ScriptWords words(script);
  while (auto word = words.next())
    if (!word->isQuoted &&
        is_contained({"SECTIONS", "OVERWRITE_SECTIONS", "MEMORY", "PHDRS"}, word->text))
      return true;
  return false;
}

} // namespace frontload
