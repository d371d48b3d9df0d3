//===- plain_layout.cpp - where the same link would put all without a front ===//
//
// lld's default is in LinkerScript::getOutputSectionName(), getSectionRank() and
// Writer::createPhdrs() of lld/ELF.
//
//===----------------------------------------------------------------------===//

#include "plan/plain_layout.h"
#include "elf/elf_file.h"
#include "elf/section_class.h"
#include "frontload_note.h"
#include "plan/front_script.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// At most this many bytes of a gap are read to fill a page.
static constexpr uint64_t page = 4096;

/// Whether a section only fills the end of a segment.
static bool isPadding(StringRef name) { return name.ends_with("padding"); }

StringRef plainOutputOf(StringRef name, const PlainTraits &traits) {
  if (traits.keepsTextPrefix)
    for (StringRef kind : codeKinds)
      if (StringRef rest = name; rest.consume_front(".text.") && hasStem(rest, kind))
        return name.drop_back(rest.size() - kind.size());
  for (StringRef stem :
       {".data.rel.ro", ".data", ".rodata", ".bss.rel.ro", ".bss", ".ldata", ".lrodata", ".lbss",
        ".gcc_except_table", ".init_array", ".fini_array", ".tbss", ".tdata", ".text"})
    if (hasStem(name, stem))
      return name.take_front(stem.size());
  return name;
}

/// The output section that would hold the contents of `output` without a front.
static StringRef plainOutputOfFrontS(StringRef output) {
  return output == stringsSection || output == frontRodataSection ? StringRef(".rodata")
         : output == frontTextSection                             ? StringRef(".text")
         : output == frontDataSection                             ? StringRef(".data")
                                                                  : output;
}

namespace {
/// Where an output section lies among others: lld sorts them by this.
enum class Rank : uint8_t {
  Interpreter,
  Note,
  Table,
  LargeConstants,
  Constants,
  Code,
  Tls,
  TlsZeros,
  Relro,
  Data,
  LargeData,
  Zeros,
  LargeZeros
};

/// The rights that a segment has.
enum class Rights : uint8_t { Read, Execute, Relro, Write };

struct Output {
  Rank rank;
  bool isZeros;
  struct Part {
    uint64_t front, size, alignment;
  };
  std::vector<Part> parts;
};
} // namespace

static Rank rankOf(StringRef name, uint32_t type, uint64_t flags) {
  bool isZeros = type == ELF::SHT_NOBITS, isLarge = flags & ELF::SHF_X86_64_LARGE;
  if (flags & ELF::SHF_EXECINSTR)
    return Rank::Code;
  if (!(flags & ELF::SHF_WRITE))
    return name == ".interp"           ? Rank::Interpreter
           : type == ELF::SHT_NOTE     ? Rank::Note
           : type != ELF::SHT_PROGBITS ? Rank::Table
           : isLarge                   ? Rank::LargeConstants
                                       : Rank::Constants;
  if (flags & ELF::SHF_TLS)
    return isZeros ? Rank::TlsZeros : Rank::Tls;
  if (is_contained(
          {ELF::SHT_INIT_ARRAY, ELF::SHT_FINI_ARRAY, ELF::SHT_PREINIT_ARRAY, ELF::SHT_DYNAMIC},
          type) ||
      is_contained({".data.rel.ro", ".bss.rel.ro", ".got", ".ctors", ".dtors", ".jcr"}, name))
    return Rank::Relro;
  if (isZeros)
    return isLarge ? Rank::LargeZeros : Rank::Zeros;
  return isLarge ? Rank::LargeData : Rank::Data;
}

static Rights rightsOf(Rank rank, const PlainTraits &traits) {
  if (rank < Rank::Code)
    return traits.hasRosegment ? Rights::Read : Rights::Execute;
  return rank == Rank::Code ? Rights::Execute : rank < Rank::Data ? Rights::Relro : Rights::Write;
}

namespace {
/// Adds up the bytes that fill pages between loaded contents, in the order of the file.
class Filling {
public:
  void add(uint64_t begin, uint64_t size) {
    if (end && begin > *end)
      sum += std::min(begin - *end, page);
    end = std::max(end.value_or(0), begin + size);
  }
  uint64_t total() const { return sum + (end ? alignTo(*end, page) - *end : 0); }

private:
  std::optional<uint64_t> end;
  uint64_t sum = 0;
};
} // namespace

