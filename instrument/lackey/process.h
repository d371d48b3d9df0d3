// One recorded process: turns its accesses into the first touches of its trace.
//
// The log has neither times nor system calls, so this has to guess when memory was mapped. It reads
// the map of the process again when an instruction is in none of its regions, and whenever the
// loader has worked for longer than it takes to bind a function: then it may have opened or closed
// a library.
#ifndef FRONTLOAD_LACKEY_PROCESS_H
#define FRONTLOAD_LACKEY_PROCESS_H

#include "memory_map.h"
#include "recorder/trace_writer.h"

#include "llvm/Support/MemAlloc.h"

#include <cstdlib>
#include <list>

namespace frontload {

class RecordedProcess {
public:
  /// `parent` is the process that it was forked from, or null: a child begins with its memory map.
  RecordedProcess(Modules &modules, TraceFolder &folder, pid_t pid, const RecordedProcess *parent);

  /// Reads on in its log, from where the bytes before ended.
  void read(llvm::ArrayRef<char> bytes);

  bool hasRun() const { return code != nullptr; }
  /// What valgrind has to say, as far as it is worth showing.
  llvm::ArrayRef<std::string> messages() const { return messageList; }

  // What the log consists of.
  void instruction(uint64_t address) {
    if (!code || !code->contains(address))
      enterRegion(address);
    if (code->isLoader)
      ++loaderRun;
    if (codeMapping)
      touchCode(*codeMapping, address);
  }
  void access(uint64_t address, uint64_t size) {
    // Before the first instruction nobody has accessed anything.
    if (!code || code->isLoader)
      return;
    for (RecordedMapping &mapping : recorded)
      if (address - mapping.begin < mapping.size)
        touchData(mapping, address, size);
  }
  void message(llvm::StringRef line);

private:
  /// A set of granules. The kernel gives its memory as it is needed, and programs have large and
  /// empty .bss sections.
  class GranuleSet {
  public:
    explicit GranuleSet(uint64_t count)
        : bytes(static_cast<uint8_t *>(llvm::safe_calloc(count / 8 + 1, 1)), free) {}
    /// Returns whether it was not there yet.
    bool insert(uint64_t granule) {
      uint8_t bit = 1 << granule % 8;
      if (bytes.get()[granule / 8] & bit)
        return false;
      bytes.get()[granule / 8] |= bit;
      return true;
    }

  private:
    std::unique_ptr<uint8_t, void (*)(void *)> bytes;
  };

  struct RecordedModule {
    const Module *module;
    uint32_t traceNumber; // 0: not announced in the trace yet
    uint64_t firstGranule;
    GranuleSet code, data;
  };

  struct RecordedMapping {
    uint64_t begin, size, bias;
    RecordedModule *module;
  };

  static constexpr uint64_t granuleSize = FRONTLOAD_GRANULE;

  void enterRegion(uint64_t address);
  void readMap();
  RecordedModule &recordedModule(const Module &module);
  void touchCode(const RecordedMapping &mapping, uint64_t address) {
    RecordedModule &module = *mapping.module;
    uint64_t inFile = address - mapping.bias;
    if (module.code.insert(inFile / granuleSize - module.firstGranule))
      write(module, FRONTLOAD_CODE, inFile);
  }
  void touchData(const RecordedMapping &mapping, uint64_t address, uint64_t size) {
    RecordedModule &module = *mapping.module;
    uint64_t first = address - mapping.bias;
    uint64_t last = std::min(first + size, module.module->memoryEnd) - 1;
    for (uint64_t granule = first / granuleSize; granule <= last / granuleSize; ++granule)
      if (module.data.insert(granule - module.firstGranule))
        write(module, FRONTLOAD_DATA, granule * granuleSize);
  }
  void write(RecordedModule &module, frontload_record_kind kind, uint64_t address);

  Modules &modules;
  pid_t pid;
  MemoryMap map;
  TraceWriter trace;
  std::list<RecordedModule> recordedModules;
  std::vector<RecordedMapping> recorded;
  const Region *code = nullptr; // where the current instruction is
  const RecordedMapping *codeMapping = nullptr;
  uint64_t loaderRun = 0; // instructions of the loader since the map was read
  std::string rest;       // the beginning of a line
  std::vector<std::string> messageList;
};

} // namespace frontload

#endif
