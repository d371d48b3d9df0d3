// What the code of a function may run, and refer to.
//
// A profile often has nothing about how far a function ran. A linked file has no relocations from
// code to constants, a third of which have no symbol. This follows the instructions from the entry
// of a function, and reports the code on the way and the addresses in its operands.
//
// A call of a function that no start enters is a dead end, as of an error path: the straight code
// up to that call never ran.
#pragma once

#include "elf/linked_file.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>

namespace frontload {

/// The events of a walk, in an order in which code may run.
struct CodeEvents {
  /// Code that may run, by its address and size.
  llvm::function_ref<void(uint64_t address, uint64_t size)> run;
  /// An address in an operand of that code; it may be any number.
  llvm::function_ref<void(uint64_t address)> refer;
  /// Whether a start may call the function at this address.
  llvm::function_ref<bool(uint64_t address)> mayEnter;
};

class CodeWalk {
public:
  /// For code of this machine (e_machine of ELF). `hasFixedAddresses`: addresses may be plain
  /// numbers in instructions, since the file is not relocated.
  CodeWalk(const LinkedFile &file, uint16_t machine, bool hasFixedAddresses);
  ~CodeWalk();

  /// Whether the instructions of the machine are known: x86 and AArch64.
  bool knowsMachine() const;
  /// Walks through the function of this size at an address, in time proportional to the size.
  void walk(uint64_t begin, uint64_t size, const CodeEvents &events);

private:
  class Decoder;
  class X86;
  class AArch64;

  const LinkedFile &file;
  std::unique_ptr<Decoder> decoder;
};

} // namespace frontload
