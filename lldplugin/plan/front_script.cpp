//===- front_script.cpp - the linker script that lays out a front ----------===//

#include "plan/front_script.h"
#include "plan/section_marks.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace frontload {

StringRef textOf(Pattern pattern) {
  static constexpr StringLiteral texts[numPatterns] = {
      "<startup rodata>", "<startup text>",    "<startup relro>", "<startup data>",
      "<startup bss>",    "<startup strings>", "<next text>",     "<next rodata>"};
  return texts[static_cast<unsigned>(pattern)];
}

/// The input sections of a pattern, in the words of a linker script.
static std::string inputsOf(Pattern pattern, Selection selection) {
  if (selection == Selection::ByAnswer) {
    std::string text = ("\"" + textOf(pattern) + "\"").str();
    return pattern == Pattern::Strings ? text : "SORT_BY_INIT_PRIORITY(" + text + ")";
  }
  // The same as isStringSection() says.
  return pattern == Pattern::Strings ? ".rodata.str1.1 .rodata.*.str1.1"
                                     : "SORT_BY_NAME(" + markGlob(pattern) + ")";
}

std::string frontScript(const PatternSet &patterns, Selection selection) {
  std::string text;
  raw_string_ostream os(text);
  auto section = [&](StringRef name, Pattern pattern) {
    if (patterns[static_cast<unsigned>(pattern)])
      os << "  " << name << " : { *(" << inputsOf(pattern, selection) << ") }\n";
  };
  os << "OVERWRITE_SECTIONS {\n";
  // The loader reads the names of the needed libraries before anything can be prefetched; with the
  // headers the kernel has read the next few pages.
  for (StringRef name : {".dynstr", ".gnu.hash", ".hash", ".gnu.version_r", ".gnu.version",
                         ".dynsym", ".rela.dyn", ".rel.dyn", ".relr.dyn", ".rela.plt", ".rel.plt"})
    os << "  " << name << " : { }\n";
  section(frontRodataSection, Pattern::Rodata);
  section(frontTextSection, Pattern::Text);
  // lld adds the rest of these behind. Relocation touches nearly all of .data.rel.ro at startup,
  // and .data is small, so the front holds them whole.
  section(".data.rel.ro", Pattern::Relro);
  // Behind these two the kernel clears the rest of a page when it loads the program, so what the
  // loader reads first is best near to it.
  os << "  .dynamic : { }\n"
        "  .got : { }\n";
  section(".data", Pattern::Data);
  if (patterns[static_cast<unsigned>(Pattern::Bss)])
    section(".bss", Pattern::Bss);
  else
    os << "  .bss : { }\n";
  os << "}\n"
        "SECTIONS {\n";
  section(stringsSection, Pattern::Strings);
  // And to these all that has no place yet.
  section(".text", Pattern::NextText);
  // With -z keep-text-section-prefix, as PGO builds have it, lld gives each kind of code an output
  // section of its own. It takes the code that it finds first, that of the front, for their place:
  // all cold code would be there.
  static constexpr StringLiteral kinds[] = {"hot",  "unknown",  "startup",
                                            "exit", "unlikely", "split"};
  for (StringRef kind : kinds)
    os << "  .text." << kind << " : { }\n";
  section(".rodata", Pattern::NextRodata);
  // .eh_frame_hdr is searched by unsigned offsets from itself to the code, so it must not lie
  // between the code of the front and the rest.
  os << "  .gcc_except_table : { }\n"
        "  .eh_frame_hdr : { }\n"
        "  .eh_frame : { }\n"
        "} INSERT AFTER .bss;\n";
  // lld derives these from the last segments of the file, which are not those that programs mean:
  // garbage collectors scan the data up to _end.
  for (StringRef prefix : {"", "_"}) {
    os << "PROVIDE(" << prefix << "end = ADDR(.bss) + SIZEOF(.bss));\n"
       << "PROVIDE(" << prefix << "edata = ADDR(.bss));\n"
       << "PROVIDE(" << prefix << "etext = ADDR(.text) + SIZEOF(.text)";
    // Whose address is asked for is there, even if it is empty; of its size that is not true. What
    // lies between two of them for alignment is not in the sum.
    for (StringRef kind : kinds)
      os << " + SIZEOF(.text." << kind << ")";
    os << ");\n";
  }
  return text;
}

} // namespace frontload
