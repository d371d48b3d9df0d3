// The contents of the linker's input files.
#include "gold/gold_inputs.h"
#include "frontload_or_empty.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/Archive.h"
#include <unistd.h>

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// The names of an archive's members, by where their contents begin. The linker refuses a damaged
/// archive.
static std::map<uint64_t, std::string> memberNames(MemoryBufferRef file) {
  std::map<uint64_t, std::string> names;
  Error error = Error::success();
  Archive archive(file, error);
  if (!error)
    for (const Archive::Child &child : archive.children(error, /*SkipInternal=*/true)) {
      StringRef name = orEmpty(child.getName()), contents = orEmpty(child.getBuffer());
      if (!name.empty() && contents.data())
        names[contents.data() - file.getBufferStart()] = name;
    }
  consumeError(std::move(error));
  return names;
}

GoldInputs::Mapped *GoldInputs::map(const ld_plugin_input_file &file) {
  sys::fs::file_status status;
  if (sys::fs::status(file.fd, status) || status.getSize() == 0)
    return nullptr;
  auto [it, isNew] = files.try_emplace(status.getUniqueID());
  Mapped &mapped = it->second;
  if (isNew) {
    std::error_code error;
    mapped.path = file.name;
    mapped.region = sys::fs::mapped_file_region(sys::fs::convertFDToNativeFile(file.fd),
                                                sys::fs::mapped_file_region::readonly,
                                                status.getSize(), 0, error);
    if (error)
      return nullptr;
    StringRef bytes(mapped.region.const_data(), mapped.region.size());
    if (identify_magic(bytes) == file_magic::archive)
      mapped.members = memberNames({bytes, mapped.path});
  }
  return mapped.region ? &mapped : nullptr;
}

bool GoldInputs::isElf(const ld_plugin_input_file &file) {
  char begin[4] = {};
  return pread(file.fd, begin, sizeof begin, file.offset) == sizeof begin &&
         StringRef(begin, sizeof begin) == ELF::ElfMagic;
}

std::optional<InputObject> GoldInputs::open(const ld_plugin_input_file &file) {
  Mapped *mapped = map(file);
  uint64_t size = mapped ? mapped->region.size() : 0;
  uint64_t offset = file.offset, length = file.filesize;
  if (offset > size || length > size - offset)
    return std::nullopt;
  StringRef bytes(mapped->region.const_data() + offset, length);
  if (identify_magic(bytes) != file_magic::elf_relocatable)
    return std::nullopt;
  auto member = mapped->members.find(offset);
  if (member == mapped->members.end())
    return InputObject{{bytes, mapped->path}, {}};
  return InputObject{{bytes, member->second}, mapped->path};
}

} // namespace frontload