/// Lays out what PlainLayout::of() is given.
class PlainLayoutMaker {
public:
  PlainLayoutMaker(MutableArrayRef<PlacedSection> s, const PlainTraits &t)
      : sections(s), traits(t) {}

  template <class ELFT> Error make(const ELFFile<ELFT> &file) {
    auto headers = file.sections();
    if (!headers)
      return headers.takeError();
    auto segments = file.program_headers();
    if (!segments)
      return segments.takeError();
    StringMap<const typename ELFT::Shdr *> byName;
    for (const auto &header : *headers) {
      auto name = file.getSectionName(header);
      if (!name)
        return name.takeError();
      if (header.sh_flags & ELF::SHF_ALLOC)
        byName.try_emplace(*name, &header);
      else if (header.sh_type == ELF::SHT_SYMTAB || header.sh_type == ELF::SHT_STRTAB)
        unloaded += header.sh_size;
    }
    uint64_t base = UINT64_MAX;
    for (const auto &segment : *segments)
      if (segment.p_type == ELF::PT_LOAD) {
        base = std::min<uint64_t>(base, segment.p_vaddr - segment.p_offset);
        pageSize = std::max<uint64_t>(pageSize, segment.p_align);
      }
    uint64_t begin = sizeof(typename ELFT::Ehdr) + segments->size() * sizeof(typename ELFT::Phdr);
    result.pieces.push_back({base, begin, 0});
    position = begin;
    unloaded += headers->size() * sizeof(typename ELFT::Shdr);

    placeMembers([&](StringRef output) -> std::optional<uint64_t> {
      auto found = byName.find(output);
      return found == byName.end() ? std::nullopt : std::optional<uint64_t>(found->second->sh_addr);
    });
    for (const PlacedSection &placed : sections)
      if (placed.address && !placed.isOurs)
        outputFor(plainOutputOf(placed.section.name, traits), placed.section.type,
                  placed.section.flags)
            .parts.push_back({*placed.address, placed.section.size, placed.section.alignment});
    // Sections that the linker itself makes, and bytes of sections that are not from members.
    for (const auto &header : *headers) {
      auto name = file.getSectionName(header);
      if (!name)
        return name.takeError();
      bool isTlsZeros = header.sh_type == ELF::SHT_NOBITS && (header.sh_flags & ELF::SHF_TLS);
      if (!(header.sh_flags & ELF::SHF_ALLOC) || isPadding(*name) || isTlsZeros ||
          *name == FRONTLOAD_NOTE_SECTION)
        continue;
      uint64_t known = std::min<uint64_t>(membersEnd.lookup(*name), header.sh_size);
      if (known < header.sh_size)
        outputFor(plainOutputOfFrontS(*name), header.sh_type, header.sh_flags)
            .parts.push_back({header.sh_addr + known, header.sh_size - known,
                              known ? 1 : std::max<uint64_t>(header.sh_addralign, 1)});
    }
    layOut();
    return Error::success();
  }

  PlainLayout take() { return std::move(result); }

private:
  /// Gives each section its address in the file with the front.
  void placeMembers(function_ref<std::optional<uint64_t>(StringRef)> addressOf) {
    MapVector<StringRef, std::vector<PlacedSection *>> members;
    for (PlacedSection &placed : sections)
      // Merged constants are a section of the linker's own.
      if ((placed.section.flags & ELF::SHF_ALLOC) && !(placed.section.flags & ELF::SHF_MERGE) &&
          placed.section.name != ".eh_frame")
        members[placed.output].push_back(&placed);
    for (auto &[output, some] : members) {
      std::optional<uint64_t> begin = addressOf(output);
      if (!begin)
        continue;
      llvm::stable_sort(some, [](const PlacedSection *a, const PlacedSection *b) {
        return a->order.value_or(UINT32_MAX) < b->order.value_or(UINT32_MAX);
      });
      uint64_t offset = 0;
      for (PlacedSection *placed : some) {
        offset = alignTo(offset, placed->section.alignment);
        placed->address = *begin + offset;
        offset += placed->section.size;
      }
      membersEnd[output] = offset;
    }
  }

  Output &outputFor(StringRef name, uint32_t type, uint64_t flags) {
    auto [it, isNew] =
        outputs.try_emplace(name, Output{rankOf(name, type, flags), type == ELF::SHT_NOBITS, {}});
    return it->second;
  }

