// Pairs code and data of two builds without symbols.
#include "predict/build_pairs.h"
#include "elf/elf_file.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

BlockPairs::BlockPairs(const std::vector<FunctionBlocks> &recorded,
                       const std::vector<FunctionBlocks> &target,
                       function_ref<std::optional<uint64_t>(uint64_t)> inTarget) {
  DenseMap<uint64_t, const FunctionBlocks *> byAddress;
  for (const FunctionBlocks &function : target)
    byAddress.try_emplace(function.address, &function);
  for (const FunctionBlocks &function : recorded) {
    std::optional<uint64_t> place = inTarget(function.address);
    const FunctionBlocks *other = place ? byAddress.lookup(*place) : nullptr;
    if (!other || other->hash != function.hash)
      continue;
    DenseMap<uint32_t, const Block *> byId;
    for (const Block &block : other->blocks)
      byId.try_emplace(block.id, &block);
    for (const Block &block : function.blocks)
      if (const Block *same = byId.lookup(block.id); same && block.size && same->size)
        pairs.push_back({block.address, same->address, block.size, same->size});
  }
  llvm::sort(pairs, [](const Pair &a, const Pair &b) { return a.recorded < b.recorded; });
}

std::optional<uint64_t> BlockPairs::find(uint64_t address) const {
  auto next = partition_point(pairs, [&](const Pair &pair) { return pair.recorded <= address; });
  if (next == pairs.begin())
    return std::nullopt;
  const Pair &pair = *std::prev(next);
  uint64_t offset = address - pair.recorded;
  if (offset >= pair.recordedSize)
    return std::nullopt;
  return pair.target + std::min<uint64_t>(offset, pair.targetSize - 1);
}

void BlockPairs::forEachIn(uint64_t begin, uint64_t end,
                           function_ref<void(uint64_t, uint64_t, uint64_t)> visit) const {
  auto next = partition_point(pairs, [&](const Pair &pair) { return pair.recorded < begin; });
  for (; next != pairs.end() && next->recorded < end; ++next)
    visit(next->recorded, next->target, std::min(next->recordedSize, next->targetSize));
}

/// RELR relocations, like REL ones, have the address in the file; RELA has it in the relocation.
template <class ELFT>
static void addPointers(const ELFFile<ELFT> &file, const LinkedFile &image,
                        DenseMap<uint64_t, uint64_t> &pointers) {
  using Word = typename ELFT::uint;
  // A hostile table may name more places than fit in the file, or places outside of it.
  size_t maxPointers = file.getBufSize() / sizeof(Word);
  auto add = [&](uint64_t place, std::optional<uint64_t> address) {
    StringRef word = image.at(place);
    if (word.size() >= sizeof(Word) && pointers.size() < maxPointers)
      pointers[place] =
          address ? *address : uint64_t(support::endian::read<Word, ELFT::Endianness>(word.data()));
  };
  uint32_t relative = file.getRelativeRelocationType();
  for (const auto &section : orEmpty(file.sections())) {
    if (!(section.sh_flags & ELF::SHF_ALLOC))
      continue;
    if (section.sh_type == ELF::SHT_RELA) {
      for (const auto &relocation : orEmpty(file.relas(section)))
        if (relocation.getType(file.isMips64EL()) == relative)
          add(relocation.r_offset, static_cast<uint64_t>(relocation.r_addend));
    } else if (section.sh_type == ELF::SHT_RELR) {
      forEachPackedRelocation<ELFT>(
          orEmpty(file.relrs(section)), [] {}, [&](uint64_t place) { add(place, std::nullopt); });
    }
  }
}

DenseMap<uint64_t, uint64_t> pointersIn(const LinkedFile &image) {
  DenseMap<uint64_t, uint64_t> found;
  consumeError(withElfFile(image.bytes, [&](const auto &file) {
    addPointers(file, image, found);
    return Error::success();
  }));
  return found;
}

/// An operand at an address relative to the next instruction is a ModRM byte with mod 0 and r/m 5,
/// and four bytes (Intel's manual, volume 2, 2.2.1.6). An immediate operand may follow; it moves
/// both addresses of the pair alike, by no more than its size. Bytes that only look like an operand
/// hardly ever give two addresses of data.
void pairReferences(const LinkedFile &recorded, const LinkedFile &target, AddressPair function,
                    uint64_t size, std::vector<AddressPair> &found) {
  StringRef one = recorded.at(function.recorded).take_front(size);
  StringRef other = target.at(function.target).take_front(size);
  if (one.size() != other.size())
    return;
  for (size_t at = 2; at + 4 <= one.size(); ++at) {
    if ((one[at - 1] & 0xc7) != 5 || one[at - 1] != other[at - 1] || one[at - 2] != other[at - 2])
      continue;
    auto operand = [&](StringRef code, uint64_t start) {
      return start + at + 4 +
             static_cast<uint64_t>(int64_t(int32_t(support::endian::read32le(code.data() + at))));
    };
    auto isData = [](const FileSegment *segment) { return segment && !segment->isExecutable; };
    AddressPair pair = {operand(one, function.recorded), operand(other, function.target)};
    if (isData(recorded.segmentAt(pair.recorded)) && isData(target.segmentAt(pair.target)))
      found.push_back(pair);
  }
}

void sortAndVote(std::vector<AddressPair> &pairs) {
  llvm::sort(pairs);
  size_t kept = 0;
  for (size_t first = 0; first < pairs.size();) {
    size_t best = first, bestVotes = 0, next = first;
    for (; next < pairs.size() && pairs[next].recorded == pairs[first].recorded;) {
      size_t same = next;
      while (next < pairs.size() && pairs[next] == pairs[same])
        ++next;
      if (next - same > bestVotes) {
        best = same;
        bestVotes = next - same;
      }
    }
    pairs[kept++] = pairs[best];
    first = next;
  }
  pairs.resize(kept);
}

} // namespace frontload
