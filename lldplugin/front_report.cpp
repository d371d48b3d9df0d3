//===- front_report.cpp - what was placed in a front, as JSON --------------===//

#include "front_report.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace frontload {

static StringRef reason(EntryState state) {
  switch (state) {
  case EntryState::NotFound:
    return "not defined";
  case EntryState::Unmovable:
    return "unmovable";
  case EntryState::Found:
    break;
  }
  llvm_unreachable("a found name needs no reason");
}

Error writeFrontReport(StringRef path, StringRef output, const FrontLink &link,
                       const Front &front) {
  uint64_t objects;
  auto placed = link.placed(objects);
  return writeToOutput(path, [&](raw_ostream &os) {
    json::OStream j(os, /*IndentSize=*/2);
    j.object([&] {
      j.attribute("schema", "frontload-front-report/1");
      j.attribute("output", json::fixUTF8(output));
      j.attribute("profile", json::fixUTF8(link.profilePath()));
      j.attributeObject("front", [&] { j.attribute("bytes", front.bytes); });
      j.attribute("objects", objects);
      j.attributeObject("classes", [&] {
        for (unsigned c = 0; c < numSectionClasses; ++c) {
          if (static_cast<SectionClass>(c) == SectionClass::Bss)
            continue; // it has no bytes in the file
          j.attributeObject(toString(static_cast<SectionClass>(c)), [&] {
            j.attribute("sections", placed[c].sections);
            j.attribute("referred", placed[c].referred);
            j.attribute("bytes", placed[c].bytes);
          });
        }
      });
      j.attributeObject("names", [&] {
        j.attribute("total", uint64_t(link.entryStates().size()));
        j.attribute("found", link.found());
        j.attributeArray("missing", [&] {
          for (auto [entry, state] : zip_equal(link.startupProfile().entries, link.entryStates()))
            if (state != EntryState::Found)
              j.object([&] {
                j.attribute("name", json::fixUTF8(entry.name));
                j.attribute("reason", reason(state));
              });
        });
      });
    });
    os << '\n';
    return Error::success();
  });
}

} // namespace frontload