  void layOut() {
    std::vector<Output *> sorted;
    for (auto &[name, output] : outputs)
      sorted.push_back(&output);
    llvm::stable_sort(sorted, [](Output *a, Output *b) { return a->rank < b->rank; });
    begin(Rights::Read, 0);
    for (Output *output : sorted) {
      Rights rights = rightsOf(output->rank, traits);
      // The headers go with the first section.
      if (rights != current) {
        if (result.allSegments.size() == 1 && !result.allSegments[0].fileBytes)
          current = rights, result.allSegments[0].isExecutable = rights == Rights::Execute;
        else
          begin(rights, pageSize);
      }
      place(*output);
    }
    end();
    result.size = position + unloaded;
    result.fillingBytes = filling.total();
    llvm::sort(result.pieces, [](const auto &a, const auto &b) { return a.front < b.front; });
  }

  void begin(Rights rights, uint64_t alignment) {
    using enum PlainTraits::Separation;
    end();
    bool isOfCode = rights == Rights::Execute || current == Rights::Execute;
    if (alignment && (traits.separation == All || (traits.separation == Code && isOfCode)))
      position = alignTo(position, alignment);
    current = rights;
    // The headers belong to the first segment. Addresses of segments are far apart, and have the
    // same place in a page as in the file.
    uint64_t number = result.allSegments.size(), offset = number ? position : 0;
    uint64_t address = (number << 40) + offset;
    result.allSegments.push_back({address, offset, 0, 0, rights == Rights::Execute,
                                  rights == Rights::Write ? address : UINT64_MAX});
  }

  void end() {
    if (result.allSegments.empty())
      return;
    FileSegment &last = result.allSegments.back();
    last.fileBytes = position - last.offset;
    last.memoryBytes += last.fileBytes;
  }

  void place(const Output &output) {
    FileSegment &segment = result.allSegments.back();
    for (const Output::Part &part : output.parts) {
      if (output.isZeros) {
        if (output.rank >= Rank::Zeros)
          segment.memoryBytes += part.size;
        continue;
      }
      position = alignTo(position, part.alignment);
      filling.add(position, part.size);
      result.pieces.push_back(
          {part.front, part.size, segment.address + (position - segment.offset)});
      position += part.size;
    }
    segment.fileBytes = position - segment.offset;
  }

  MutableArrayRef<PlacedSection> sections;
  const PlainTraits &traits;
  PlainLayout result;
  MapVector<StringRef, Output> outputs;
  StringMap<uint64_t> membersEnd;
  uint64_t position = 0, pageSize = page;
  /// The unloaded bytes behind: symbols and headers. Debug information is not counted: a file
  /// without a front has it as well, but for that of our own library.
  uint64_t unloaded = 0;
  Rights current = Rights::Read;
  Filling filling;
};

Expected<PlainLayout> PlainLayout::of(StringRef linked, MutableArrayRef<PlacedSection> sections,
                                      const PlainTraits &traits) {
  PlainLayoutMaker maker(sections, traits);
  if (Error e = withElfFile(linked, [&](const auto &file) { return maker.make(file); }))
    return e;
  return maker.take();
}

std::optional<uint64_t> PlainLayout::addressOf(uint64_t front) const {
  auto behind = llvm::partition_point(pieces, [&](const Piece &p) { return p.front <= front; });
  if (behind == pieces.begin())
    return std::nullopt;
  const Piece &piece = *std::prev(behind);
  return front - piece.front < piece.size ? std::optional(piece.plain + (front - piece.front))
                                          : std::nullopt;
}

Expected<LoadedContents> contentsOf(StringRef linked) {
  LoadedContents result = {};
  Error problem = withElfFile(linked, [&](const auto &file) -> Error {
    auto headers = file.sections();
    if (!headers)
      return headers.takeError();
    std::vector<std::pair<uint64_t, uint64_t>> loaded; // offset and size
    for (const auto &header : *headers) {
      auto name = file.getSectionName(header);
      if (!name)
        return name.takeError();
      if ((header.sh_flags & ELF::SHF_ALLOC) && header.sh_type != ELF::SHT_NOBITS &&
          header.sh_size && !isPadding(*name))
        loaded.push_back({header.sh_offset, header.sh_size});
    }
    llvm::sort(loaded);
    Filling filling;
    for (auto [offset, size] : loaded) {
      filling.add(offset, size);
      result.bytes += size;
    }
    result.filling = filling.total();
    return Error::success();
  });
  if (problem)
    return problem;
  return result;
}

} // namespace frontload
