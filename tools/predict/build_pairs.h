// Pairs code and data of two builds without symbols.
//
// A function that was split by its basic blocks lies in two places, so an offset in it means
// nothing. If both builds have maps of their blocks (elf/block_map.h), and the function has the
// same blocks in both, each block is found by its id.
//
// Jump tables, literals and merged strings have no symbols, so names do not find them in another
// layout. But the same instruction of the same function, or the same relocated pointer, refers to
// the same thing in both builds.
#pragma once

#include "elf/block_map.h"
#include "elf/linked_file.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <vector>

namespace frontload {

class BlockPairs {
public:
  BlockPairs() = default;
  /// `inTarget` returns the address in `target` of the function at an address in `recorded`.
  BlockPairs(const std::vector<FunctionBlocks> &recorded, const std::vector<FunctionBlocks> &target,
             llvm::function_ref<std::optional<uint64_t>(uint64_t)> inTarget);

  /// The address in `target` of the code at this address in `recorded`. If the block is shorter
  /// there, because it no longer jumps to the next one, at most its last byte.
  std::optional<uint64_t> find(uint64_t address) const;

  /// Calls `visit` for each block of `recorded` from `begin` to before `end`, with its addresses
  /// and its common size in both.
  void forEachIn(
      uint64_t begin, uint64_t end,
      llvm::function_ref<void(uint64_t recorded, uint64_t target, uint64_t size)> visit) const;

private:
  struct Pair {
    uint64_t recorded, target;
    uint32_t recordedSize, targetSize;
  };
  std::vector<Pair> pairs; // by their addresses in `recorded`
};

/// An address of the recorded build, and the matching one of the other build.
struct AddressPair {
  uint64_t recorded, target;
  friend auto operator<=>(const AddressPair &, const AddressPair &) = default;
};

/// The places in a file that the dynamic linker adds the load bias to, with the addresses that are
/// there.
llvm::DenseMap<uint64_t, uint64_t> pointersIn(const LinkedFile &file);

/// Appends the references of the function at a pair of addresses to `found`, if it is of x86-64.
void pairReferences(const LinkedFile &recorded, const LinkedFile &target, AddressPair function,
                    uint64_t size, std::vector<AddressPair> &found);

/// Sorts the pairs by their recorded address, and keeps the most frequent target of each.
void sortAndVote(std::vector<AddressPair> &pairs);

} // namespace frontload
