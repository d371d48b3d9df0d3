//===- front_note.cpp - the note that says where a file's front is ---------===//

#include "plan/front_note.h"
#include "elf/elf_file.h"
#include "frontload_note.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SHA1.h"
#include <cassert>
#include <vector>

using namespace llvm;
using namespace llvm::object;

namespace frontload {

namespace {
/// Writes the integers of a note one after the other, in the byte order of the file.
template <class ELFT> class NoteWriter {
public:
  template <class Int> void put(Int value) {
    size_t at = bytes.size();
    bytes.resize(at + sizeof(Int));
    support::endian::write<Int>(&bytes[at], value, ELFT::Endianness);
  }
  /// Adds text and its zero, and fills up with zeros.
  void put(StringRef text, size_t alignment) {
    bytes.append(text);
    bytes.resize(alignTo(bytes.size() + 1, alignment));
  }
  std::string take() { return std::move(bytes); }

private:
  std::string bytes;
};
} // namespace

/// A note with `room`, which begins with `ranges`.
template <class ELFT> static std::string noteContents(ArrayRef<FrontRange> ranges, size_t room) {
  assert(ranges.size() <= room);
  NoteWriter<ELFT> note;
  note.template put<uint32_t>(sizeof FRONTLOAD_NOTE_NAME);
  note.template put<uint32_t>(uint32_t(FRONTLOAD_NOTE_DESCRIPTOR_SIZE(room)));
  note.template put<uint32_t>(FRONTLOAD_NOTE_TYPE);
  note.put(FRONTLOAD_NOTE_NAME, FRONTLOAD_NOTE_ALIGNMENT);
  note.template put<uint32_t>(FRONTLOAD_NOTE_VERSION);
  note.template put<uint32_t>(static_cast<uint32_t>(ranges.size()));
  for (size_t i = 0; i < room; ++i) {
    FrontRange range = i < ranges.size() ? ranges[i] : FrontRange();
    note.template put<uint64_t>(range.begin);
    note.template put<uint64_t>(range.end);
  }
  return note.take();
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
static Expected<std::string> noteObject(const ELFFile<ELFT> &like, bool hasConstant) {
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
                                    noteContents<ELFT>({}, FRONTLOAD_NOTE_FRONT_RANGES)}};
  if (hasConstant) // nothing refers to it
    sections.push_back({".data.rel.ro", ELF::SHT_PROGBITS,
                        ELF::SHF_ALLOC | ELF::SHF_WRITE | ELF::SHF_GNU_RETAIN, 1,
                        std::string(1, '\0')});
  auto others = like.sections();
  if (!others)
    return others.takeError();
  for (const Shdr &section : *others) {
    auto name = like.getSectionName(section);
    if (!name)
      return name.takeError();
    if (!claimsFeatures(*name, section.sh_type))
      continue;
    auto contents = like.getSectionContents(section);
    if (!contents)
      return contents.takeError();
    sections.push_back({*name, section.sh_type, uint32_t(section.sh_flags),
                        uint32_t(section.sh_addralign), toStringRef(*contents).str()});
  }
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
  return expectedToOptional(
             fromElfFile<std::string>(
                 object, [&](const auto &file) { return noteObject(file, hasConstant); }))
      .value_or("");
}

/// Writes `from` to a part of the file.
static void overwrite(ArrayRef<uint8_t> part, StringRef from) {
  llvm::copy(from.take_front(part.size()), const_cast<uint8_t *>(part.data()));
}

/// The first note with this room in a section of notes; empty if there is none.
template <class ELFT> static StringRef noteWithRoom(ArrayRef<uint8_t> notes, size_t room) {
  std::string blank = noteContents<ELFT>({}, room);
  StringRef rest = toStringRef(notes), head(blank.data(), offsetof(frontload_note, count));
  for (; rest.size() >= blank.size(); rest = rest.drop_front(FRONTLOAD_NOTE_ALIGNMENT))
    if (rest.starts_with(head))
      return rest.take_front(blank.size());
  return {};
}

Expected<StringRef> findNote(StringRef contents, size_t room) {
  return fromElfFile<StringRef>(contents,
                                [&]<class ELFT>(const ELFFile<ELFT> &file) -> Expected<StringRef> {
                                  auto notes = contentsOfSection(file, FRONTLOAD_NOTE_SECTION);
                                  if (!notes)
                                    return notes.takeError();
                                  return noteWithRoom<ELFT>(*notes, room);
                                });
}

bool isBlank(StringRef note) {
  StringRef count = note.substr(offsetof(frontload_note, count), sizeof frontload_note::count);
  return count.find_first_not_of('\0') == StringRef::npos;
}

std::string makeNote(StringRef contents, ArrayRef<FrontRange> ranges, size_t room) {
  std::string note;
  withElfType(contents, [&]<class ELFT>() { note = noteContents<ELFT>(ranges, room); });
  return note;
}

bool fillNote(MutableArrayRef<char> bytes, ArrayRef<FrontRange> ranges, bool keepsBuildId) {
  constexpr size_t room = FRONTLOAD_NOTE_FRONT_RANGES;
  StringRef contents(bytes.data(), bytes.size());
  StringRef blank = expectedToOptional(findNote(contents, room)).value_or("");
  if (blank.empty())
    return false;
  std::string note = makeNote(contents, ranges, room);
  overwrite(arrayRefFromStringRef(blank), note);
  if (keepsBuildId)
    return true;
  consumeError(withElfFile(contents, [&](const auto &file) {
    auto id = contentsOfSection(file, ".note.gnu.build-id");
    if (id) {
      constexpr size_t head = 16; // three numbers and "GNU"
      std::array<uint8_t, 20> hash =
          SHA1::hash(arrayRefFromStringRef(note + toStringRef(*id).str()));
      overwrite(id->drop_front(std::min(head, id->size())), toStringRef(hash));
    }
    return id.takeError();
  }));
  return true;
}

} // namespace frontload
