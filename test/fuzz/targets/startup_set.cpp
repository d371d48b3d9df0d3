// The plan for an object: what a profile finds in it, and what that refers to.
#include "plan/front_link.h"
#include "target.h"

using namespace frontload;
using namespace llvm;

/// What the corpus' objects are made of (seeds.py), and what they are not.
static constexpr char profileText[] =
    "frontload-startup-profile 2\nprogram p\nruns 2\ndata-runs 2\n"
    "function\ttext\t2\t+1\t16\tmain\n"
    "function\ttext\t2\t+1\t16\thelper\tseed.c\n"
    "function\ttext\t1\t+1\t16\tunused\n"
    "data\trodata\t2\t+1\t16\ttable\n"
    "data\tdata\t2\t+1\t16\tvariable\n"
    "data\tbss\t2\t+1\t16\tzeros\n"
    "section\trodata\t2\t+1\t16\t.rodata.helper\tinput.o\n"
    "string\trodata\t2\t+1\t6\thello\n";

static void readInput(StringRef bytes) {
  LinkTraits traits;
  traits.folding = Folding::Safe;
  traits.isRelocated = true;
  FrontLink link(cantFail(parseStartupProfile("profile", profileText)), "profile", traits);
  link.addObject({MemoryBufferRef(bytes, "input.o"), "", false});
  link.finishPlanning();
  link.beginTail();
  link.placeTail();
  link.script();
  link.script();
  FrontAccount &account = link.account();
  for (const PlannedSection &section : link.placement().sections()) {
    must(section.name >= bytes.begin() && section.name < bytes.end()); // its place tells it
    account.meet(section.name);
    account.place(section.name);
  }
  account.finish();
  account.finishStrings();
  account.expectedParts();
  account.wantedBytes();
}
