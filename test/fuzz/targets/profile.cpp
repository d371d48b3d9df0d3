// The reader of startup profiles, and what every link does with one first.
#include "names/name_table.h"
#include "profile/startup_profile.h"
#include "profile/tiers.h"

using namespace frontload;
using namespace llvm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  auto profile = parseStartupProfile("input", text);
  if (!profile) {
    consumeError(profile.takeError());
    return 0;
  }
  for (const ProfileEntry &entry : profile->entries) {
    double share = profile->share(entry);
    if (!(share > 0 && share <= 1) || entry.name.empty())
      abort();
    escapeName(entry.name);
  }
  sortByTier(*profile);
  NameTable names(*profile);
  return 0;
}
