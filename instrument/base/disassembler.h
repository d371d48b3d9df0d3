/* LLVM's disassembler of one processor, and all that it refers to: for the recorder that plants
 * breakpoints, and for the prediction that follows code. C++, unlike the rest of this room.
 */
#pragma once

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"

#include <memory>
#include <string>

namespace frontload {

struct Disassembler {
  /* The caller has initialized LLVM's target. Without one, all members are null. */
  explicit Disassembler(const llvm::Triple &triple) {
    std::string ignored;
    const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, ignored);
    if (!target)
      return;
    registers.reset(target->createMCRegInfo(triple));
    assembly.reset(target->createMCAsmInfo(*registers, triple, llvm::MCTargetOptions()));
    subtarget.reset(target->createMCSubtargetInfo(triple, "", ""));
    instructions.reset(target->createMCInstrInfo());
    analysis.reset(target->createMCInstrAnalysis(instructions.get()));
    context =
        std::make_unique<llvm::MCContext>(triple, assembly.get(), registers.get(), subtarget.get());
    decoder.reset(target->createMCDisassembler(*subtarget, *context));
  }

  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> decoder;
};

} // namespace frontload
