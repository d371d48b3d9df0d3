//===- front_script.cpp - the linker script that lays out a front ----------===//

#include "front_script.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace frontload {

StringRef startupPattern(SectionClass c) {
  static constexpr StringLiteral patterns[numSectionClasses] = {
      "<startup rodata>", "<startup text>", "<startup relro>", "<startup data>", "<startup bss>"};
  return patterns[static_cast<unsigned>(c)];
}

/// Assignments of the current address to those edge symbols that are needed and end in `stem`.
static std::string assignEdges(const EdgeSymbols &edges, StringRef stem) {
  std::string result;
  for (unsigned i = 0; i < numEdgeSymbols; ++i)
    if (edges.isNeeded(i) && (edgeSymbols[i] == stem || edgeSymbols[i].drop_front(1) == stem))
      result += (" HIDDEN(" + Twine(edgeSymbols[i]) + " = .);").str();
  return result;
}

std::string frontScript(const ClassSet &classes, const EdgeSymbols &edges) {
  std::string text;
  raw_string_ostream os(text);
  auto section = [&](SectionClass c, StringRef name) {
    if (classes[static_cast<unsigned>(c)])
      os << "  " << name << " : { *(SORT_BY_INIT_PRIORITY(\"" << startupPattern(c) << "\")) }\n";
  };
  os << "OVERWRITE_SECTIONS {\n";
  section(SectionClass::Rodata, frontRodataSection);
  section(SectionClass::Text, frontTextSection);
  // lld adds the rest of these behind. Relocation touches nearly all of .data.rel.ro at startup,
  // and .data is small, so the front holds them whole.
  section(SectionClass::Relro, ".data.rel.ro");
  section(SectionClass::Data, ".data");
  // A symbol that marks the end of a section needs its contents listed before it.
  std::string dataEnd = assignEdges(edges, "edata"), end = assignEdges(edges, "end");
  os << "  .bss : {" << dataEnd;
  if (!end.empty())
    os << " *(.dynbss .bss .bss.* COMMON)" << end;
  os << " }\n"
        "}\n"
        "SECTIONS {\n"
        "  .text : {";
  std::string textEnd = assignEdges(edges, "etext");
  if (!textEnd.empty())
    os << " *(.text .text.*)" << textEnd;
  os << " }\n"
        "  .rodata : { }\n"
        // .eh_frame_hdr is searched by unsigned offsets from itself to the code, so it must not lie
        // between the code of the front and the rest.
        "  .gcc_except_table : { }\n"
        "  .eh_frame_hdr : { }\n"
        "  .eh_frame : { }\n"
        "} INSERT AFTER .bss;\n";
  return text;
}

} // namespace frontload
