//===- implicit_addend.cpp - addends that are not in the relocation --------===//

#include "elf/implicit_addend.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace llvm::ELF;

namespace frontload {

namespace {
/// How an addend is written.
enum class Form : uint8_t { None, Byte, Half, Word, Xword, ArmMove, ThumbMove };
} // namespace

static Form formOf386(uint32_t type) {
  switch (type) {
  case R_386_8:
  case R_386_PC8:
    return Form::Byte;
  case R_386_16:
  case R_386_PC16:
    return Form::Half;
  case R_386_32:
  case R_386_PC32:
  case R_386_PLT32:
  case R_386_GOT32:
  case R_386_GOT32X:
  case R_386_GOTOFF:
  case R_386_GOTPC:
  case R_386_TLS_GD:
  case R_386_TLS_IE:
  case R_386_TLS_LE:
    return Form::Word;
  default:
    return Form::None;
  }
}

static Form formOfArm(uint32_t type) {
  switch (type) {
  case R_ARM_ABS32:
  case R_ARM_REL32:
  case R_ARM_TARGET1:
  case R_ARM_TARGET2:
  case R_ARM_GOTOFF32:
  case R_ARM_GOT_BREL:
  case R_ARM_GOT_PREL:
  case R_ARM_SBREL32:
    return Form::Word;
  case R_ARM_MOVW_ABS_NC:
  case R_ARM_MOVT_ABS:
  case R_ARM_MOVW_PREL_NC:
  case R_ARM_MOVT_PREL:
    return Form::ArmMove;
  case R_ARM_THM_MOVW_ABS_NC:
  case R_ARM_THM_MOVT_ABS:
  case R_ARM_THM_MOVW_PREL_NC:
  case R_ARM_THM_MOVT_PREL:
    return Form::ThumbMove;
  default:
    return Form::None;
  }
}

/// These machines nearly always have explicit addends, but REL objects are also linked.
static Form formOf64(uint16_t machine, uint32_t type) {
  if (machine == EM_X86_64 ? type == R_X86_64_64 || type == R_X86_64_PC64
                           : type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64)
    return Form::Xword;
  bool isWord = machine == EM_X86_64
                    ? type == R_X86_64_32 || type == R_X86_64_32S || type == R_X86_64_PC32
                    : type == R_AARCH64_ABS32 || type == R_AARCH64_PREL32;
  return isWord ? Form::Word : Form::None;
}

static Form formOf(uint16_t machine, uint32_t type) {
  switch (machine) {
  case EM_386:
    return formOf386(type);
  case EM_ARM:
    return formOfArm(type);
  case EM_MIPS:
    return type == R_MIPS_32 || type == R_MIPS_GPREL32 ? Form::Word : Form::None;
  case EM_X86_64:
  case EM_AARCH64:
    return formOf64(machine, type);
  default:
    return Form::None;
  }
}

template <class T> static int64_t readAs(StringRef bytes, endianness byteOrder) {
  return bytes.size() < sizeof(T) ? 0 : support::endian::read<T>(bytes.data(), byteOrder);
}

int64_t readImplicitAddend(uint16_t machine, uint32_t type, StringRef bytes, endianness byteOrder) {
  switch (formOf(machine, type)) {
  case Form::None:
    return 0;
  case Form::Byte:
    return readAs<int8_t>(bytes, byteOrder);
  case Form::Half:
    return readAs<int16_t>(bytes, byteOrder);
  case Form::Word:
    return readAs<int32_t>(bytes, byteOrder);
  case Form::Xword:
    return readAs<int64_t>(bytes, byteOrder);
  case Form::ArmMove: { // imm4, and imm12
    auto code = static_cast<uint32_t>(readAs<int32_t>(bytes, byteOrder));
    return SignExtend64<16>((code >> 4 & 0xf000) | (code & 0xfff));
  }
  case Form::ThumbMove: { // imm4, i, imm3, and imm8, in two halfwords
    auto first = static_cast<uint16_t>(readAs<int16_t>(bytes, byteOrder));
    auto second = static_cast<uint16_t>(
        readAs<int16_t>(bytes.drop_front(std::min<size_t>(bytes.size(), 2)), byteOrder));
    return SignExtend64<16>((first & 0xf) << 12 | (first >> 10 & 1) << 11 |
                            (second >> 12 & 7) << 8 | (second & 0xff));
  }
  }
  llvm_unreachable("a form that is not read");
}

} // namespace frontload
