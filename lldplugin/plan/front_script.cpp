//===- front_script.cpp - the linker script that lays out a front ----------===//

#include "plan/front_script.h"
#include "plan/section_marks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace frontload {

StringRef textOf(Pattern pattern) {
  static constexpr StringLiteral texts[numPatterns] = {
      "<startup rodata>", "<startup text>",    "<startup relro>", "<startup data>",
      "<startup bss>",    "<startup strings>", "<next text>",     "<next rodata>"};
  return texts[static_cast<unsigned>(pattern)];
}

std::vector<std::string> OutputsBehind::all() const {
  std::vector<std::string> result;
  for (const auto *some : {&code, &constants, &data, &zeros, &unmoved})
    llvm::append_range(result, *some);
  return result;
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

static bool isCode(Pattern pattern) {
  return pattern == Pattern::Text || pattern == Pattern::NextText;
}

std::string frontScript(const PatternSet &patterns, Selection selection,
                        const ScriptTraits &traits) {
  std::string text;
  raw_string_ostream os(text);
  // lld adds what has no place yet to the last list of an output section, and orders each list by
  // itself (PGO), so what has its place in first-touch order is in another one.
  StringRef rest = selection == Selection::ByAnswer ? " *()" : "";
  std::string align =
      traits.codeAlign ? " : ALIGN(" + std::to_string(traits.codeAlign) + ") " : " : ";
  auto section = [&](StringRef name, Pattern pattern) {
    if (patterns[static_cast<unsigned>(pattern)])
      os << "  " << name << (isCode(pattern) ? align : " : ") << "{ *("
         << inputsOf(pattern, selection) << ")" << rest << " }\n";
  };
  // One that is there in any case.
  auto placed = [&](StringRef name, Pattern pattern) {
    if (patterns[static_cast<unsigned>(pattern)])
      section(name, pattern);
    else
      os << "  " << name << (isCode(pattern) ? align : " : ") << "{ }\n";
  };
  os << "OVERWRITE_SECTIONS {\n";
  // The loader reads .dynamic, the names of the needed libraries and of their versions, and how
  // large its table of hashes is, before anything can be prefetched. With the headers the kernel
  // has read the next few pages, so data comes before what else is constant. Relocation touches
  // nearly all of .data.rel.ro; what it leaves alone is at the end.
  for (StringRef name : {".dynstr", ".gnu.hash", ".hash", ".gnu.version_r"})
    os << "  " << name << " : { }\n";
  auto constants = [&] {
    for (StringRef name :
         {".gnu.version", ".dynsym", ".rela.dyn", ".rel.dyn", ".relr.dyn", ".rela.plt", ".rel.plt"})
      os << "  " << name << " : { }\n";
    section(frontRodataSection, Pattern::Rodata);
    for (StringRef name : {".init", ".fini", ".plt", ".iplt"})
      os << "  " << name << " : { }\n";
    section(frontTextSection, Pattern::Text);
  };
  if (!traits.dataIsFirst)
    constants();
  for (StringRef name : {".dynamic", ".preinit_array", ".init_array", ".fini_array", ".got"})
    os << "  " << name << " : { }\n";
  section(frontDataSection, Pattern::Data);
  placed(".bss", Pattern::Bss);
  // Behind these in the script, not in the file: only once the first of our own patterns was asked
  // for all sections, lld goes through few (lld/section_list.h).
  // Constants of shared libraries that the program has copied by the loader have a section without
  // contents, .bss.rel.ro. What follows it in memory would be nearer to it in the file; as a part
  // of a section with contents, which the note's object sees to, it is in the file as well.
  os << "  .data.rel.ro : {";
  bool hasRelro = patterns[static_cast<unsigned>(Pattern::Relro)];
  if (hasRelro)
    os << " *(" << inputsOf(Pattern::Relro, selection) << ")";
  if (traits.copiesConstants)
    os << " *(.bss.rel.ro)";
  os << (hasRelro ? rest : "") << " }\n";
  os << "}\n";
  os << "SECTIONS {\n";
  if (traits.dataIsFirst)
    constants();
  section(stringsSection, Pattern::Strings);
  // And to these all that has no place yet.
  placed(".text", Pattern::NextText);
  // With -z keep-text-section-prefix, as PGO builds have it, lld gives each kind of code an output
  // section of its own. It takes the code that it finds first, that of the front, for their place:
  // all cold code would be there.
  for (StringRef kind : codeKinds)
    os << "  .text." << kind << " : { }\n";
  placed(".rodata", Pattern::NextRodata);
  // .eh_frame_hdr is searched by unsigned offsets from itself to the code, so it must not lie
  // between the code of the front and the rest.
  os << "  .gcc_except_table : { }\n"
        "  .eh_frame_hdr : { }\n"
        "  .eh_frame : { }\n";
  // The kernel clears the rest of a page behind what is in the file; here there is none.
  os << "  .data : { }\n"
        "  .data.padding : { BYTE(0) . = ALIGN(CONSTANT(MAXPAGESIZE)); }\n";
  os << "} INSERT BEFORE .bss;\n";
  return text;
}

std::string symbolsScript() {
  std::string text;
  raw_string_ostream os(text);
  // lld derives _end and _edata from the last segments of the file, which are those that programs
  // mean, and this from the last one that cannot be written to, which holds constants here.
  for (StringRef prefix : {"", "_"}) {
    os << "PROVIDE(" << prefix << "etext = ADDR(.text) + SIZEOF(.text)";
    // Whose address is asked for is there, even if it is empty; of its size that is not true. What
    // lies between two of them for alignment is not in the sum.
    for (StringRef kind : codeKinds)
      os << " + SIZEOF(.text." << kind << ")";
    os << ");\n";
  }
  return text;
}

std::string behindScript(const OutputsBehind &behind) {
  std::string text;
  raw_string_ostream os(text);
  auto insert = [&](ArrayRef<std::string> names, StringRef place) {
    if (names.empty())
      return;
    os << "SECTIONS {\n";
    for (StringRef name : names)
      os << "  \"" << name << "\" : { }\n";
    os << "} INSERT " << place << ";\n";
  };
  // Sections that frontScript() always has.
  insert(behind.code, "AFTER .text.split");
  insert(behind.constants, "AFTER .eh_frame");
  insert(behind.data, "BEFORE .data");
  insert(behind.zeros, "AFTER .data.padding");
  return text;
}

} // namespace frontload
