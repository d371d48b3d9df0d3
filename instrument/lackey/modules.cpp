// Examines mapped files, each of them once.
#include "modules.h"

#include "recorder/symbols.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace llvm::object;
using namespace frontload;

/// Where glibc's startup code relocates a static PIE.
static Error findRelocator(MemoryBufferRef file, Module &module) {
  auto elf = ELFFile<ELF64LE>::create(file.getBuffer());
  if (!elf)
    return elf.takeError();
  return visitSymbols(
      *elf, ELF::SHT_SYMTAB, [&](const ELF64LE::Sym &symbol, StringRef names) -> Error {
        auto name = symbol.getName(names);
        if (!name)
          return name.takeError();
        if (*name == "_dl_relocate_static_pie" && symbol.getType() == ELF::STT_FUNC) {
          module.relocatorBegin = symbol.st_value;
          module.relocatorEnd = symbol.st_value + symbol.st_size;
        }
        return Error::success();
      });
}

Expected<Module> frontload::readProgram(StringRef path) {
  auto refuse = [&](const Twine &reason) {
    return createStringError(path + ": cannot be recorded: " + reason);
  };
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return refuse(file.getError().message());
  if ((*file)->getBuffer().starts_with("#!"))
    return refuse("a script; give the program that it runs");
  auto identity = LinkedFile::read(**file);
  if (!identity)
    return refuse(toString(identity.takeError()));
  Module module{std::move(*identity)};
  module.isRecorded = true;
  if (module.interpreter.empty())
    if (Error error = findRelocator(**file, module))
      return refuse(toString(std::move(error)));
  return module;
}

Modules::Modules(Module program, std::string runsAs, std::vector<std::string> names)
    : mainProgram(std::move(program)), mainFile(std::move(runsAs)), wanted(std::move(names)) {}

const Module *Modules::find(StringRef path) {
  if (path == mainFile)
    return &mainProgram;
  auto [entry, isNew] = libraries.try_emplace(path);
  if (isNew)
    entry->second = readLibrary(path);
  return entry->second.get();
}

std::unique_ptr<Module> Modules::readLibrary(StringRef path) {
  bool isLoader =
      !mainProgram.interpreter.empty() && sys::fs::equivalent(mainProgram.interpreter, path);
  if (!isLoader && wanted.isEmpty())
    return nullptr;
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file) // valgrind maps files of its own, which it removes
    return nullptr;
  auto identity = LinkedFile::read(**file);
  if (!identity) {
    consumeError(identity.takeError());
    return nullptr;
  }
  auto module = std::make_unique<Module>(Module{std::move(*identity)});
  module->isLoader = isLoader;
  module->isRecorded = wanted.loaded(*module);
  return module->isRecorded || isLoader ? std::move(module) : nullptr;
}
