// Compares each loaded library with the names of --module.
#include "wanted_modules.h"

#include "diagnostics.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace frontload;

WantedModules::WantedModules(std::vector<std::string> moduleNames)
    : names(std::move(moduleNames)), seen(names.size()) {}

bool WantedModules::loaded(const ProgramFile &library) {
  bool isWanted = false;
  for (const auto &[index, name] : enumerate(names)) {
    if (!library.isNamed(name))
      continue;
    isWanted = true;
    seen.set(index);
  }
  return isWanted;
}

void WantedModules::warnAboutUnseen(StringRef whatIsWrong) const {
  for (const auto &[index, name] : enumerate(names))
    if (!seen.test(index))
      warning("--module=" + name + ": " + whatIsWrong);
}
