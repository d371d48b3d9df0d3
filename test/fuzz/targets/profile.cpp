// The reader of startup profiles, and what every link does with one first.
#include "names/name_table.h"
#include "profile/startup_profile.h"
#include "profile/tiers.h"
#include "target.h"

using namespace frontload;
using namespace llvm;

static void readInput(StringRef text) {
  auto profile = parseStartupProfile("input", text);
  if (!profile)
    return consumeError(profile.takeError());
  for (const ProfileEntry &entry : profile->entries) {
    double share = profile->share(entry);
    must(share > 0 && share <= 1 && !entry.name.empty());
    escapeName(entry.name);
  }
  sortByTier(*profile);
  NameTable names(*profile);
  names.prepareStable([](uint32_t) { return false; });
}
