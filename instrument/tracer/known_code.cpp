// Hears the witnesses, the cheapest first: most programs have unwind information for all their
// code.
#include "known_code.h"

#include "arch.h"
#include "format/frontload_or_empty.h"
#include "recorder/program_file.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Object/Decompressor.h"
#include "llvm/Support/DataExtractor.h"

using namespace llvm;
using namespace llvm::object;
using namespace frontload;

using Elf = ELF64LE;

namespace {
class Witnesses {
public:
  explicit Witnesses(ArrayRef<CodeRange> codeClaims)
      : claims(codeClaims), known(claims.size()), unwindEnds(claims.size()),
        changes(claims.size() + 1) {}

  /// All of this range is code. Counts from settle() on.
  void covers(uint64_t begin, uint64_t size) {
    auto first =
        llvm::partition_point(claims, [&](const CodeRange &claim) { return claim.begin < begin; });
    auto end = std::partition_point(
        first, claims.end(), [&](const CodeRange &claim) { return claim.begin - begin < size; });
    if (first != end && first->begin == begin)
      unwindEnds[first - claims.begin()] = begin + size;
    ++changes[first - claims.begin()];
    --changes[end - claims.begin()];
  }
  void settle() {
    int64_t covering = 0;
    for (size_t claim = 0; claim < claims.size(); ++claim)
      if ((covering += changes[claim]) > 0)
        known.set(claim);
  }
  /// An instruction begins here.
  void reaches(uint64_t address) {
    auto next = llvm::upper_bound(claims, address, [](uint64_t value, const CodeRange &claim) {
      return value < claim.begin;
    });
    if (next != claims.begin() && address - std::prev(next)->begin < std::prev(next)->size)
      known.set(std::prev(next) - claims.begin());
  }

  ArrayRef<CodeRange> claims;
  BitVector known;
  std::vector<uint64_t> unwindEnds;

private:
  std::vector<int64_t> changes; // of the number of covering ranges, from one claim to the next
};

/// Reads .eh_frame or .debug_frame: CIEs, with the encoding of addresses, and FDEs, with the
/// beginning and size of each piece of code.
class UnwindReader {
public:
  UnwindReader(ArrayRef<uint8_t> bytes, uint64_t sectionAddress, bool isEhFrame)
      : data(bytes, /*IsLittleEndian=*/true, /*AddressSize=*/8), address(sectionAddress),
        isEh(isEhFrame) {}

  void read(Witnesses &witnesses) {
    for (uint64_t at = 0; data.isValidOffsetForDataOfSize(at, 4);) {
      uint64_t length = data.getU32(&at);
      if (length == 0) // an end mark; a linker may have more behind it
        continue;
      if (length >= 0xfffffff0 || !data.isValidOffsetForDataOfSize(at, length) || length < 4)
        return; // no linker writes sections of 4 GiB
      uint64_t next = at + length, idAt = at;
      uint64_t id = data.getU32(&at);
      if (id != (isEh ? 0 : 0xffffffff))
        readFde(at, isEh ? idAt - id : id, witnesses);
      at = next;
    }
  }

private:
  void readFde(uint64_t at, uint64_t cie, Witnesses &witnesses) {
    auto [known, isNew] = encodings.try_emplace(cie, 0);
    if (isNew)
      known->second = encodingOf(cie);
    uint8_t encoding = known->second;
    uint64_t field = address + at;
    DataExtractor head = headAt(at);
    DataExtractor::Cursor cursor(0);
    uint64_t begin = number(head, cursor, encoding);
    uint64_t size = number(head, cursor, encoding & ~0x08); // never negative
    bool isWhole = bool(cursor);
    consumeError(cursor.takeError());
    if ((encoding & 0x70) == dwarf::DW_EH_PE_pcrel)
      begin += field;
    else if ((encoding & 0x70) != 0)
      isWhole = false; // relative to something that no linker of today uses here
    if (isWhole && encoding != dwarf::DW_EH_PE_omit)
      witnesses.covers(begin, size);
  }

