// The linker script that lays out a front.
#include "plan/front_script.h"
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
static std::string inputsOf(Pattern pattern) {
  std::string text = ("\"" + textOf(pattern) + "\"").str();
  return pattern == Pattern::Strings ? text : "SORT_BY_INIT_PRIORITY(" + text + ")";
}

std::string frontScript(const PatternSet &patterns, uint64_t codeAlign, bool copiesConstants,
                        bool dataIsFirst, bool prefetches) {
  std::string text;
  raw_string_ostream os(text);
  // lld adds sections without a place to the last list of an output section, and orders each list
  // by itself (PGO), so sections in first-touch order have a list of their own.
  StringRef rest = " *()";
  auto uses = [&](Pattern pattern) { return patterns[static_cast<unsigned>(pattern)]; };
  auto list = [&](Pattern pattern) {
    return uses(pattern) ? " *(" + inputsOf(pattern) + ")" : std::string();
  };
  // A section that is there in any case.
  auto placed = [&](StringRef name, Pattern pattern) {
    os << "  " << name << " : {" << list(pattern) << (uses(pattern) ? rest : "") << " }\n";
  };
  auto section = [&](StringRef name, Pattern pattern) {
    if (uses(pattern))
      placed(name, pattern);
  };
  os << "OVERWRITE_SECTIONS {\n";
  // The loader reads .dynamic, the names of the needed libraries and of their versions, and how
  // large its table of hashes is, before anything can be prefetched. With the headers the kernel
  // has read the next few pages, so data comes before other constants. Relocation touches nearly
  // all of .data.rel.ro; the rest of it is at the end.
  // If these are four pages and .dynamic is the fifth, a program that prefetches has the name of
  // the loader, which the kernel also reads, in the second page: the kernel has marked that, and
  // reads eight pages more. The fifth is marked then, with the three behind it if they are one
  // folio. It may be touched first, so the names of libraries, the end of .dynstr, are there, and
  // .dynamic lies behind the folio. (Without a prefetch, 6.12 on xfs then has 19 faults instead
  // of 15.)
  auto ifFour = [&](StringRef address) {
    return (" (CONSTANT(MAXPAGESIZE) == 0x1000 && SIZEOF(.gnu.version_r) > 0 && SIZEOF_HEADERS + "
            "SIZEOF(.dynstr) + SIZEOF(.gnu.hash) + SIZEOF(.hash) + SIZEOF(.gnu.version_r) > 0x3000 "
            "&& SIZEOF(.dynstr) + SIZEOF(.gnu.hash) + SIZEOF(.hash) < 0x3e00 ? " +
            address + " : .)")
        .str();
  };
  if (prefetches)
    os << "  .interp" << ifFour("0x1000") << " : { }\n";
  for (StringRef name : {".dynstr", ".gnu.hash", ".hash"})
    os << "  " << name << " : { }\n";
  os << "  .gnu.version_r" << (prefetches ? ifFour("0x8000 - SIZEOF(.gnu.version_r)") : "")
     << " : { }\n";
  auto constants = [&] {
    for (StringRef name :
         {".gnu.version", ".dynsym", ".rela.dyn", ".rel.dyn", ".relr.dyn", ".rela.plt", ".rel.plt"})
      os << "  " << name << " : { }\n";
    section(frontRodataSection, Pattern::Rodata);
    section(stringsSection, Pattern::Strings);
  };
  if (!dataIsFirst)
    constants();
  for (StringRef name : {".dynamic", ".preinit_array", ".init_array", ".fini_array", ".got"})
    os << "  " << name << " : { }\n";
  section(frontDataSection, Pattern::Data);
  placed(".bss", Pattern::Bss);
  // Constants that the loader copies out of shared libraries have a section without contents,
  // .bss.rel.ro. The next section in memory would be nearer to it in the file; as a part of a
  // section with contents, which the note's object sees to, .bss.rel.ro is in the file as well.
  os << "  .data.rel.ro : {" << list(Pattern::Relro);
  if (copiesConstants)
    os << " *(.bss.rel.ro)";
  os << (uses(Pattern::Relro) ? rest : "") << " }\n";
  os << "}\n";
  os << "SECTIONS {\n";
  if (dataIsFirst)
    constants();
  for (StringRef name : {".init", ".fini", ".plt", ".iplt"})
    os << "  " << name << " : { }\n";
  // All code is one section, as valgrind looks up lines in .text only. Sections that have no place
  // yet come to its end as well.
  os << "  .text :";
  if (codeAlign)
    os << " ALIGN(" << codeAlign << ")";
  os << " {" << list(Pattern::Text) << " HIDDEN(" << frontCodeSymbol << " = ADDR(.text) - .);"
     << list(Pattern::NextText) << (uses(Pattern::NextText) ? rest : "") << " }\n";
  // With -z keep-text-section-prefix, as PGO builds have it, lld gives each kind of code an output
  // section of its own. Without a place here, lld would put them where it finds the first code: in
  // the front.
  for (StringRef kind : codeKinds)
    os << "  .text." << kind << " : { }\n";
  placed(".rodata", Pattern::NextRodata);
  // .eh_frame_hdr is searched by unsigned offsets from itself to the code, so it must not lie
  // between the code of the front and the rest.
  os << "  .gcc_except_table : { }\n"
        "  .eh_frame_hdr : { }\n"
        "  .eh_frame : { }\n";
  // The kernel clears the rest of a page behind the file's contents; here there is no rest.
  os << "  .data : { }\n  " << paddingSection << " : { QUAD(0 - " << frontCodeSymbol
     << ") . = ALIGN(CONSTANT(MAXPAGESIZE)); }\n";
  os << "} INSERT BEFORE .bss;\n";
  return text;
}

std::string symbolsScript() {
  std::string text;
  raw_string_ostream os(text);
  // lld derives _end and _edata from the last segments of the file, as programs expect, but etext
  // from the last read-only segment, which holds constants here.
  for (StringRef prefix : {"", "_"}) {
    os << "PROVIDE(" << prefix << "etext = ADDR(.text) + SIZEOF(.text)";
    // ADDR() makes even an empty section exist, SIZEOF() does not. The sum lacks the alignment
    // between sections.
    for (StringRef kind : codeKinds)
      os << " + SIZEOF(.text." << kind << ")";
    os << ");\n";
  }
  // .text gives it its value. Here it gets a place in the symbol table that does not depend on when
  // lld reads the rest of the script.
  os << "HIDDEN(" << frontCodeSymbol << " = " << frontCodeSymbol << ");\n";
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
