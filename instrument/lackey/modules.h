// The files whose code runs in the recorded processes: which of them are recorded, and which code
// is the loader's.
//
// What the loader touches to relocate a program is not recorded: the program itself does not need
// it, the sections that the loader writes are in the front whole, and the record would say that all
// of .data.rel.ro is hot. The loader is the file that the program names as its interpreter. A
// static PIE relocates itself: there the loader is the function that does it, if a symbol table
// tells where it is.
#ifndef FRONTLOAD_LACKEY_MODULES_H
#define FRONTLOAD_LACKEY_MODULES_H

#include "recorder/wanted_modules.h"

#include "llvm/ADT/StringMap.h"

#include <memory>
#include <vector>

namespace frontload {

struct Module : LinkedFile {
  bool isRecorded = false;
  bool isLoader = false;
  /// The code with which a static PIE relocates itself; empty for all others.
  uint64_t relocatorBegin = 0, relocatorEnd = 0;
};

class Modules {
public:
  /// `program` is the main program, which runs from the file `runsAs`; `names` are the libraries
  /// that are recorded too, as given to --module.
  Modules(Module program, std::string runsAs, std::vector<std::string> names);

  const Module &program() const { return mainProgram; }

  /// The module in a mapped file; null for one that is neither recorded nor the loader.
  const Module *find(llvm::StringRef path);

  /// Says what was asked for and never seen.
  void warnAboutUnseen() const { wanted.warnAboutUnseen("the program did not load it"); }

private:
  std::unique_ptr<Module> readLibrary(llvm::StringRef path);

  Module mainProgram;
  std::string mainFile;
  WantedModules wanted;
  llvm::StringMap<std::unique_ptr<Module>> libraries;
};

/// Reads the program to be recorded. An error begins with the path.
llvm::Expected<Module> readProgram(llvm::StringRef path);

} // namespace frontload

#endif
