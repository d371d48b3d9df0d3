// A list of symbols of files that are not ELF, and what of a profile is in it.
#include "resolve/listed_symbols.h"
#include "target.h"

using namespace frontload;
using namespace llvm;

static constexpr char profileText[] = "frontload-startup-profile 2\nprogram p\nruns 1\n"
                                      "function\ttext\t1\t+1\t16\tmain\n"
                                      "function\ttext\t1\t+1\t16\thelper\tseed.c\n"
                                      "function\ttext\t1\t+1\t16\t_ZN1AC1Ev\n"
                                      "function\ttext\t1\t+1\t16\tf.constprop.0\n";

static void readInput(StringRef list) {
  static const StartupProfile profile = cantFail(parseStartupProfile("profile", profileText));
  auto places = findListed(profile, "input", list);
  if (!places)
    return consumeError(places.takeError());
  for (const ListedPlace &place : *places) {
    must(place.entry < profile.entries.size());
    isOfOneSource(profile.entries[place.entry].file, place.object);
  }
}
