// What must hold in a file with a front.
#include "plan/output_check.h"
#include "cold_start/io_model.h"
#include "elf/elf_file.h"
#include "frontload_note.h"
#include "plan/front_script.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// The table of .eh_frame_hdr is searched by bisection for the offset of a function from the
/// header, with the unsigned comparison of some unwinders and the signed one of others, so all
/// offsets must be ascending and of one sign. Layout: Linux Standard Base Core, section 10.6.2.
template <class ELFT> static Error checkEhFrameHdr(const ELFFile<ELFT> &file) {
  auto contents = contentsOfSection(file, ".eh_frame_hdr");
  if (!contents)
    return contents.takeError();
  ArrayRef<uint8_t> header = *contents;
  constexpr uint8_t sortedTable = dwarf::DW_EH_PE_datarel | dwarf::DW_EH_PE_sdata4;
  if (header.size() < 12 || header[2] != dwarf::DW_EH_PE_udata4 || header[3] != sortedTable)
    return Error::success(); // no search table
  auto read = [&](size_t offset) {
    return support::endian::read32(header.data() + offset, ELFT::Endianness);
  };
  uint64_t count = read(8);
  if (count > (header.size() - 12) / 8)
    return createStringError(".eh_frame_hdr: its table is longer than the section");
  for (uint64_t i = 1; i < count; ++i) {
    int32_t previous = read(12 + 8 * (i - 1));
    int32_t current = read(12 + 8 * i);
    if (previous > current || (previous < 0 && current >= 0))
      return createStringError(".eh_frame_hdr: entry " + Twine(i) +
                               " is out of order, so exceptions would not find their handlers");
  }
  return Error::success();
}

/// The output sections that gather the front's input sections, and nothing else.
static bool isOfFront(StringRef name) {
  return is_contained({frontRodataSection, frontDataSection}, name);
}

/// How many bytes of .text are the front's; 0 in a file that no script of ours laid out.
template <class ELFT> static Expected<uint64_t> sizeOfFrontCode(const ELFFile<ELFT> &file) {
  auto contents = contentsOfSection(file, paddingSection);
  if (!contents || contents->size() < sizeof(uint64_t))
    return contents ? Expected<uint64_t>(0) : contents.takeError();
  return support::endian::read<uint64_t>(contents->data(), ELFT::Endianness);
}

/// Whether another section holds bytes that the loader reads or writes, or code that runs before
/// main(). `isRelocated` is whether the loader writes to constants with pointers.
template <class Shdr> static bool isLoaderS(StringRef name, const Shdr &section, bool isRelocated) {
  return section.sh_type != ELF::SHT_PROGBITS || (section.sh_flags & ELF::SHF_TLS) ||
         (isRelocated && name == ".data.rel.ro") ||
         is_contained({".interp", ".init", ".fini", ".plt", ".iplt", ".plt.got", ".plt.sec", ".got",
                       ".got.plt", ".relro_padding"},
                      name);
}

/// Joins the nearest ranges, until a note has room for all.
static void joinNearest(std::vector<FileRange> &ranges) {
  while (ranges.size() > FRONTLOAD_NOTE_FRONT_RANGES) {
    size_t nearest = 1;
    for (size_t i = 2; i < ranges.size(); ++i)
      if (ranges[i].begin - ranges[i - 1].end < ranges[nearest].begin - ranges[nearest - 1].end)
        nearest = i;
    ranges[nearest - 1].end = ranges[nearest].end;
    ranges.erase(ranges.begin() + nearest);
  }
}

/// Adds `parts` of .rodata, which has this `address` and these `contents`, to the ranges of the
/// front, as far as they are where they are expected and the note has room.
static void addParts(Front &front, ArrayRef<ExpectedPart> parts, uint64_t address,
                     StringRef contents) {
  const size_t ofFront = front.ranges.size();
  for (const auto &[part, offset] : parts) {
    if (!contents.substr(offset).starts_with(part.contents))
      continue;
    uint64_t begin = address + offset + part.stretch.begin;
    uint64_t end = address + offset + part.stretch.end;
    FileRange *last = front.ranges.size() > ofFront ? &front.ranges.back() : nullptr;
    if (last && (begin <= last->end || isWorthReading(begin - last->end))) {
      front.unnamed += begin > last->end ? begin - last->end : 0;
      last->end = std::max(last->end, end);
    } else if (front.ranges.size() < FRONTLOAD_NOTE_FRONT_RANGES) {
      front.ranges.push_back({begin, end});
    }
  }
}

/// Adds what a section has of the tail. `read` of its bytes are read with the front.
template <class Shdr>
static void addTail(Front &front, StringRef name, const Shdr &section, uint64_t read,
                    uint64_t sizeOfCode, const OutputFacts &facts) {
  const Stretch tail = facts.tail.lookup(name);
  Stretch in = {0, 0};
  if (name == ".text")
    in = {read, sizeOfCode + tail.end};
  else if (name == ".rodata")
    in = tail;
  else if (isOfFront(name))
    in = {read, section.sh_size};
  in.end = std::min<uint64_t>(in.end, section.sh_size);
  if (in.begin < in.end)
    front.tail.push_back({section.sh_addr + in.begin, section.sh_addr + in.end});
}

