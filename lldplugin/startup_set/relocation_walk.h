//===- relocation_walk.h - follows what the startup set refers to ----------===//
//
// A function trace says nothing about the data that the functions read. Yet each constant that
// stays behind costs a page outside the front, and a third of them (jump tables, literals, strings)
// has no symbol that an order file could name. So this follows the relocations of the touched
// functions to the data they refer to, and the relocations of that data once more, to the constants
// that its tables point to. It leaves out large tables: anything larger than the window that a
// fault reads is cheaper to fault in than to carry along. For functions that were touched by a run
// that records data, it takes only recorded data, and relocations find what the record could not
// name.
//
// On a 207 MB clang (bench/workloads/cc1) this takes the cold start from 97 major faults
// (functions, and the unnamed constants they refer to) to 70. A third step to data finds nothing
// more that is touched, but a megabyte that is not.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_RELOCATION_WALK_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_RELOCATION_WALK_H

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

  /// One step along the relocations, through all objects: ObjectScan::referred gets what the
  /// frontier refers to, which is the next frontier. The first step is that of what the profile
  /// names: what this calls is noted, too.
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
  /// Whether the profile knows what the entry of a rank of the startup set has touched.
  bool isMeasured(uint32_t rank) const {
    return contents.hasData && profile.entries[rank].measured;
  }

  ObjectScans<ELFT> &scans;
  const StartupProfile &profile;
  const ProfileContents &contents;
  const NameFilter &dataNames;
  const bool gathersStrings;
  bool notesCalls = true;
};

} // namespace frontload

#endif
