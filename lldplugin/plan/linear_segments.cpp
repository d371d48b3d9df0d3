// Segments without gaps.
#include "plan/linear_segments.h"
#include "elf/elf_file.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/BinaryFormat/ELF.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

namespace {
template <class ELFT> class Segments {
public:
  using Phdr = typename ELFT::Phdr;
  using Shdr = typename ELFT::Shdr;

  Segments(MutableArrayRef<char> b, ArrayRef<Phdr> headers, ArrayRef<Shdr> sections)
      : bytes(b), all(writable(headers)), allSections(writable(sections)) {}

  void complete() {
    SmallVector<Phdr *, 16> loaded;
    for (Phdr &header : all)
      if (header.p_type == ELF::PT_LOAD)
        loaded.push_back(&header);
    for (size_t i = 0; i + 1 < loaded.size(); ++i)
      extend(*loaded[i], *loaded[i + 1]);
    // From the end, as the headers behind the second of two move up.
    for (size_t i = loaded.size(); i-- > 1;)
      if (isOne(*loaded[i - 1], *loaded[i])) {
        loaded[i - 1]->p_filesz += loaded[i]->p_filesz;
        loaded[i - 1]->p_memsz += loaded[i]->p_memsz;
        remove(*loaded[i]);
      }
  }

private:
  /// The same part of the file, to be written to.
  template <class T> MutableArrayRef<T> writable(ArrayRef<T> part) const {
    size_t offset = reinterpret_cast<const char *>(part.data()) - bytes.data();
    return {reinterpret_cast<T *>(bytes.data() + offset), part.size()};
  }

  /// Extends `segment` up to `next`, if that is as far in memory as in the file, and its bytes that
  /// are in memory only are zeros in the file.
  void extend(Phdr &segment, const Phdr &next) {
    uint64_t size = next.p_offset - segment.p_offset;
    bool isAsFar = next.p_offset > segment.p_offset && next.p_vaddr - segment.p_vaddr == size &&
                   next.p_paddr - segment.p_paddr == size;
    if (!isAsFar || size < segment.p_memsz || size < segment.p_filesz ||
        segment.p_filesz > segment.p_memsz || next.p_offset > bytes.size() ||
        next.p_offset % std::max<uint64_t>(next.p_align, 1))
      return;
    StringRef added =
        StringRef(bytes.data(), bytes.size())
            .slice(segment.p_offset + segment.p_filesz, segment.p_offset + segment.p_memsz);
    if (added.find_first_not_of('\0') != StringRef::npos)
      return;
    for (Shdr &section : allSections)
      if (section.sh_type == ELF::SHT_NOBITS && (section.sh_flags & ELF::SHF_ALLOC) &&
          !(section.sh_flags & ELF::SHF_TLS) && section.sh_addr >= segment.p_vaddr &&
          section.sh_addr - segment.p_vaddr + section.sh_size <= segment.p_memsz) {
        section.sh_type = ELF::SHT_PROGBITS;
        section.sh_offset = segment.p_offset + (section.sh_addr - segment.p_vaddr);
      }
    segment.p_filesz = size;
    segment.p_memsz = size;
  }

  /// Whether two neighbours can be one segment.
  static bool isOne(const Phdr &first, const Phdr &second) {
    return first.p_flags == second.p_flags && first.p_align == second.p_align &&
           first.p_filesz == first.p_memsz && first.p_offset + first.p_filesz == second.p_offset &&
           first.p_vaddr + first.p_memsz == second.p_vaddr &&
           first.p_paddr + first.p_memsz == second.p_paddr;
  }

  /// Takes a header out of the table.
  void remove(Phdr &header) {
    std::move(&header + 1, all.end(), &header);
    all.back() = {};
    all = all.drop_back();
    auto &file = *reinterpret_cast<typename ELFT::Ehdr *>(bytes.data());
    file.e_phnum = static_cast<uint16_t>(all.size());
    for (Phdr &other : all)
      if (other.p_type == ELF::PT_PHDR) {
        other.p_filesz = all.size() * sizeof(Phdr);
        other.p_memsz = all.size() * sizeof(Phdr);
      }
  }

  MutableArrayRef<char> bytes;
  MutableArrayRef<Phdr> all;
  MutableArrayRef<Shdr> allSections;
};
} // namespace

void completeSegments(MutableArrayRef<char> bytes) {
  StringRef contents(bytes.data(), bytes.size());
  consumeError(withElfFile(contents, [&]<class ELFT>(const ELFFile<ELFT> &file) -> Error {
    auto sections = file.sections();
    if (sections)
      Segments<ELFT>(bytes, orEmpty(file.program_headers()), *sections).complete();
    return sections.takeError();
  }));
}

} // namespace frontload
