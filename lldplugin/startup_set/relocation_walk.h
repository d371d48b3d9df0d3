// Follows the startup set's references.
//
// A function trace does not record the data that functions read. Yet each constant outside of the
// front costs a page, and a third of the constants (jump tables, literals, strings) have no symbol
// for an order file. So this follows the relocations of the touched functions to their data, and
// the relocations of that data once more, to the constants that its tables point to. It leaves out
// large tables: a section larger than the window of a fault is cheaper to fault in. For functions
// that were touched by a run that records data, it takes only recorded data, and data that the
// record could not name.
//
// On a 207 MB clang (bench/workloads/cc1) this takes the cold start from 97 major faults
// (functions, and the unnamed constants they refer to) to 70. A third step to data finds nothing
// more that is touched, but a megabyte that is not.
#pragma once

#include "startup_set/object_scan.h"
#include "startup_set/profile_contents.h"

namespace frontload {

template <class ELFT> class RelocationWalk {
public:
  /// `dataNames` has the names of all data that objects may refer to. With `gathersStrings`,
  /// strings are noted one by one, in ObjectScan::strings.
  RelocationWalk(ObjectScans<ELFT> &s, const StartupProfile &p, const ProfileContents &c,
                 const NameFilter &d, bool g)
      : scans(s), profile(p), contents(c), dataNames(d), gathersStrings(g) {}

  /// Follows the relocations of the frontier in all objects: their targets go to
  /// ObjectScan::referred, and are the next frontier. The first step begins at the named sections.
  void step();

private:
  using Shdr = typename ELFT::Shdr;
  using Scan = ObjectScan<ELFT>;

  bool isRecorded(const Scan &scan, uint32_t section, SectionClass c) const;
  bool mayReadString(const Scan &scan, const Shdr &section, uint64_t offset) const;
  bool isWorthMerging(Scan &scan, uint32_t section, uint64_t offset);
  void referTo(Scan &scan, uint32_t section, uint64_t offset, uint32_t rank);
  void referToString(Scan &scan, const Shdr &section, uint64_t offset, uint32_t rank);
  void followIn(Scan &scan);
  /// Whether the profile records the data that the entry with this rank touched.
  bool isMeasured(uint32_t rank) const {
    return contents.hasData && profile.entries[rank].measured;
  }

  ObjectScans<ELFT> &scans;
  const StartupProfile &profile;
  const ProfileContents &contents;
  const NameFilter &dataNames;
  const bool gathersStrings;
};

} // namespace frontload
