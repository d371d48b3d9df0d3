// The output of frontload-resolve.
#include "resolve/resolved_lines.h"
#include "elf/elf_object.h"
#include "resolve/touched_blocks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

using namespace llvm;

namespace frontload {

void writePlaces(raw_ostream &os, const StartupProfile &profile, const StartupSet &set,
                 ArrayRef<InputObject> objects) {
  std::vector<const EntryPlace *> places;
  for (const EntryPlace &place : set.entryPlaces().movable)
    places.push_back(&place);
  llvm::stable_sort(places, [](auto *a, auto *b) { return a->entry < b->entry; });
  std::optional<uint32_t> object;
  std::string objectName;
  for (const EntryPlace *place : places) {
    if (std::exchange(object, place->object) != place->object)
      objectName = escapeName(objects[place->object].name());
    bool isSection = profile.entries[place->entry].kind == EntryKind::Section;
    os << "name\t" << place->entry << '\t'
       << toString(set.foundNames().best(place->entry).likeness()) << '\t' << objectName << '\t'
       << escapeName(place->sectionName) << '\t' << (isSection ? "" : escapeName(place->symbol))
       << '\t' << utohexstr(place->value, true) << '\t' << place->symbolIndex << '\n';
  }
  for (auto [entry, isUnmovable] : enumerate(set.entryPlaces().isKept))
    if (isUnmovable)
      os << "unmovable\t" << entry << '\n';
}

static void writeBlocks(raw_ostream &os, const FunctionBlocks &function) {
  os << '\t' << format_hex_no_prefix(function.hash, 16);
  for (const Block &block : function.blocks)
    os << '\t' << block.id << ':' << block.size << (block.isLandingPad ? "p" : "");
  os << '\n';
}

Error writeBlocks(raw_ostream &os, const StartupProfile &profile, const StartupSet &set,
                  ArrayRef<InputObject> objects) {
  // By object and section; a linked file has one map.
  std::map<std::pair<uint32_t, uint32_t>, std::vector<FunctionBlocks>> maps;
  for (const EntryPlace &place : set.entryPlaces().movable) {
    if (profile.entries[place.entry].kind != EntryKind::Function)
      continue;
    const InputObject &object = objects[place.object];
    std::optional<uint32_t> section;
    if (!object.isLinked)
      section = place.section;
    auto [found, isNew] = maps.try_emplace({place.object, section.value_or(0)});
    if (isNew) {
      auto read = readBlockMap(object.buffer, section);
      if (!read)
        return createStringError(object.name() + ": " + toString(read.takeError()));
      found->second = std::move(*read);
    }
    auto function = llvm::lower_bound(
        found->second, place.value,
        [](const FunctionBlocks &each, uint64_t address) { return each.address < address; });
    if (function == found->second.end() || function->address != place.value)
      continue;
    os << "blocks\t" << place.entry << '\t' << escapeName(object.name()) << '\t'
       << escapeName(place.symbol);
    writeBlocks(os, *function);
  }
  return Error::success();
}

void writeTouched(raw_ostream &os, ArrayRef<FunctionBlocks> functions, ArrayRef<uint64_t> addresses,
                  bool areStarts) {
  for (const FunctionBlocks &function : functions) {
    std::vector<BlockState> states = blockStates(function, addresses);
    if (areStarts)
      llvm::replace(states, BlockState::Perhaps, BlockState::Untouched);
    if (!llvm::is_contained(states, BlockState::Touched))
      continue;
    os << "function\t" << utohexstr(function.address, true) << '\t'
       << format_hex_no_prefix(function.hash, 16);
    for (auto [block, state] : llvm::zip_equal(function.blocks, states))
      if (state != BlockState::Untouched)
        os << '\t' << block.id << (state == BlockState::Perhaps ? "?" : "");
    os << '\n';
  }
}

void writeListed(raw_ostream &os, std::vector<ListedPlace> places) {
  llvm::stable_sort(places, [](auto &a, auto &b) { return a.entry < b.entry; });
  for (const ListedPlace &place : places)
    os << "name\t" << place.entry << '\t' << toString(place.likeness) << '\t'
       << escapeName(place.object) << "\t\t" << escapeName(place.name) << '\t'
       << utohexstr(place.line, true) << "\t0\n";
}

/// By name, the number and the total size of the loaded sections in all objects. A linker that
/// places sections by name also places their namesakes. Copies of one COMDAT group are not
/// namesakes: only one of them is linked.
static StringMap<std::pair<uint32_t, uint64_t>> countNamesakes(ArrayRef<InputObject> objects) {
  StringMap<std::pair<uint32_t, uint64_t>> namesakes;
  for (const InputObject &input : objects)
    withElfObject(input.buffer.getBuffer(), /*isLinked=*/false, [&](const auto &object) {
      for (const auto &section : object.sections()) {
        if ((section.sh_flags & (ELF::SHF_ALLOC | ELF::SHF_GROUP)) != ELF::SHF_ALLOC)
          continue;
        auto &[count, size] = namesakes[object.name(section)];
        ++count;
        size += section.sh_size;
      }
    });
  return namesakes;
}

void writeSections(raw_ostream &os, ArrayRef<StartupSections> sets, ArrayRef<InputObject> objects) {
  std::vector<std::pair<uint32_t, const StartupSection *>> all;
  for (auto [object, sections] : enumerate(sets))
    for (const StartupSection &section : sections)
      all.push_back({uint32_t(object), &section});
  llvm::sort(all, [](const auto &a, const auto &b) {
    return std::tuple(a.second->region, a.second->rank, a.first, a.second->index) <
           std::tuple(b.second->region, b.second->rank, b.first, b.second->index);
  });
  StringMap<std::pair<uint32_t, uint64_t>> namesakes = countNamesakes(objects);
  for (auto [object, section] : all) {
    auto [count, size] = namesakes.lookup(section->name);
    os << "section\t" << toString(section->sectionClass) << '\t'
       << (section->region == Region::Front ? "front" : "next") << '\t'
       << escapeName(objects[object].name()) << '\t' << escapeName(section->name) << '\t'
       << section->size << '\t' << section->index << '\t' << count << '\t' << size << '\n';
  }
}

} // namespace frontload
