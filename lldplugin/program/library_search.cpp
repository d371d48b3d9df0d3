// Where a link finds its libraries.
#include "program/library_search.h"
#include "program/command_line.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace frontload {

Expected<std::string> findOwnLibrary(StringRef name) {
  std::string self = sys::fs::getMainExecutable(nullptr, nullptr);
  StringRef prefix = sys::path::parent_path(sys::path::parent_path(self));
  SmallString<128> path;
  // An installation has all libraries in its private folder, as files or as links, so that it can
  // be moved; a build has them beside each other.
  for (StringRef folder : {"lib", "lib/frontload"}) {
    path = prefix;
    sys::path::append(path, folder, name);
    if (sys::fs::exists(path))
      return path.str().str();
  }
  return createStringError(path + ": " +
                           make_error_code(std::errc::no_such_file_or_directory).message());
}

bool isSameMachine(StringRef a, StringRef b) {
  constexpr size_t machine = 18, size = 20;
  return a.size() >= size && b.size() >= size && a.starts_with(ELF::ElfMagic) &&
         a.take_front(ELF::EI_VERSION) == b.take_front(ELF::EI_VERSION) &&
         a.substr(machine, 2) == b.substr(machine, 2);
}

bool LibrarySearch::take(ArrayRef<const char *> args, size_t &i) {
  StringRef arg = args[i];
  std::string value;
  if (!arg.consume_front("-"))
    return false;
  arg.consume_front("-");
  if (is_contained({"Bstatic", "static", "dn", "non_shared"}, arg))
    isStatic = true;
  else if (is_contained({"Bdynamic", "dy", "call_shared"}, arg))
    isStatic = false;
  else if (arg == "push-state")
    saved.push_back(isStatic);
  else if (arg == "pop-state")
    isStatic = saved.empty() ? isStatic : saved.pop_back_val();
  else if (takeOption(args, i, "sysroot", value))
    sysroot = value;
  else if (takeOption(args, i, "library-path", value) || takeLetter(args, i, "-L", value))
    folders.push_back(value);
  else if (takeOption(args, i, "library", value) || takeLetter(args, i, "-l", value))
    addLibrary(value);
  else
    return false;
  return true;
}

std::string LibrarySearch::inSysroot(StringRef path) const {
  return sysroot + "/" + path.ltrim('/').str();
}

std::string LibrarySearch::findFile(ArrayRef<std::string> names) const {
  for (StringRef folder : folders) {
    bool isInSysroot = folder.consume_front("=");
    for (const std::string &name : names)
      if (std::string path = (isInSysroot ? inSysroot(folder) : folder.str()) + "/" + name;
          sys::fs::exists(path))
        return path;
  }
  return "";
}

std::string LibrarySearch::fileOf(const Input &input) const {
  if (!input.isLibrary)
    return input.name;
  StringRef name = input.name;
  if (name.consume_front(":"))
    return findFile(name.str());
  std::string stem = "lib" + name.str();
  return input.isStatic ? findFile(stem + ".a") : findFile({stem + ".so", stem + ".a"});
}

} // namespace frontload
