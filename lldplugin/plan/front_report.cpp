// What was placed in a front, as JSON.
#include "plan/front_report.h"
#include "program/staged_files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace frontload {

static void writeJson(raw_ostream &os, StringRef output, const FrontLink &link,
                      std::optional<Front> front, ArrayRef<EstimatedStart> starts) {
  const FrontAccount &account = link.account();
  json::OStream j(os, /*IndentSize=*/2);
  j.object([&] {
    j.attribute("schema", "frontload-front-report/1");
    j.attribute("output", json::fixUTF8(output));
    j.attribute("profile", json::fixUTF8(link.profilePath()));
    if (front)
      j.attributeObject("front", [&] {
        j.attribute("bytes", front->bytes);
        j.attribute("strings", front->strings);
        j.attribute("read", front->read());
        j.attribute("tail", totalSize(front->tail));
        j.attribute("unnamed", front->unnamed);
        j.attribute("linear", front->isLinear);
        j.attributeArray("padding", [&] {
          for (const auto &[section, bytes] : front->padding)
            j.object([&] {
              j.attribute("before", json::fixUTF8(section));
              j.attribute("bytes", bytes);
            });
        });
      });
    else
      j.attribute("front", nullptr);
    j.attributeArray("starts", [&] {
      auto reads = [&](StringRef name, const StartCounts &of) {
        j.attributeObject(name, [&] {
          j.attribute("bytes", of.bytesRead);
          j.attribute("major_faults", of.majorFaults);
        });
      };
      for (const EstimatedStart &start : starts)
        j.object([&] {
          j.attribute("share", start.share);
          reads("front", start.front);
          reads("plain", start.plain);
        });
    });
    j.attribute("objects", account.placedObjects());
    j.attributeObject("classes", [&] {
      for (SectionClass c : {SectionClass::Text, SectionClass::Rodata, SectionClass::Relro,
                             SectionClass::Data, SectionClass::Bss})
        j.attributeObject(toString(c), [&] {
          j.attribute("sections", account.placed(c).sections);
          j.attribute("referred", account.placed(c).referred);
          j.attribute("bytes", account.placed(c).bytes);
        });
    });
    j.attributeObject("names", [&] {
      j.attribute("total", uint64_t(account.entryStates().size()));
      j.attribute("placed", account.count(EntryState::Placed));
      j.attribute("unmovable", account.count(EntryState::Unmovable));
      auto entries = [&] {
        return zip_equal(link.startupProfile().entries, account.entryStates());
      };
      j.attributeArray("left_out", [&] {
        for (auto [entry, state] : entries())
          if (state == EntryState::LeftOut)
            j.value(escapeName(entry.name));
      });
      // Names that are found in another form, and the symbols taken in their place.
      j.attributeArray("inexact", [&] {
        const FoundNames &found = link.foundNames();
        for (auto [index, entry] : enumerate(link.startupProfile().entries)) {
          auto number = uint32_t(index);
          if (!found.isFound(number) ||
              (found.best(number).isExact() && !found.isAmbiguous(number)))
            continue;
          j.object([&] {
            j.attribute("name", escapeName(entry.name));
            j.attribute("how", toString(found.best(number).likeness()));
            j.attribute("ambiguous", found.isAmbiguous(number));
            j.attributeArray("found", [&] {
              for (const Definition &definition : found.definitions(number))
                j.value(escapeName(definition.symbol));
            });
          });
        }
      });
      j.attributeArray("missing", [&] {
        for (auto [entry, state] : entries())
          if (state == EntryState::NotDefined || state == EntryState::Unused)
            j.object([&] {
              j.attribute("name", escapeName(entry.name));
              j.attribute("reason", entry.inlinable               ? "only in a build with hooks"
                                    : state == EntryState::Unused ? "not in the link"
                                                                  : "not defined");
            });
      });
    });
  });
  os << '\n';
}

std::optional<Refusal> checkReportPath(StringRef report, ArrayRef<StringRef> others) {
  if (report.empty())
    return std::nullopt;
  StringRef folder = sys::path::parent_path(report);
  if (!folder.empty() && !sys::fs::is_directory(folder)) {
    std::error_code error = make_error_code(std::errc::no_such_file_or_directory);
    return Refusal{(report + ": " + error.message()).str(), "create its folder first", exitUsage};
  }
  for (StringRef other : others)
    if (report == other || sys::fs::equivalent(report, other))
      return Refusal{(report + ": the report would replace a file of this link").str(),
                     "give the report another name", exitUsage};
  return std::nullopt;
}

Error writeFrontReport(StringRef path, StringRef output, const FrontLink &link,
                       std::optional<Front> front, ArrayRef<EstimatedStart> starts) {
  return writeOutputFile(path,
                         [&](raw_ostream &os) { writeJson(os, output, link, front, starts); });
}

} // namespace frontload
