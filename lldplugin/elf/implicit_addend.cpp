// Addends that are not in the relocation.
#include "elf/implicit_addend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace llvm::ELF;

namespace frontload {

/// Whether the addend is a word of 32 bits.
static bool isWord(uint16_t machine, uint32_t type) {
  switch (machine) {
  case EM_386:
    return is_contained({R_386_32, R_386_PC32, R_386_PLT32, R_386_GOT32, R_386_GOT32X, R_386_GOTOFF,
                         R_386_GOTPC, R_386_TLS_GD, R_386_TLS_IE, R_386_TLS_LE},
                        type);
  case EM_ARM:
    return is_contained({R_ARM_ABS32, R_ARM_REL32, R_ARM_TARGET1, R_ARM_TARGET2, R_ARM_GOTOFF32,
                         R_ARM_GOT_BREL, R_ARM_GOT_PREL, R_ARM_SBREL32},
                        type);
  case EM_MIPS:
    return type == R_MIPS_32 || type == R_MIPS_GPREL32;
  default:
    return false;
  }
}

int64_t readImplicitAddend(uint16_t machine, uint32_t type, StringRef bytes, endianness byteOrder) {
  if (bytes.size() < 4)
    return 0;
  if (isWord(machine, type))
    return support::endian::read<int32_t>(bytes.data(), byteOrder);
  if (machine != EM_ARM)
    return 0;
  if (is_contained({R_ARM_MOVW_ABS_NC, R_ARM_MOVT_ABS, R_ARM_MOVW_PREL_NC, R_ARM_MOVT_PREL},
                   type)) { // imm4, and imm12
    auto code = support::endian::read<uint32_t>(bytes.data(), byteOrder);
    return SignExtend64<16>((code >> 4 & 0xf000) | (code & 0xfff));
  }
  if (is_contained(
          {R_ARM_THM_MOVW_ABS_NC, R_ARM_THM_MOVT_ABS, R_ARM_THM_MOVW_PREL_NC, R_ARM_THM_MOVT_PREL},
          type)) { // imm4, i, imm3, and imm8, in two halfwords
    auto first = support::endian::read<uint16_t>(bytes.data(), byteOrder);
    auto second = support::endian::read<uint16_t>(bytes.data() + 2, byteOrder);
    return SignExtend64<16>((first & 0xf) << 12 | (first >> 10 & 1) << 11 |
                            (second >> 12 & 7) << 8 | (second & 0xff));
  }
  return 0;
}

} // namespace frontload