  /// The part of a record that is read: numbers and strings may go on to the end of a section, and
  /// any number of records may share that end.
  DataExtractor headAt(uint64_t at) const {
    constexpr size_t maxHead = 128;
    return DataExtractor(data.getData().substr(at, maxHead), /*IsLittleEndian=*/true,
                         /*AddressSize=*/8);
  }

  static uint64_t number(const DataExtractor &head, DataExtractor::Cursor &cursor,
                         uint8_t encoding) {
    switch (encoding & 0x0f) {
    case dwarf::DW_EH_PE_absptr:
    case dwarf::DW_EH_PE_udata8:
    case dwarf::DW_EH_PE_sdata8:
      return head.getU64(cursor);
    case dwarf::DW_EH_PE_udata4:
      return head.getU32(cursor);
    case dwarf::DW_EH_PE_sdata4:
      return int32_t(head.getU32(cursor));
    case dwarf::DW_EH_PE_udata2:
      return head.getU16(cursor);
    case dwarf::DW_EH_PE_sdata2:
      return int16_t(head.getU16(cursor));
    default:
      return head.getULEB128(cursor); // not used for these; the cursor goes on
    }
  }

  /// The encoding of addresses in the FDEs of a CIE; DW_EH_PE_omit if it is not understood.
  uint8_t encodingOf(uint64_t cie) const {
    uint8_t encoding = dwarf::DW_EH_PE_absptr;
    DataExtractor head = headAt(cie);
    DataExtractor::Cursor cursor(0);
    uint32_t length = head.getU32(cursor), id = head.getU32(cursor);
    uint8_t version = head.getU8(cursor);
    StringRef augmentation = head.getCStrRef(cursor);
    if (version >= 4)
      head.getU16(cursor); // sizes of addresses and segments
    head.getULEB128(cursor);
    head.getSLEB128(cursor);
    if (version == 1)
      head.getU8(cursor);
    else
      head.getULEB128(cursor);
    bool isUnderstood = length >= 4 && id == (isEh ? 0 : 0xffffffff);
    if (augmentation.consume_front("z"))
      head.getULEB128(cursor);
    else
      isUnderstood &= augmentation.empty();
    for (char letter : augmentation) {
      if (letter == 'R')
        encoding = head.getU8(cursor);
      else if (letter == 'L')
        head.getU8(cursor);
      else if (letter == 'P') {
        uint8_t ofPersonality = head.getU8(cursor);
        isUnderstood &= (ofPersonality & 0x70) != dwarf::DW_EH_PE_aligned;
        number(head, cursor, ofPersonality);
      }
    }
    isUnderstood &= bool(cursor);
    consumeError(cursor.takeError());
    return isUnderstood ? encoding : uint8_t(dwarf::DW_EH_PE_omit);
  }

  DataExtractor data;
  uint64_t address;
  bool isEh;
  DenseMap<uint64_t, uint8_t> encodings; // by offset of the CIE
};
} // namespace

/// Empty if that is impossible, or the result implausibly large.
static ArrayRef<uint8_t> decompress(ArrayRef<uint8_t> bytes, SmallVectorImpl<uint8_t> &result) {
  constexpr uint64_t maxRatio = 32;
  auto reader = Decompressor::create("", toStringRef(bytes), /*IsLE=*/true, /*Is64Bit=*/true);
  if (!reader) {
    consumeError(reader.takeError());
    return {};
  }
  if (reader->getDecompressedSize() > maxRatio * bytes.size())
    return {};
  consumeError(reader->resizeAndDecompress(result));
  return result;
}

static void readUnwindInformation(const ELFFile<Elf> &elf, Elf::ShdrRange sections,
                                  Witnesses &witnesses) {
  StringRef names = orEmpty(elf.getSectionStringTable(sections));
  // With the end of the string: a name may be as long as the file.
  const StringRef ehFrame(".eh_frame", sizeof ".eh_frame");
  const StringRef debugFrame(".debug_frame", sizeof ".debug_frame");
  BytesLeft left(elf.getBufSize());
  for (const Elf::Shdr &section : sections) {
    StringRef name = names.substr(section.sh_name);
    bool isEh = name.starts_with(ehFrame);
    if (section.sh_type == ELF::SHT_NOBITS || !(isEh || name.starts_with(debugFrame)) ||
        !left.take(section.sh_size))
      continue;
    ArrayRef<uint8_t> bytes = orEmpty(elf.getSectionContents(section));
    SmallVector<uint8_t, 0> decompressed;
    if (section.sh_flags & ELF::SHF_COMPRESSED)
      bytes = decompress(bytes, decompressed);
    UnwindReader(bytes, section.sh_addr, isEh).read(witnesses);
  }
  witnesses.settle();
}

