// The sections of a link, before it is written.
//
// Where each section will lie in the output, with a front and without: as much as the section
// headers of the inputs and the plan tell.
#pragma once

#include "plan/front_link.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include <vector>

namespace frontload {

/// Where sections lie without a front: lld sorts them by the rights of their segments.
enum class Rights : uint8_t { Read, Execute, Relro, Write };
constexpr unsigned numRights = 4;

/// Where they lie with one (front_script.cpp).
enum class Part : uint8_t {
  Headers,
  Constants,
  Relro,
  Data,
  Relocations,
  FrontRodata,
  Strings,
  FrontText, ///< the front ends here
  Text,
  Rodata,
  RestOfData,
  LargeData ///< SHF_X86_64_LARGE
};

/// The file without a front, and the one with it.
enum Layout : uint8_t { Plain, WithFront };

/// A part of both files: a section.
struct Piece {
  uint64_t size, alignment;
  Rights rights;
  Part part;
  uint32_t output = 0;                     ///< the number of its output section
  uint32_t order = 0;                      ///< in the front
  bool isRead = true;                      ///< together with the front
  uint32_t object = 0, index = 0;          ///< the number of its object, and its own in there
  const PlannedSection *planned = nullptr; ///< of a startup section
  uint64_t address[2] = {};                ///< by layout
};

/// The sections of a link that have contents.
class LinkedSections {
public:
  explicit LinkedSections(const FrontLink &l)
      : link(l), placement(l.placement()), behind(l.outputsBehind().all()) {}
  /// Calls `visit` with each section that has one of the `names`, and with the number of its name,
  /// in the order of the objects and of their section tables.
  void forEach(llvm::ArrayRef<const char *> names,
               llvm::function_ref<void(const Piece &, uint32_t)> visit);

private:
  struct Output {
    uint32_t number; ///< from 1
    bool isBehind;   ///< behind the front
  };
  Output outputOf(llvm::StringRef name);
  template <class ELFT>
  void forEachOf(const ElfObject<ELFT> &object, uint32_t number, llvm::ArrayRef<NumberedName> names,
                 llvm::function_ref<void(const Piece &, uint32_t)> visit);

  const FrontLink &link;
  const Placement &placement;
  const std::vector<std::string> behind; ///< output sections that are not worth a place
  llvm::StringMap<Output> outputs;
};

} // namespace frontload
