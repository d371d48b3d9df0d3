//===- lld_program.cpp - an lld other than the built-in one ----------------===//

#include "other_lld/lld_program.h"
#include "elf/elf_file.h"
#include "other_lld/child_process.h"
#include "program/diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// The first lld with OVERWRITE_SECTIONS.
static constexpr unsigned minLldVersion = 13;

namespace {
/// How a program is loaded, by its file.
struct ProgramFile {
  uint16_t machine = 0;
  uint8_t elfClass = 0;
  std::string loader; ///< empty if it is linked statically
  StringHash hash = nullptr;
};
} // namespace

static uint64_t xxh3(StringRef contents) { return xxh3_64bits(contents); }
static uint64_t xxh64(StringRef contents) { return xxHash64(contents); }
/// Up to lld 14: with the byte that ends the string.
static uint64_t xxh64WithEnd(StringRef contents) {
  return xxHash64((contents + Twine('\0')).str());
}

template <class ELFT> static Error lookInto(const ELFFile<ELFT> &elf, ProgramFile &result) {
  result.machine = elf.getHeader().e_machine;
  result.elfClass = elf.getHeader().e_ident[ELF::EI_CLASS];
  StringRef bytes(reinterpret_cast<const char *>(elf.base()), elf.getBufSize());
  auto headers = elf.program_headers();
  if (!headers)
    return headers.takeError();
  for (const auto &header : *headers)
    if (header.p_type == ELF::PT_INTERP)
      result.loader = bytes.substr(header.p_offset, header.p_filesz).rtrim('\0').str();
  auto sections = elf.sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    if (section.sh_type != ELF::SHT_DYNSYM)
      continue;
    auto symbols = elf.symbols(&section);
    if (!symbols)
      return symbols.takeError();
    auto names = elf.getStringTableForSymtab(section);
    if (!names)
      return names.takeError();
    for (const auto &symbol : *symbols) {
      if (symbol.st_shndx != ELF::SHN_UNDEF || symbol.st_name >= names->size())
        continue;
      StringRef name(names->data() + symbol.st_name);
      if (name == "_ZN4llvm11xxh3_64bitsENS_8ArrayRefIhEE")
        result.hash = xxh3;
      else if (name == "_ZN4llvm8xxHash64ENS_9StringRefE")
        result.hash = xxh64;
    }
  }
  return Error::success();
}

/// None if it is no ELF file, such as a script that starts one. Of a damaged file, the readable
/// part.
static std::optional<ProgramFile> lookInto(StringRef path) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  std::optional<ProgramFile> result;
  if (file)
    consumeError(withElfFile((*file)->getBuffer(),
                             [&](const auto &elf) { return lookInto(elf, result.emplace()); }));
  return result;
}

/// Whether our library can be loaded into `program`; says why not.
static bool canPreload(const std::string &path, const ProgramFile &program) {
  std::optional<ProgramFile> self = lookInto("/proc/self/exe");
  if (!self)
    return true; // LinkPlan::unserved() finds out after the link
  if (program.machine != self->machine || program.elfClass != self->elfClass) {
    error("--lld=" + path + ": it is built for another architecture than ld.frontload",
          "give an lld that is built for this machine; it also links for all others");
    return false;
  }
  if (program.loader.empty()) {
    error("--lld=" + path + ": it is linked statically, so nothing can be preloaded into it",
          "give an lld that is linked dynamically, or leave out --lld");
    return false;
  }
  if (sys::path::filename(program.loader) != sys::path::filename(self->loader)) {
    error("--lld=" + path + ": it is loaded by " + program.loader + ", ld.frontload by " +
              self->loader,
          "give an lld that is linked against the same C library, or leave out --lld");
    return false;
  }
  return true;
}

/// Asks the program for its version, as an ELF linker and as a generic one.
static bool askVersion(LldProgram &program) {
  std::string answer;
  for (std::vector<std::string> flavor :
       {std::vector<std::string>(), std::vector<std::string>{"-flavor", "gnu"}}) {
    Expected<Finished> finished = runProgram({program.path, flavor, {"--version"}});
    if (!finished) {
      error("--lld=" + toString(finished.takeError()), "give the path of an ld.lld");
      return false;
    }
    StringRef output = finished->output;
    if (answer.empty())
      answer = (output.empty() ? StringRef(finished->errors) : output).split('\n').first.str();
    size_t at = output.find("LLD ");
    if (finished->exitCode == 0 && at != StringRef::npos &&
        !output.substr(at + 4).consumeInteger(10, program.version)) {
      program.flavor = flavor;
      return true;
    }
  }
  error("--lld=" + program.path + ": it is not an lld" +
            (answer.empty() ? "" : ": it says '" + answer + "'"),
        "give the path of an ld.lld, lld or rust-lld; other linkers need 'frontload order'");
  return false;
}

std::optional<LldProgram> findLld(const std::string &name) {
  if (name.empty()) {
    error("--lld: has no value", "give the path of an ld.lld, or leave out --lld");
    return std::nullopt;
  }
  LldProgram program;
  ErrorOr<std::string> found = name;
  bool isInPath = name.find('/') == std::string::npos;
  if (isInPath)
    found = sys::findProgramByName(name);
  else if (!sys::fs::can_execute(name) || sys::fs::is_directory(name))
    found = sys::fs::exists(name) ? make_error_code(std::errc::permission_denied)
                                  : make_error_code(std::errc::no_such_file_or_directory);
  if (!found) {
    error("--lld=" + name + ": " + found.getError().message() + (isInPath ? " in PATH" : ""),
          "give the path of an ld.lld, or leave out --lld for the built-in one");
    return std::nullopt;
  }
  program.path = *found;
  if (std::optional<ProgramFile> file = lookInto(program.path)) {
    if (!canPreload(program.path, *file))
      return std::nullopt;
    program.hash = file->hash;
  }
  if (!askVersion(program))
    return std::nullopt;
  if (program.version < minLldVersion) {
    error("--lld=" + program.path + ": lld " + Twine(program.version) + " cannot lay out a front",
          "give lld " + Twine(minLldVersion) + " or newer, or leave out --lld");
    return std::nullopt;
  }
  if (program.hash == xxh64 && program.version < 15)
    program.hash = xxh64WithEnd;
  return program;
}

} // namespace frontload
