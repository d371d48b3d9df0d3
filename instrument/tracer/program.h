// One ELF file as the tracer needs it: its functions, and the sites of their breakpoints.
//
// A site is an instruction whose first bytes are replaced by a breakpoint. A function is entered at
// its symbol's address, so it has one site there. A part that the compiler split off (foo.cold) is
// jumped into at any of its instructions, so each of them is a site, and the first one that is hit
// stands for the whole part. Aliases (several names at one address) are one function.
//
// If basic blocks are wanted, and the file says where they begin, each of them is a function here,
// with one site.
#pragma once

#include "arch.h"
#include "recorder/program_file.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>
#include <vector>

namespace frontload {

/// All addresses are as in the file: the run-time address minus the load bias.
struct Site {
  uint64_t address;
  uint32_t function; // functions are numbered in order of address
  arch::Code original;
};

class Program : public ProgramFile {
public:
  /// `file` is untrusted. A file without symbols is a program with no sites; one that is made for
  /// another machine is an error. Functions named `until` are remembered.
  static llvm::Expected<Program> read(llvm::MemoryBufferRef file, llvm::StringRef until,
                                      bool wantsBlocks = false);

  /// In order of address; the sites of one function are neighbours, its entry is the first.
  llvm::ArrayRef<Site> sites() const { return siteList; }
  llvm::ArrayRef<Site> sitesOf(uint32_t function) const;
  /// The sites in the neighbourhood of an address.
  llvm::ArrayRef<Site> sitesNear(uint64_t address) const;
  /// Where the largest sections of code begin.
  llvm::ArrayRef<uint64_t> codeBegins() const { return largestSections; }
  /// The function that has a site at this address.
  std::optional<uint32_t> functionWithSiteAt(uint64_t address) const;
  uint32_t functionCount() const { return siteList.empty() ? 0 : siteList.back().function + 1; }
  /// Whether it is a basic block of a function, other than the first.
  bool isBlock(uint32_t function) const { return blockFunctions.test(function); }
  bool hasBlocks() const { return blockFunctions.any(); }
  bool endsRecording(uint32_t function) const { return untilFunctions.contains(function); }
  /// The private memory that a process has once all sites are planted.
  uint64_t plantedBytes() const;
  /// The number of function symbols without a site, because nothing proves that they are code.
  size_t doubtful() const { return doubtfulCount; }
  /// The number of functions without a site, because that might be inside of an instruction.
  size_t inside() const { return insideCount; }
  /// Whether functions have no site, because the program may rewrite them.
  bool hasWritableCode() const { return writableCode; }
  bool importsPtrace() const { return ptraceImport; }
  /// Whether it traces processes, or itself: it has LeakSanitizer, or is stripped and imports
  /// ptrace, as a debugger. (If it has symbols, it hardly ever has more than a crash handler.)
  bool isTracer() const { return tracer; }
  bool hasUntilFunction() const { return !untilFunctions.empty(); }

private:
  explicit Program(ProgramFile file) : ProgramFile(std::move(file)) {}

  bool ptraceImport = false, tracer = false, writableCode = false;
  size_t doubtfulCount = 0, insideCount = 0;
  std::vector<Site> siteList;
  std::vector<uint32_t> firstSites; // per function
  std::vector<uint64_t> largestSections;
  llvm::BitVector blockFunctions;
  llvm::DenseSet<uint32_t> untilFunctions;
};

} // namespace frontload
