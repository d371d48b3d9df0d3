//===- section_marks.cpp - names that tell a linker where sections go ------===//

#include "plan/section_marks.h"

using namespace llvm;

namespace frontload {

static constexpr char markBegin = '~';
/// Continuation bytes of UTF-8, and all bytes but zero.
static constexpr uint32_t numThird = 64, numFourth = 255;
static constexpr unsigned char firstThird = 0x80, firstFourth = 1;

namespace {
struct Marked {
  Pattern pattern;
  char first, last; ///< the second bytes of its marks
  StringLiteral stem;
};
} // namespace

/// Patterns of many sections have many letters.
static constexpr Marked allMarked[] = {
    {Pattern::Text, 'A', 'T', ".tex"},   {Pattern::NextRodata, 'U', 'Z', ".rod"},
    {Pattern::Rodata, 'a', 'j', ".rod"}, {Pattern::NextText, 'k', 'z', ".tex"},
    {Pattern::Relro, '0', '3', ".dat"},  {Pattern::Data, '4', '6', ".dat"},
    {Pattern::Bss, '7', '9', ".bss"},
};

static const Marked &marked(Pattern pattern) {
  return *llvm::find_if(allMarked, [&](const Marked &m) { return m.pattern == pattern; });
}

std::optional<Mark> markFor(Pattern pattern, uint32_t order) {
  const Marked &m = marked(pattern);
  uint32_t letter = order / (numThird * numFourth);
  if (letter > uint32_t(m.last - m.first))
    return std::nullopt;
  return Mark{markBegin, char(m.first + letter), char(firstThird + order / numFourth % numThird),
              char(firstFourth + order % numFourth)};
}

std::string markGlob(Pattern pattern) {
  const Marked &m = marked(pattern);
  return {markBegin, '[', m.first, '-', m.last, ']', '*'};
}

StringRef markedStem(Pattern pattern) { return marked(pattern).stem; }

std::string withoutMarks(std::string text) {
  for (size_t at = 0; (at = text.find(markBegin, at)) != std::string::npos; ++at) {
    if (text.size() - at < markSize)
      break;
    auto third = static_cast<unsigned char>(text[at + 2]);
    if (third < firstThird || third >= firstThird + numThird)
      continue;
    char letter = text[at + 1];
    auto *m = llvm::find_if(allMarked,
                            [&](const Marked &p) { return letter >= p.first && letter <= p.last; });
    if (m != std::end(allMarked))
      text.replace(at, markSize, m->stem);
  }
  return text;
}

} // namespace frontload
