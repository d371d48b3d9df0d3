// Makes the copy, and the links around it.
#include "debug_free_copy.h"

#include "llvm/Object/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <filesystem>
#include <unistd.h>

using namespace llvm;
using namespace llvm::object;
using namespace frontload;
namespace fs = std::filesystem;

using Elf = ELF64LE;

/// Where in the file the names of its debug sections are referred to.
static Expected<std::vector<uint64_t>> debugSectionNames(StringRef path) {
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return errorCodeToError(file.getError());
  auto elf = ELFFile<Elf>::create((*file)->getBuffer());
  if (!elf)
    return elf.takeError();
  auto sections = elf->sections();
  if (!sections)
    return sections.takeError();
  std::vector<uint64_t> places;
  for (const Elf::Shdr &section : *sections) {
    auto name = elf->getSectionName(section);
    if (!name)
      return name.takeError();
    if (name->starts_with(".debug_") || name->starts_with(".zdebug_") ||
        name->starts_with(".gnu_debug")) // links to other files with debug info
      places.push_back(reinterpret_cast<const char *>(&section.sh_name) -
                       (*file)->getBufferStart());
  }
  return places;
}

/// Links to everything in the folder `from`, except `name`.
static void linkEntries(const fs::path &from, const fs::path &to, const fs::path &name) {
  std::error_code ignored; // what cannot be seen there cannot be linked either
  for (const fs::directory_entry &entry : fs::directory_iterator(from, ignored))
    if (entry.path().filename() != name)
      fs::create_symlink(entry.path(), to / entry.path().filename(), ignored);
}

static Error cannotCopy(const fs::path &path, std::error_code code) {
  return createStringError(code, path.string() +
                                     ": cannot make a copy without debug info: " + code.message());
}

Expected<std::string> frontload::copyWithoutDebugInfo(StringRef program, StringRef calledAs,
                                                      const std::string &folder) {
  auto places = debugSectionNames(program);
  if (!places)
    return places.takeError();
  if (places->empty())
    return "";

  fs::path original(program.str()), name = fs::path(calledAs.str()).filename();
  fs::path home = original.parent_path();
  fs::path newHome = fs::path(folder) / home.filename(), copy = newHome / name;
  std::error_code code;
  if (!fs::create_directories(newHome, code))
    return cannotCopy(newHome, code);
  linkEntries(home, newHome, name);
  if (home.has_filename())
    linkEntries(home.parent_path(), folder, home.filename());
  if (!fs::copy_file(original, copy, code))
    return cannotCopy(copy, code);
  fs::permissions(copy, fs::perms::owner_write, fs::perm_options::add, code);
  int file = -1;
  if ((code = sys::fs::openFileForWrite(copy.string(), file, sys::fs::CD_OpenExisting)))
    return cannotCopy(copy, code);
  bool isWritten = true;
  for (uint64_t place : *places) {
    Elf::Word noName = {};
    isWritten &= pwrite(file, &noName, sizeof noName, place) == sizeof noName;
  }
  if (close(file) != 0 || !isWritten)
    return cannotCopy(copy, std::error_code(errno, std::generic_category()));
  return copy.string();
}