static bool isLoaderArray(const Elf::Shdr &section) {
  return section.sh_type == ELF::SHT_INIT_ARRAY || section.sh_type == ELF::SHT_FINI_ARRAY ||
         section.sh_type == ELF::SHT_PREINIT_ARRAY;
}

/// The functions that the loader calls: the entry, those of the dynamic section, and those in the
/// arrays of constructors and destructors, as they are in the file or as relocations put them
/// there.
static void readLoaderCalls(const ELFFile<Elf> &elf, Elf::ShdrRange sections,
                            Witnesses &witnesses) {
  constexpr size_t maxArrays = 8; // honest files have one of each kind
  SmallVector<const Elf::Shdr *, maxArrays> arrays;
  witnesses.reaches(elf.getHeader().e_entry);
  for (const Elf::Dyn &entry : dynamicEntries(elf))
    if (entry.getTag() == ELF::DT_INIT || entry.getTag() == ELF::DT_FINI)
      witnesses.reaches(entry.getPtr());
  for (const Elf::Shdr &section : sections) {
    if (!isLoaderArray(section) || arrays.size() == maxArrays)
      continue;
    arrays.push_back(&section);
    for (uint64_t place : orEmpty(elf.getSectionContentsAsArray<Elf::Addr>(section)))
      witnesses.reaches(place);
  }
  BytesLeft left(elf.getBufSize());
  for (const Elf::Shdr &section : sections) {
    if (section.sh_type != ELF::SHT_RELA || !(section.sh_flags & ELF::SHF_ALLOC) ||
        !left.take(section.sh_size))
      continue;
    for (const Elf::Rela &relocation : orEmpty(elf.relas(section))) {
      uint32_t type = relocation.getType(/*isMips64EL=*/false);
      if (type == arch::resolverRelocation ||
          (type == arch::relativeRelocation && llvm::any_of(arrays, [&](const Elf::Shdr *array) {
             return relocation.r_offset - array->sh_addr < array->sh_size;
           })))
        witnesses.reaches(relocation.r_addend);
    }
  }
}

const CodeSection *frontload::sectionAt(ArrayRef<CodeSection> sections, uint64_t address) {
  auto next = llvm::upper_bound(
      sections, address, [](uint64_t value, auto &section) { return value < section.begin; });
  if (next == sections.begin() || address >= std::prev(next)->end)
    return nullptr;
  return std::prev(next);
}

static void hearLoaderAndBranches(const ELFFile<Elf> &elf, Elf::ShdrRange sections,
                                  ArrayRef<CodeSection> code, Witnesses &witnesses) {
  readLoaderCalls(elf, sections, witnesses);
  // A large program has millions of branches, and few claims that still need one.
  std::vector<CodeRange> doubted;
  std::vector<unsigned> numbers;
  for (const auto &[index, claim] : enumerate(witnesses.claims))
    if (!witnesses.known.test(index)) {
      doubted.push_back(claim);
      numbers.push_back(index);
    }
  Witnesses branches(doubted);
  for (const CodeSection &section : code)
    arch::visitBranches(section.bytes, section.begin,
                        [&](uint64_t target) { branches.reaches(target); });
  for (unsigned found : branches.known.set_bits())
    witnesses.known.set(numbers[found]);
}

KnownCode frontload::knownCode(const ELFFile<Elf> &elf, ArrayRef<CodeSection> code,
                               ArrayRef<CodeRange> claims) {
  Witnesses witnesses(claims);
  Elf::ShdrRange sections = orEmpty(elf.sections());
  readUnwindInformation(elf, sections, witnesses);
  if (!witnesses.known.all())
    hearLoaderAndBranches(elf, sections, code, witnesses);
  return {std::move(witnesses.known), std::move(witnesses.unwindEnds)};
}
