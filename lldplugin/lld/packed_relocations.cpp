//===- packed_relocations.cpp - when relative relocations can be packed ----===//

#include "lld/packed_relocations.h"
#include "elf/elf_file.h"
#include "program/command_line.h"
#include "program/output_kind.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace frontload;

namespace {
/// The parts of a command line that decide whether relocations are packed.
struct Link {
  std::string sysroot;
  std::vector<std::string> folders;
  /// An input that may be the C library: a path, or the value of an -l.
  struct Input {
    std::string name;
    bool isLibrary, isStatic;
  };
  std::vector<Input> inputs;
  OutputKind kind;
  bool isDecided = false;

  explicit Link(ArrayRef<const char *> args);
  std::string inSysroot(StringRef path) const { return sysroot + "/" + path.ltrim('/').str(); }
  std::string find(StringRef name) const;
  std::string findLibrary(const Input &input) const;
  std::string namedByScript(StringRef script, StringRef text) const;
};
} // namespace

Link::Link(ArrayRef<const char *> args) {
  bool isStatic = false;
  std::vector<bool> saved;
  std::string value;
  for (size_t i = 0; i < args.size(); ++i) {
    StringRef arg = args[i], name = arg.ltrim('-');
    if (!arg.starts_with("-"))
      inputs.push_back({arg.str(), false, false});
    else if (takeLetter(args, i, "-z", value))
      isDecided |= value == "pack-relative-relocs" || value == "nopack-relative-relocs";
    else if (takeOption(args, i, "pack-dyn-relocs", value))
      isDecided = true;
    else if (kind.take(args, i))
      continue;
    else if (is_contained({"Bstatic", "static", "dn", "non_shared"}, name))
      isStatic = true;
    else if (is_contained({"Bdynamic", "dy", "call_shared"}, name))
      isStatic = false;
    else if (name == "push-state")
      saved.push_back(isStatic);
    else if (name == "pop-state" && !saved.empty())
      isStatic = saved.back(), saved.pop_back();
    else if (takeOption(args, i, "sysroot", sysroot))
      continue;
    else if (takeOption(args, i, "library-path", value) || takeLetter(args, i, "-L", value))
      folders.push_back(value);
    else if (takeOption(args, i, "library", value) || takeLetter(args, i, "-l", value))
      inputs.push_back({value, true, isStatic});
    else if (is_contained({"o", "h", "soname"}, name))
      ++i; // the output may be called like the C library
  }
  // A leading = stands for the sysroot, wherever --sysroot is on the command line.
  for (std::string &folder : folders)
    if (StringRef inRoot = folder; inRoot.consume_front("="))
      folder = inSysroot(inRoot);
}

/// The first file of that name in the folders of libraries; empty if there is none.
std::string Link::find(StringRef name) const {
  for (const std::string &folder : folders)
    if (std::string path = folder + "/" + name.str(); sys::fs::exists(path))
      return path;
  return "";
}

/// The file that lld takes for an -l: a shared library before an archive, folder by folder.
std::string Link::findLibrary(const Input &input) const {
  StringRef name = input.name;
  if (name.consume_front(":"))
    return find(name);
  std::string stem = "lib" + name.str();
  for (const std::string &folder : folders)
    for (StringRef suffix : {".so", ".a"})
      if (std::string path = folder + "/" + stem + suffix.str();
          !(input.isStatic && suffix == ".so") && sys::fs::exists(path))
        return path;
  return "";
}

static bool isLibcName(StringRef path) {
  StringRef name = sys::path::filename(path);
  return name == "libc.so" || name.starts_with("libc.so.");
}

/// The C library that the linker script libc.so names; empty if it names none.
std::string Link::namedByScript(StringRef script, StringRef text) const {
  SmallVector<StringRef, 0> tokens;
  SplitString(text, tokens, " \t\n\r(),\"");
  for (StringRef token : tokens) {
    if (!isLibcName(token))
      continue;
    if (token.consume_front("="))
      return inSysroot(token);
    if (sys::path::is_absolute(token))
      return !sysroot.empty() && script.starts_with(sysroot) ? inSysroot(token) : token.str();
    std::string sibling = (sys::path::parent_path(script) + "/" + token).str();
    return sys::fs::exists(sibling) ? sibling : find(token);
  }
  return "";
}

/// Whether the shared library in `bytes` defines a version of symbols.
static bool definesVersion(StringRef bytes, StringRef version) {
  bool result = false;
  consumeError(withElfFile(bytes, [&](const auto &file) -> Error {
    auto sections = file.sections();
    if (!sections)
      return sections.takeError();
    for (const auto &section : *sections) {
      if (section.sh_type != ELF::SHT_GNU_verdef || result)
        continue;
      auto versions = file.getVersionDefinitions(section);
      if (!versions)
        return versions.takeError();
      result = any_of(*versions, [&](const auto &defined) { return defined.Name == version; });
    }
    return Error::success();
  }));
  return result;
}

bool frontload::shouldPackRelativeRelocations(ArrayRef<const char *> args) {
  Link link(args.drop_front());
  if (link.isDecided || !link.kind.isRelocated())
    return false;
  for (const Link::Input &input : link.inputs) {
    if (input.isLibrary ? input.name != "c" && !StringRef(input.name).starts_with(":libc.so")
                        : !isLibcName(input.name))
      continue;
    std::string path = input.isLibrary ? link.findLibrary(input) : input.name;
    auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (file && isLibcName(path) && !(*file)->getBuffer().starts_with(ELF::ElfMagic))
      file = MemoryBuffer::getFile(link.namedByScript(path, (*file)->getBuffer()), false, false);
    return file && definesVersion((*file)->getBuffer(), "GLIBC_ABI_DT_RELR");
  }
  return false;
}