void Front::limitTail(uint64_t most) {
  std::vector<FileRange> kept;
  for (FileRange range : tail) {
    range.end =
        std::min(range.end, alignDown(range.begin + most, deviceProfiles().front().pageBytes));
    if (range.end <= range.begin || ranges.size() + kept.size() == FRONTLOAD_NOTE_FRONT_RANGES)
      break;
    most -= range.size();
    kept.push_back(range);
  }
  tail = std::move(kept);
}

/// Finds the front: from the beginning of the file to the end of the front's code, without unwanted
/// sections and the strings that are not hot.
template <class ELFT>
static Expected<Front> findFront(const ELFFile<ELFT> &file, const OutputFacts &facts,
                                 HotStrings &strings) {
  using Shdr = typename ELFT::Shdr;
  auto sections = file.sections();
  if (!sections)
    return sections.takeError();
  auto segments = file.program_headers();
  if (!segments)
    return segments.takeError();
  auto sizeOfCode = sizeOfFrontCode(file);
  if (!sizeOfCode)
    return sizeOfCode.takeError();
  std::vector<std::pair<StringRef, const Shdr *>> loaded;
  uint64_t cold = UINT64_MAX; // the offset of the rest, which begins within .text
  for (const auto &section : *sections) {
    if (!(section.sh_flags & ELF::SHF_ALLOC) || section.sh_type == ELF::SHT_NOBITS)
      continue;
    auto name = file.getSectionName(section);
    if (!name)
      return name.takeError();
    if (section.sh_offset > file.getBufSize() ||
        section.sh_size > file.getBufSize() - section.sh_offset)
      return createStringError(*name + " lies outside of the file");
    // An empty section may lie anywhere in memory, also in no segment.
    if (section.sh_size)
      loaded.push_back({*name, &section});
    if (is_contained({".text", ".rodata", ".data"}, *name)) {
      uint64_t before = *name == ".text" ? *sizeOfCode : 0;
      if (before > section.sh_size)
        return createStringError("the front's code does not end in " + *name);
      cold = std::min<uint64_t>(cold, section.sh_offset + before);
    }
  }
  llvm::stable_sort(loaded, [](const auto &a, const auto &b) {
    return a.second->sh_offset < b.second->sh_offset;
  });

  Front front;
  uint64_t begin = UINT64_MAX;
  front.isLinear = true;
  std::optional<uint64_t> distance;
  for (const auto &segment : *segments)
    if (segment.p_type == ELF::PT_LOAD) {
      uint64_t own = segment.p_vaddr - segment.p_offset;
      begin = std::min<uint64_t>(begin, own);
      front.isLinear &= distance.value_or(own) == own;
      distance = own;
    }
  bool isRelocated = file.getHeader().e_type == ELF::ET_DYN;
  begin = begin == UINT64_MAX ? 0 : begin;
  uint64_t lastShift = begin; // of addresses and offsets, the same in all of a range
  uint64_t unwanted = 0;      // since the last range
  uint64_t end = 0;           // of the last section
  for (auto [name, section] : loaded) {
    if (isOfFront(name) && section->sh_offset > cold)
      return createStringError(name + " lies after what is not in the front");
    if (!isWorthReading(section->sh_offset - std::min<uint64_t>(end, section->sh_offset)))
      front.padding.push_back({name.str(), section->sh_offset - end});
    end = section->sh_offset + section->sh_size;
    uint64_t bytes = std::min<uint64_t>(end, cold) - std::min<uint64_t>(section->sh_offset, cold);
    if (bytes && name == stringsSection) {
      auto contents = file.getSectionContents(*section);
      if (!contents)
        return contents.takeError();
      front.strings = bytes = strings.placePrefix(toStringRef(*contents));
    } else if (is_contained(facts.unwanted, name)) {
      bytes = 0;
    } else if (auto wanted = facts.wantedBytes.find(name); wanted != facts.wantedBytes.end()) {
      bytes = std::min(bytes, wanted->second);
    } else if (name != ".text" && !isOfFront(name) && !isLoaderS(name, *section, isRelocated)) {
      front.unnamed += bytes;
    }
    addTail(front, name, *section, bytes, *sizeOfCode, facts);
    if (bytes) {
      front.bytes = section->sh_offset + bytes;
      const uint64_t address = section->sh_addr, shift = address - section->sh_offset;
      // The headers precede the first section.
      const uint64_t lastEnd = front.ranges.empty() ? begin : front.ranges.back().end;
      const bool isNext =
          std::exchange(lastShift, shift) == shift && isWorthReading(address - lastEnd);
      if (front.ranges.empty() || !isNext)
        front.ranges.push_back({isNext ? begin : address, 0});
      front.ranges.back().end = address + bytes;
      front.unnamed += isNext ? unwanted : 0; // read as well
      unwanted = 0;
    }
    unwanted += section->sh_size - bytes;
  }
  joinNearest(front.ranges);
  auto rodata = llvm::find_if(loaded, [](const auto &l) { return l.first == ".rodata"; });
  if (!facts.parts.empty() && rodata != loaded.end()) {
    auto contents = file.getSectionContents(*rodata->second);
    if (!contents)
      return contents.takeError();
    addParts(front, facts.parts, rodata->second->sh_addr, toStringRef(*contents));
  }
  return front;
}

Expected<Front> checkOutput(StringRef bytes, const OutputFacts &facts, HotStrings &strings) {
  return fromElfFile<Front>(bytes, [&](const auto &file) -> Expected<Front> {
    if (Error e = checkEhFrameHdr(file))
      return e;
    return findFront(file, facts, strings);
  });
}

} // namespace frontload
