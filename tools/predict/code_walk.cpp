// What the code of a function may run, and refer to.
#include "predict/code_walk.h"
#include "base/disassembler.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/MC/MCInst.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <string_view>

using namespace llvm;

extern "C" {
void LLVMInitializeX86TargetInfo();
void LLVMInitializeX86TargetMC();
void LLVMInitializeX86Disassembler();
}

namespace frontload {

/// A jump goes through a table that one of the last few operands refers to.
static constexpr size_t lastOperands = 8;
/// No function is larger.
static constexpr uint64_t maxFunction = 1 << 30;

namespace {
struct Instruction {
  uint64_t size = 0; ///< 0: there is none
  bool isCall = false;
  bool isLast = false;     ///< the next instruction does not follow it
  bool isIndirect = false; ///< a jump through a register or a table
  std::optional<uint64_t> target;
  SmallVector<uint64_t, 2> operands; ///< what may be addresses
};
} // namespace

class CodeWalk::Decoder {
public:
  virtual ~Decoder() = default;
  virtual void beginFunction() {}
  virtual Instruction decode(ArrayRef<uint8_t> code, uint64_t address) = 0;
};

class CodeWalk::X86 : public Decoder {
public:
  X86(bool is64, bool isFixed)
      : hasFixedAddresses(isFixed), x86(Triple(is64 ? "x86_64-linux" : "i386-linux")) {}

  void beginFunction() override { tables.clear(); }

  Instruction decode(ArrayRef<uint8_t> code, uint64_t address) override {
    Instruction found;
    MCInst inst;
    uint64_t size;
    if (x86.decoder->getInstruction(inst, size, code, address, nulls()) != MCDisassembler::Success)
      return found;
    found.size = size;
    const MCInstrDesc &kind = x86.instructions->get(inst.getOpcode());
    found.isCall = kind.isCall();
    found.isLast = kind.isReturn() || kind.isUnconditionalBranch() || kind.isIndirectBranch() ||
                   (kind.isBarrier() && !kind.isCall()) || kind.isTrap();
    found.isIndirect = kind.isIndirectBranch();
    uint64_t target;
    if (kind.isCall() || kind.isBranch())
      if (x86.analysis->evaluateBranch(inst, address, size, target))
        found.target = target;
    // Compilers add an offset to the address of a table that an earlier instruction (LEA) made.
    auto place =
        x86.analysis->evaluateMemoryOperandAddress(inst, x86.subtarget.get(), address, size);
    const auto *memory = find_if(kind.operands(), [](const MCOperandInfo &operand) {
      return operand.OperandType == MCOI::OPERAND_MEMORY;
    });
    if (unsigned at = unsigned(memory - kind.operands().begin()); !place && at + 3 < inst.size())
      if (const MCOperand &base = inst.getOperand(at), &offset = inst.getOperand(at + 3);
          base.isReg() && offset.isImm())
        if (auto known = tables.find(base.getReg()); known != tables.end())
          place = known->second + static_cast<uint64_t>(offset.getImm());
    for (unsigned result = 0; result < kind.getNumDefs(); ++result)
      if (inst.getOperand(result).isReg())
        tables.erase(inst.getOperand(result).getReg());
    if (place && kind.getNumDefs() && !kind.mayLoad() && !kind.mayStore())
      tables[inst.getOperand(0).getReg()] = *place;
    if (place)
      found.operands.push_back(*place);
    else if (hasFixedAddresses && !found.target)
      for (const MCOperand &operand : inst)
        if (operand.isImm() && isUInt<32>(operand.getImm()))
          found.operands.push_back(static_cast<uint64_t>(operand.getImm()));
    return found;
  }

private:
  bool hasFixedAddresses;
  DenseMap<MCRegister, uint64_t> tables; // addresses in registers
  Disassembler x86;
};

/// Arm's Architecture Reference Manual, C4.1: the encodings of the few instructions that matter.
/// An address is made of a page (ADRP) and an offset in a later instruction.
class CodeWalk::AArch64 : public Decoder {
public:
  void beginFunction() override { pages.clear(); }

