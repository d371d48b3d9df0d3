// The note that says where a file's front is.
#include "plan/front_note.h"
#include "elf/elf_file.h"
#include "frontload_note.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SHA1.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>
#include <vector>

using namespace llvm;
using namespace llvm::object;

namespace frontload {

std::string makeNote(StringRef file, ArrayRef<FileRange> front, ArrayRef<FileRange> tail,
                     size_t room) {
  assert(front.size() + tail.size() <= room);
  std::string note;
  raw_string_ostream os(note);
  support::endian::Writer out(os, file[ELF::EI_DATA] == ELF::ELFDATA2LSB ? endianness::little
                                                                         : endianness::big);
  out.write<uint32_t>({sizeof FRONTLOAD_NOTE_NAME, uint32_t(FRONTLOAD_NOTE_DESCRIPTOR_SIZE(room)),
                       FRONTLOAD_NOTE_TYPE});
  os << StringRef(FRONTLOAD_NOTE_NAME "\0\0", sizeof frontload_note::name);
  out.write<uint32_t>({FRONTLOAD_NOTE_VERSION,
                       FRONTLOAD_NOTE_COUNT(uint32_t(front.size()), uint32_t(tail.size()))});
  for (FileRange range : concat<const FileRange>(front, tail))
    out.write<uint64_t>({range.begin, range.end});
  note.resize(FRONTLOAD_NOTE_SIZE(room));
  return note;
}

/// Whether a section says which features (branch protection and the like) the code of its object
/// has. A linked file has only those that all objects claim, so the note's object, which has no
/// code, claims those of another object.
static bool claimsFeatures(StringRef name, uint32_t type) {
  static_assert(ELF::SHT_AARCH64_ATTRIBUTES == ELF::SHT_ARM_ATTRIBUTES &&
                ELF::SHT_AARCH64_ATTRIBUTES == ELF::SHT_RISCV_ATTRIBUTES);
  return name == ".note.gnu.property" || type == ELF::SHT_AARCH64_ATTRIBUTES;
}

template <class ELFT>
static std::string noteObject(StringRef object, const ELFFile<ELFT> &like, bool hasConstant) {
  using Ehdr = typename ELFT::Ehdr;
  using Shdr = typename ELFT::Shdr;
  struct Section {
    StringRef name;
    uint32_t type;
    uint32_t flags, alignment;
    std::string contents;
  };
  std::vector<Section> sections = {{"", ELF::SHT_NULL, 0, 0, ""},
                                   {FRONTLOAD_NOTE_SECTION, ELF::SHT_NOTE, ELF::SHF_ALLOC,
                                    FRONTLOAD_NOTE_ALIGNMENT,
                                    makeNote(object, {}, {}, FRONTLOAD_NOTE_FRONT_RANGES)}};
  if (hasConstant) // nothing refers to it
    sections.push_back({".data.rel.ro", ELF::SHT_PROGBITS,
                        ELF::SHF_ALLOC | ELF::SHF_WRITE | ELF::SHF_GNU_RETAIN, 1,
                        std::string(1, '\0')});
  for (const Shdr &section : orEmpty(like.sections()))
    if (StringRef name = orEmpty(like.getSectionName(section));
        claimsFeatures(name, section.sh_type))
      sections.push_back({name, section.sh_type, uint32_t(section.sh_flags),
                          uint32_t(section.sh_addralign),
                          toStringRef(orEmpty(like.getSectionContents(section))).str()});
  std::string names;
  sections.push_back({".shstrtab", ELF::SHT_STRTAB, 0, 1, ""});
  for (const Section &section : sections)
    names.append(section.name).push_back('\0');
  sections.back().contents = names;

  std::string file(sizeof(Ehdr), '\0');
  std::vector<Shdr> headers;
  uint32_t nameOffset = 0;
  for (const Section &section : sections) {
    file.resize(alignTo(file.size(), 8));
    Shdr header = {};
    header.sh_name = nameOffset;
    header.sh_type = section.type;
    header.sh_flags = section.flags;
    header.sh_addralign = section.alignment;
    header.sh_offset = section.type == ELF::SHT_NULL ? 0 : file.size();
    header.sh_size = section.contents.size();
    headers.push_back(header);
    nameOffset += section.name.size() + 1;
    file += section.contents;
  }
  file.resize(alignTo(file.size(), 8));
  Ehdr header = like.getHeader();
  header.e_entry = 0;
  header.e_phoff = 0;
  header.e_phentsize = 0;
  header.e_phnum = 0;
  header.e_shoff = file.size();
  header.e_shentsize = sizeof(Shdr);
  header.e_shnum = headers.size();
  header.e_shstrndx = headers.size() - 1;
  memcpy(file.data(), &header, sizeof header);
  file.append(reinterpret_cast<const char *>(headers.data()), headers.size() * sizeof(Shdr));
  return file;
}

std::string makeNoteObject(StringRef object, bool hasConstant) {
  return orEmpty(fromElfFile<std::string>(object, [&](const auto &file) {
    return Expected<std::string>(noteObject(object, file, hasConstant));
  }));
}

/// Writes `from` to a part of the file.
static void overwrite(ArrayRef<uint8_t> part, StringRef from) {
  llvm::copy(from.take_front(part.size()), const_cast<uint8_t *>(part.data()));
}

Expected<StringRef> findNote(StringRef contents, size_t room) {
  auto notes = fromElfFile<ArrayRef<uint8_t>>(
      contents, [](const auto &file) { return contentsOfSection(file, FRONTLOAD_NOTE_SECTION); });
  if (!notes)
    return notes.takeError();
  std::string blank = makeNote(contents, {}, {}, room);
  StringRef rest = toStringRef(*notes), head(blank.data(), offsetof(frontload_note, count));
  while (rest.size() >= blank.size() && !rest.starts_with(head))
    rest = rest.drop_front(FRONTLOAD_NOTE_ALIGNMENT);
  return rest.size() >= blank.size() ? rest.take_front(blank.size()) : StringRef();
}

bool isBlank(StringRef note) {
  StringRef count = note.substr(offsetof(frontload_note, count), sizeof frontload_note::count);
  return count.find_first_not_of('\0') == StringRef::npos;
}

bool fillNote(MutableArrayRef<char> bytes, ArrayRef<FileRange> front, ArrayRef<FileRange> tail,
              bool keepsBuildId) {
  constexpr size_t room = FRONTLOAD_NOTE_FRONT_RANGES;
  StringRef contents(bytes.data(), bytes.size());
  StringRef blank = orEmpty(findNote(contents, room));
  if (blank.empty())
    return false;
  std::string note = makeNote(contents, front, tail, room);
  overwrite(arrayRefFromStringRef(blank), note);
  if (keepsBuildId)
    return true;
  ArrayRef<uint8_t> id = orEmpty(fromElfFile<ArrayRef<uint8_t>>(
      contents, [](const auto &file) { return contentsOfSection(file, ".note.gnu.build-id"); }));
  constexpr size_t head = 16; // three numbers and "GNU"
  std::array<uint8_t, 20> hash = SHA1::hash(arrayRefFromStringRef(note + toStringRef(id).str()));
  overwrite(id.drop_front(std::min(head, id.size())), toStringRef(hash));
  return true;
}

} // namespace frontload
