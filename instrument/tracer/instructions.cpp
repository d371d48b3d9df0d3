// Sets up LLVM's disassembler for this machine and walks through code with it.
#include "instructions.h"

#include "arch.h"

#include "base/disassembler.h"

#include "llvm/MC/MCInst.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <optional>

using namespace llvm;
using namespace frontload;

namespace {
struct Decoded {
  uint64_t size = 0;              // 0: there is none
  std::optional<uint64_t> target; // of a jump, if that is fixed
};
} // namespace

static Disassembler ofThisMachine() {
  // All but the code generator, which InitializeNativeTarget() would have linked in.
  LLVM_NATIVE_TARGETINFO();
  LLVM_NATIVE_TARGETMC();
  LLVM_NATIVE_DISASSEMBLER();
  return Disassembler(Triple(sys::getProcessTriple()));
}

/// The instruction at an offset in some code.
static Decoded instructionAt(ArrayRef<uint8_t> code, uint64_t offset) {
  // Costs milliseconds, and many programs need no disassembler.
  static const Disassembler host = ofThisMachine();
  if (!host.decoder)
    return {};
  ArrayRef<uint8_t> bytes = code.drop_front(offset);
  Decoded found;
  MCInst decoded;
  uint64_t part, target;
  // LLVM takes some prefixes for instructions of their own. A processor does not.
  for (size_t prefixes = arch::prefixCount(bytes); found.size <= prefixes; found.size += part)
    if (host.decoder->getInstruction(decoded, part, bytes.drop_front(found.size), 0, nulls()) !=
        MCDisassembler::Success)
      return {};
  if (!host.analysis->isCall(decoded) &&
      host.analysis->evaluateBranch(decoded, offset + found.size - part, part, target))
    found.target = target;
  return found;
}

std::vector<uint64_t> frontload::instructionOffsets(ArrayRef<uint8_t> code) {
  std::vector<uint64_t> offsets = {0};
  uint64_t offset = 0;
  while (uint64_t size = instructionAt(code, offset).size) {
    if ((offset += size) >= code.size())
      break;
    offsets.push_back(offset);
  }
  return offsets;
}

void InstructionStreams::restart(uint64_t offset) {
  nexts = {offset};
  covered = offset;
}

bool InstructionStreams::reach(uint64_t offset) {
  bool isKnown = true;
  while (!nexts.empty() && *nexts.begin() < offset) {
    uint64_t at = *nexts.begin();
    nexts.erase(nexts.begin());
    if (at >= end)
      continue;
    Decoded instruction = instructionAt(code, at);
    isKnown &= instruction.size != 0;
    if (instruction.size == 0)
      continue;
    covered = std::max(covered, at + instruction.size);
    nexts.insert(at + instruction.size);
    if (instruction.target && *instruction.target > at && *instruction.target < end)
      nexts.insert(*instruction.target);
  }
  nexts.insert(offset);
  return isKnown && covered <= offset;
}
