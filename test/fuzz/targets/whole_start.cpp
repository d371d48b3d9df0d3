// The files of a start, as frontload predict writes them, and what they cost.
#include "predict/whole_start.h"
#include "target.h"

using namespace frontload;
using namespace llvm;

static void readInput(StringRef text) {
  auto files = readWholeStart(text);
  if (!files)
    return consumeError(files.takeError());
  for (const FileOfStart &file : *files)
    for (const FileOfStart &each : {file, withFront(file)})
      for (bool isListed : {false, true})
        costOf(each, deviceProfiles().front(), isListed);
}
