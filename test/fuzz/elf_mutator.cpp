// Damages ELF files where their readers look: what is in a header, a section header, a program
// header, or an entry of a table is changed to a number that means something. A mutation of bytes
// hardly ever leaves a header that readers accept, and most of a file is contents.
#include "llvm/BinaryFormat/ELF.h"
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t mostSize);

using namespace llvm::ELF;

namespace {

/// A field of a record: where it is, and how wide.
struct Field {
  uint64_t offset;
  unsigned width;
};

/// The bytes of a file, of one of the four kinds.
class Image {
public:
  Image(uint8_t *d, size_t s, unsigned seed) : data(d), size(s), random(seed) {
    is64 = data[EI_CLASS] == ELFCLASS64;
    isLittle = data[EI_DATA] != ELFDATA2MSB;
  }

  /// A field of the header, or of a record that the header leads to, if there is one.
  bool choose(Field &field) {
    switch (below(8)) {
    case 0:
      return inRecord(field, 0, headerFields());
    case 1:
      return inRecord(field, segment(below(read({is64 ? 56u : 44u, 2}))), segmentFields());
    case 2:
    case 3:
    case 4:
      return inRecord(field, section(below(numSections())), sectionFields());
    default:
      return inTable(field);
    }
  }

  /// A number that means something: small, at an end, or near what another field has.
  uint64_t number(Field field) {
    Field other;
    uint64_t near = read(field);
    if (below(3) == 0 && choose(other))
      near = read(other);
    switch (below(8)) {
    case 0:
      return below(32);
    case 1:
      return size + below(17) - 8;
    case 2:
      return ~uint64_t(0) - below(16);
    case 3:
      return uint64_t(1) << below(64);
    case 4:
      return near * (1 + below(4)) + below(9) - 4;
    case 5:
      return near ^ uint64_t(1) << below(8 * field.width);
    default:
      return near + below(17) - 8;
    }
  }

  uint64_t read(Field field) const {
    uint64_t value = 0;
    for (unsigned i = 0; i < field.width && field.offset + i < size; ++i)
      value |= uint64_t(data[field.offset + i]) << 8 * (isLittle ? i : field.width - 1 - i);
    return value;
  }
  void write(Field field, uint64_t value) {
    for (unsigned i = 0; i < field.width; ++i)
      data[field.offset + i] = uint8_t(value >> 8 * (isLittle ? i : field.width - 1 - i));
  }
  uint64_t below(uint64_t end) { return end ? random() % end : 0; }

private:
  /// The widths of a record's fields, one after the other, as digits.
  using Widths = std::string_view;

  Widths headerFields() const { return is64 ? "1111111182248884222222" : "1111111182244444222222"; }
  Widths sectionFields() const { return is64 ? "4488884488" : "4444444444"; }
  Widths segmentFields() const { return is64 ? "44888888" : "44444444"; }
  Widths entryFields(uint64_t type) const {
    if (type == SHT_SYMTAB || type == SHT_DYNSYM)
      return is64 ? "411288" : "444112";
    if (type == SHT_RELA)
      return is64 ? "8448" : "444";
    return is64 && (type == SHT_DYNAMIC || type == SHT_RELR || type == SHT_REL) ? "88" : "44";
  }
  static unsigned first(Widths widths) { return unsigned(widths[0] - '0'); }
  static uint64_t sizeOf(Widths widths) {
    uint64_t sum = 0;
    for (; !widths.empty(); widths.remove_prefix(1))
      sum += first(widths);
    return sum;
  }

  uint64_t numSections() const { return read({is64 ? 60u : 48u, 2}); }
  uint64_t section(uint64_t i) const {
    return read({is64 ? 40u : 32u, is64 ? 8u : 4u}) + i * sizeOf(sectionFields());
  }
  uint64_t segment(uint64_t i) const {
    return read({is64 ? 32u : 28u, is64 ? 8u : 4u}) + i * sizeOf(segmentFields());
  }

  bool inRecord(Field &field, uint64_t record, Widths widths) {
    uint64_t place = below(sizeOf(widths));
    for (; place >= first(widths); widths.remove_prefix(1))
      place -= first(widths), record += first(widths);
    field = {record, first(widths)};
    return record < size && size - record >= field.width;
  }

  /// In a table that a section is: symbols, relocations, the dynamic section, notes, groups.
  bool inTable(Field &field) {
    uint64_t header = section(below(numSections()));
    if (header >= size || size - header < sizeOf(sectionFields()))
      return false;
    uint64_t type = read({header + 4, 4});
    unsigned word = is64 ? 8 : 4;
    uint64_t offset = read({header + 8 + 2 * word, word});
    uint64_t bytes = read({header + 8 + 3 * word, word});
    Widths widths = entryFields(type);
    return type != SHT_NOBITS &&
           inRecord(field, offset + below(bytes / sizeOf(widths)) * sizeOf(widths), widths);
  }

  uint8_t *data;
  size_t size;
  std::minstd_rand random;
  bool is64, isLittle;
};

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t mostSize,
                                          unsigned seed) {
  if (size < sizeof(Elf64_Ehdr) || memcmp(data, ElfMagic, 4) != 0 || seed % 8 == 0)
    return LLVMFuzzerMutate(data, size, mostSize);
  Image image(data, size, seed);
  for (uint64_t n = 1 + image.below(3); n; --n) {
    Field field;
    if (image.choose(field))
      image.write(field, image.number(field));
  }
  return size;
}
