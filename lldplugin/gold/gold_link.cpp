// One link by gold, laid out.
#include "gold/gold_link.h"
#include "elf/elf_object.h"
#include "plan/front_report.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

using namespace llvm;

namespace frontload {

static constexpr char constantsSection[] = ".rodata.startup";

GoldLink::GoldLink(Linker l, GoldOptions o, StartupProfile profile, bool foldsCode)
    : linker(std::move(l)), options(std::move(o)),
      link(std::move(profile), options.profile,
           {/*mergesStrings=*/false,
            // gold reads no lists of what is safe to fold: it looks at the code.
            foldsCode ? Folding::All : Folding::None,
            /*isRelocated=*/linker.outputType != LDPO_EXEC}) {}

void GoldLink::addFile(const ld_plugin_input_file &file) {
  uintptr_t number = reinterpret_cast<uintptr_t>(file.handle);
  offered.resize(std::max<size_t>(offered.size(), number + 1));
  offered[number] = offered[number] || GoldInputs::isElf(file);
  if (std::optional<InputObject> object = files.open(file)) {
    link.addObject(*object);
    objects.push_back(*object);
    handles.push_back(file.handle);
  }
}

void GoldLink::fail(const Twine &text, const Twine &note) {
  isOver = true; // gold calls end() before it ends
  linker.fail(text, note);
}

/// The sections that `link` has found, in the order in which gold is to place them, as gold's
/// `handles` of the objects have them. Constants are in `constants`, too.
static std::vector<ld_plugin_section> orderOf(const FrontLink &link, ArrayRef<const void *> handles,
                                              std::vector<ld_plugin_section> &constants) {
  struct Place {
    uint32_t object;
    const StartupSection *section;
    auto key() const {
      // Sections that are likely to be used next precede the block: nothing can follow it.
      return std::tuple(section->region == Region::Front, section->rank, object, section->index);
    }
  };
  std::vector<Place> places;
  for (auto [object, sections] : enumerate(link.placement().byObject()))
    for (const StartupSection &section : sections)
      places.push_back({uint32_t(object), &section});
  llvm::sort(places, [](const Place &a, const Place &b) { return a.key() < b.key(); });
  std::vector<ld_plugin_section> all;
  all.reserve(places.size());
  for (const Place &place : places) {
    all.push_back({handles[place.object], place.section->index});
    if (place.section->sectionClass == SectionClass::Rodata)
      constants.push_back(all.back());
  }
  return all;
}

void GoldLink::tellOrder() {
  link.finishPlanning();
  link.beginTail();
  link.placeTail();
  std::vector<ld_plugin_section> constants, all = orderOf(link, handles, constants);
  ld_plugin_status status = linker.updateSectionOrder(all.data(), all.size());
  if (status == LDPS_OK && linker.uniqueSegment)
    status = linker.uniqueSegment(constantsSection, 0, 0, constants.data(), constants.size());
  if (status != LDPS_OK)
    fail(linker.output + ": gold does not take the order of its sections",
         "please report this; link without the plugin until it is fixed");
}

/// Whether another plugin has claimed files, of which it will make objects. gold's handles are
/// numbers from 0 up, one for each file that is ELF or claimed, and it tells resolutions of claimed
/// files only. Files offered to us are not claimed, may be gone, and must not be asked for.
bool GoldLink::awaitsObjects() const {
  for (uintptr_t handle = 0; handle <= offered.size(); ++handle)
    if ((handle == offered.size() || !offered[handle]) &&
        linker.getSymbols(reinterpret_cast<const void *>(handle), 0, nullptr) == LDPS_OK)
      return true;
  return false;
}

void GoldLink::allRead() {
  tellOrder();
  bool awaits = awaitsObjects();
  if (awaits && !linker.registerNewInput) {
    linker.say(LDPL_WARNING, "this gold does not tell plugins about the objects that link-time "
                             "optimization makes: they are not laid out");
    isJudged = true;
  } else if (!awaits) {
    judge();
  }
}

void GoldLink::addMade(const ld_plugin_input_file &file) {
  hasMade = true;
  addFile(file);
  tellOrder();
}

void GoldLink::countPlaced() {
  DenseSet<CachedHashStringRef> signatures;
  for (auto [object, sections] : zip_equal(objects, link.placement().byObject())) {
    if (sections.empty())
      continue;
    DenseSet<uint32_t> copies;
    withElfObject(object.buffer.getBuffer(), /*isLinked=*/false, [&](const auto &elf) {
      elf.forEachGroup([&](StringRef signature, const auto &members) {
        if (!signatures.insert(CachedHashStringRef(signature)).second)
          copies.insert_range(members);
      });
    });
    for (const StartupSection &section : sections)
      if (!copies.contains(section.index))
        link.account().place(section.name);
  }
  link.account().finish();
}

void GoldLink::judge() {
  isJudged = true;
  countPlaced();
  MatchVerdict verdict = link.account().matchSummary().judge(options.profile, options.minMatch,
                                                             "--plugin-opt=min-match");
  if (verdict.isError)
    fail(verdict.text, verdict.note);
  linker.say(LDPL_INFO, verdict.text);
}

void GoldLink::end() {
  // If no object was made, link-time optimization has failed, or a step before it.
  if (isOver || (!isJudged && !hasMade))
    return;
  if (!isJudged)
    judge();
  if (!options.report.empty())
    if (Error e = writeFrontReport(options.report, linker.output, link, std::nullopt, {}))
      fail(options.report + ": " + toString(std::move(e)),
           "choose another place with --plugin-opt=report=FILE, or leave it out");
}

} // namespace frontload
