// A list of symbols of files that are not ELF, and what of a profile is in it.
#include "resolve/listed_symbols.h"

using namespace frontload;
using namespace llvm;

static constexpr char profileText[] = "frontload-startup-profile 2\nprogram p\nruns 1\n"
                                      "function\ttext\t1\t+1\t16\tmain\n"
                                      "function\ttext\t1\t+1\t16\thelper\tseed.c\n"
                                      "function\ttext\t1\t+1\t16\t_ZN1AC1Ev\n"
                                      "function\ttext\t1\t+1\t16\tf.constprop.0\n";

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const StartupProfile profile = cantFail(parseStartupProfile("profile", profileText));
  StringRef list(reinterpret_cast<const char *>(data), size);
  auto places = findListed(profile, "input", list);
  if (!places) {
    consumeError(places.takeError());
    return 0;
  }
  for (const ListedPlace &place : *places) {
    if (place.entry >= profile.entries.size())
      abort();
    isOfOneSource(profile.entries[place.entry].file, place.object);
  }
  return 0;
}
