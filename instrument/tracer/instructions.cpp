// Sets up LLVM's disassembler for this machine and walks through code with it.
#include "instructions.h"

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <memory>

using namespace llvm;
using namespace frontload;

namespace {
/// LLVM's disassembler for this machine and everything that it refers to.
struct HostDisassembler {
  HostDisassembler() {
    // All but the code generator, which InitializeNativeTarget() would have linked in.
    LLVM_NATIVE_TARGETINFO();
    LLVM_NATIVE_TARGETMC();
    LLVM_NATIVE_DISASSEMBLER();
    Triple triple(sys::getProcessTriple());
    std::string ignored;
    const Target *target = TargetRegistry::lookupTarget(triple, ignored);
    if (!target)
      return;
    registers.reset(target->createMCRegInfo(triple));
    assembly.reset(target->createMCAsmInfo(*registers, triple, MCTargetOptions()));
    subtarget.reset(target->createMCSubtargetInfo(triple, "", ""));
    context = std::make_unique<MCContext>(triple, assembly.get(), registers.get(), subtarget.get());
    disassembler.reset(target->createMCDisassembler(*subtarget, *context));
  }

  std::unique_ptr<MCRegisterInfo> registers;
  std::unique_ptr<MCAsmInfo> assembly;
  std::unique_ptr<MCSubtargetInfo> subtarget;
  std::unique_ptr<MCContext> context;
  std::unique_ptr<MCDisassembler> disassembler;
};
} // namespace

std::vector<uint64_t> frontload::instructionOffsets(ArrayRef<uint8_t> code) {
  static HostDisassembler host; // costs milliseconds, and most programs have no split parts
  std::vector<uint64_t> offsets = {0};
  uint64_t offset = 0;
  while (host.disassembler) {
    MCInst instruction;
    uint64_t size;
    auto status = host.disassembler->getInstruction(instruction, size, code.drop_front(offset),
                                                    offset, nulls());
    if (status != MCDisassembler::Success || (offset += size) >= code.size())
      break;
    offsets.push_back(offset);
  }
  return offsets;
}
