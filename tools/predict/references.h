//===- references.h - pairs the references of two builds -------------------===//
//
// Jump tables, literals and merged strings have no symbols, so names do not find them in another
// layout. But the same instruction of the same function, or the same relocated pointer, refers to
// the same thing in both builds.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_PREDICT_REFERENCES_H
#define FRONTLOAD_TOOLS_PREDICT_REFERENCES_H

#include "cold_start/start_model.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Object/ELFObjectFile.h"
#include <vector>

namespace frontload {

/// An address of the recorded build, and the matching one of the other build.
struct AddressPair {
  uint64_t recorded, target;
  friend auto operator<=>(const AddressPair &, const AddressPair &) = default;
};

/// A linked file by its addresses.
class LinkedImage {
public:
  /// Without segments if they cannot be read: nothing is found in it.
  explicit LinkedImage(const llvm::object::ELFObjectFileBase &file);

  /// As in LinkedFile.
  llvm::StringRef at(uint64_t address) const { return linked().at(address); }
  bool isCode(uint64_t address) const;
  bool isData(uint64_t address) const;
  /// The places that the dynamic linker adds the load bias to, with the addresses that are there.
  llvm::DenseMap<uint64_t, uint64_t> pointers() const;

private:
  LinkedFile linked() const { return {bytes, segments}; }

  llvm::StringRef bytes;
  std::vector<FileSegment> segments;
};

/// Appends the references of the function at a pair of addresses to `found`, if it is of x86-64.
void pairReferences(const LinkedImage &recorded, const LinkedImage &target, AddressPair function,
                    uint64_t size, std::vector<AddressPair> &found);

/// Sorts the pairs by their recorded address, and keeps the most frequent target of each.
void sortAndVote(std::vector<AddressPair> &pairs);

} // namespace frontload

#endif