  Instruction decode(ArrayRef<uint8_t> code, uint64_t address) override {
    Instruction found;
    if (code.size() < 4)
      return found;
    uint32_t word = support::endian::read32le(code.data());
    found.size = 4;
    auto field = [&](unsigned low, unsigned width) { return (word >> low) & ((1u << width) - 1); };
    auto is = [&](uint32_t mask, uint32_t value) { return (word & mask) == value; };
    auto jump = [&](unsigned low, unsigned width) {
      found.target = address + static_cast<uint64_t>(SignExtend64(field(low, width), width) * 4);
    };
    auto known = [&](unsigned reg, uint64_t offset) {
      if (auto page = pages.find(reg); page != pages.end())
        found.operands.push_back(page->second + offset);
    };
    if (is(0x7c000000, 0x14000000)) { // B, BL
      jump(0, 26);
      found.isCall = word >> 31;
      found.isLast = !found.isCall;
    } else if (is(0xff000010, 0x54000000) || is(0x7e000000, 0x34000000)) { // B.cond, CBZ
      jump(5, 19);
    } else if (is(0x7e000000, 0x36000000)) { // TBZ
      jump(5, 14);
    } else if (is(0xfe000000, 0xd6000000)) { // BR, BLR, RET
      found.isCall = field(21, 2) == 1;
      found.isLast = !found.isCall;
      found.isIndirect = field(21, 2) == 0;
    } else if (is(0xffe0001f, 0xd4200000)) { // BRK
      found.isLast = true;
    } else if (is(0x1f000000, 0x10000000)) { // ADR, ADRP
      uint64_t offset = static_cast<uint64_t>(SignExtend64<21>((field(5, 19) << 2) | field(29, 2)));
      if (word >> 31)
        pages[field(0, 5)] = (address & ~uint64_t(0xfff)) + (offset << 12);
      else
        found.operands.push_back(address + offset);
    } else if (is(0xff800000, 0x91000000)) { // ADD with a number
      known(field(5, 5), uint64_t(field(10, 12)) << (field(22, 1) * 12));
    } else if (is(0x3b000000, 0x39000000)) { // LDR and STR with an offset
      unsigned scale = field(26, 1) && field(23, 1) ? 4 : field(30, 2);
      known(field(5, 5), uint64_t(field(10, 12)) << scale);
    } else if (is(0x3b000000, 0x18000000)) { // LDR of a literal
      found.operands.push_back(address + static_cast<uint64_t>(SignExtend64(field(5, 19), 19) * 4));
    }
    return found;
  }

private:
  DenseMap<unsigned, uint64_t> pages; // by register
};

/// Whether this LLVM has its part for x86, and if so, sets it up. A template, so that nothing of a
/// part that is not there is linked.
template <bool HasX86> static bool setUpX86() {
  if constexpr (HasX86) {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
  }
  return HasX86;
}
static constexpr bool hasX86 =
#define LLVM_DISASSEMBLER(target) std::string_view(#target) == "X86" ||
#include "llvm/Config/Disassemblers.def"
    false;

CodeWalk::CodeWalk(const LinkedFile &linked, uint16_t machine, bool hasFixedAddresses)
    : file(linked) {
  if ((machine == ELF::EM_X86_64 || machine == ELF::EM_386) && setUpX86<hasX86>())
    decoder = std::make_unique<X86>(machine == ELF::EM_X86_64, hasFixedAddresses);
  else if (machine == ELF::EM_AARCH64)
    decoder = std::make_unique<AArch64>();
}

CodeWalk::~CodeWalk() = default;
bool CodeWalk::knowsMachine() const { return decoder != nullptr; }

/// Calls `visit` with the places in a function that a jump table leads to: by numbers of four
/// bytes, relative to the table, or by addresses of eight. Ends when `visit` returns false.
static void forEachTarget(StringRef table, uint64_t address, function_ref<bool(uint64_t)> visit) {
  using support::endian::read32le, support::endian::read64le;
  size_t at = 0;
  for (; at + 4 <= table.size(); at += 4)
    if (!visit(address + static_cast<uint64_t>(int64_t(int32_t(read32le(table.data() + at))))))
      break;
  for (size_t next = 0; !at && next + 8 <= table.size(); next += 8)
    if (!visit(read64le(table.data() + next)))
      break;
}

void CodeWalk::walk(uint64_t begin, uint64_t size, const CodeEvents &events) {
  StringRef bytes = file.at(begin).take_front(std::min(size, maxFunction));
  ArrayRef<uint8_t> code = arrayRefFromStringRef<uint8_t>(bytes);
  auto isInside = [&](uint64_t address) { return address - begin < code.size(); };
  BitVector seen(unsigned(code.size()));
  auto isSeen = [&](uint64_t address) { return seen[unsigned(address - begin)]; };
  struct Step {
    uint64_t address, size;
    SmallVector<uint64_t, 2> operands;
  };
  std::vector<Step> pending; // straight code since the last branch
  std::vector<uint64_t> open = {begin}, operands;
  size_t targetsLeft = code.size() * 4; // of jump tables: a damaged file may have too many
  uint64_t gap = begin;                 // all code before it is seen
  bool isLost = false;                  // whether a jump leads to unknown places
  auto settle = [&] {
    for (const Step &step : pending) {
      events.run(step.address, step.size);
      for (uint64_t operand : step.operands)
        events.refer(operand);
    }
    pending.clear();
  };
  // Without a table it is a call in the place of a return, unless there is the address of a place
  // in the function, which AArch64's tables of one or two bytes count from.
  auto followTables = [&] {
    ArrayRef<uint64_t> tables = ArrayRef(operands).take_back(lastOperands);
    bool isKnown = false;
    for (uint64_t table : tables)
      forEachTarget(file.at(table), table, [&](uint64_t target) {
        if (!isInside(target) || !targetsLeft)
          return false;
        --targetsLeft;
        isKnown = true;
        if (!isSeen(target))
          open.push_back(target);
        return true;
      });
    isLost |= !isKnown && any_of(tables, isInside);
  };
  decoder->beginFunction();
  while (true) {
    if (open.empty()) {
      while (isLost && isInside(gap) && isSeen(gap))
        ++gap;
      if (!isLost || !isInside(gap))
        return;
      open.push_back(gap);
    }
    uint64_t at = open.back();
    open.pop_back();
    while (isInside(at) && !isSeen(at)) {
      Instruction inst = decoder->decode(code.drop_front(at - begin), at);
      uint64_t next = at + std::max<uint64_t>(inst.size, 1);
      seen.set(unsigned(at - begin), unsigned(std::min<uint64_t>(next - begin, code.size())));
      if (!inst.size)
        break;
      pending.push_back({at, inst.size, inst.operands});
      llvm::append_range(operands, inst.operands);
      if (inst.target && isInside(*inst.target)) {
        if (!inst.isCall)
          open.push_back(*inst.target);
      } else if (inst.target && events.mayEnter(*inst.target)) {
        pending.push_back({*inst.target, 1, {}}); // it may be a stub, which has no name
      } else if (inst.target && (inst.isCall || inst.isLast)) {
        pending.clear();
        break;
      }
      if (inst.isIndirect)
        followTables();
      if (inst.isLast || (inst.target && !inst.isCall))
        settle();
      if (inst.isLast)
        break;
      at = next;
    }
    settle();
  }
}

} // namespace frontload
