// Which sections a profile stands for, in objects that are small enough to see through.
#include "startup_set/startup_set.h"
#include "yaml_object.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/xxhash.h"
#include <deque>
#include <set>

using namespace frontload;
using namespace llvm;

namespace {
using Names = std::vector<std::string>;

/// An object whose functions and data have sections of their own, made piece by piece.
class Object {
public:
  Object &function(const std::string &name, const Names &refersTo = {}, bool isLocal = false,
                   unsigned size = 16) {
    section(".text." + name, "SHF_ALLOC, SHF_EXECINSTR", refersTo, size);
    return symbol(name, "STT_FUNC", ".text." + name, isLocal);
  }
  Object &data(const std::string &name, const Names &refersTo = {}, bool isLocal = false,
               unsigned size = 16) {
    section(".rodata." + name, "SHF_ALLOC", refersTo, size);
    return symbol(name, "STT_OBJECT", ".rodata." + name, isLocal);
  }
  /// A section that no symbol names but its own.
  Object &unnamed(const std::string &name, const Names &refersTo = {}) {
    section(name, "SHF_ALLOC", refersTo, 16);
    return symbol(name, "STT_SECTION", name, true);
  }
  /// A section of strings, and a label at each of them.
  Object &strings(const Names &contents, const std::string &name = ".rodata.str1.1") {
    std::string bytes;
    for (const std::string &text : contents) {
      symbol(".L" + text, "STT_NOTYPE", name, true, bytes.size());
      bytes += text + '\0';
    }
    sections += "  - {Name: " + name +
                ", Type: SHT_PROGBITS, Flags: [SHF_ALLOC, SHF_MERGE, SHF_STRINGS], EntSize: 1, "
                "Content: '" +
                toHex(bytes) + "'}\n";
    return *this;
  }
  Object &section(const std::string &name, const std::string &flags, const Names &refersTo,
                  unsigned size) {
    sections += "  - {Name: '" + name + "', Type: SHT_PROGBITS, Flags: [" + flags +
                "], Size: " + std::to_string(size) + "}\n";
    if (refersTo.empty())
      return *this;
    sections += "  - Name: '.rela" + name +
                "'\n    Type: SHT_RELA\n    Link: .symtab\n    Info: '" + name +
                "'\n    Relocations:\n";
    for (const std::string &target : refersTo) {
      sections += "      - {Symbol: '" + target + "', Type: R_X86_64_64}\n";
      wanted.push_back(target);
    }
    return *this;
  }
  Object &symbol(const std::string &name, const std::string &type, const std::string &section,
                 bool isLocal, uint64_t value = 0) {
    (isLocal ? locals : globals) += "  - {Name: '" + name + "', Type: " + type + ", Section: '" +
                                    section + "', Value: " + std::to_string(value) +
                                    (isLocal ? "" : ", Binding: STB_GLOBAL") + "}\n";
    defined.insert(name);
    return *this;
  }
  std::string build() const {
    std::string outside;
    std::set<std::string> seen = defined;
    for (const std::string &name : wanted)
      if (seen.insert(name).second)
        outside += "  - {Name: '" + name + "', Binding: STB_GLOBAL}\n";
    return toObject("--- !ELF\nFileHeader: {Class: ELFCLASS64, Data: ELFDATA2LSB, Type: ET_REL, "
                    "Machine: EM_X86_64}\nSections:\n" +
                    sections + "Symbols:\n" + locals + globals + outside);
  }

private:
  std::string sections, locals, globals;
  Names wanted;
  std::set<std::string> defined;
};

/// Where a section belongs; nothing if it is in no startup set.
enum class Found { No, Named, Referred, Next };

/// A search in objects, which are named a.o, b.o, ...
struct Searched {
  Searched(const StartupProfile &profile, std::initializer_list<Object> parts,
           bool gathersStrings = true, StringRef archive = "")
      : set(profile, gathersStrings) {
    for (const Object &part : parts)
      buffers.push_back(part.build());
    std::vector<InputObject> objects;
    for (size_t i = 0; i < buffers.size(); ++i) {
      names.push_back(std::string(1, char('a' + i)) + ".o");
      objects.push_back({MemoryBufferRef(buffers[i], names[i]), archive, false});
    }
    sections = set.find(objects);
    for (const StartupSections &ofObject : sections) {
      std::set<std::string> once;
      for (const StartupSection &section : ofObject)
        EXPECT_TRUE(once.insert(section.name).second) << section.name << " is in two places";
    }
  }

  /// The section of that name in one of the objects, or in any of them.
  const StartupSection *find(StringRef name, int object = -1) const {
    for (size_t i = 0; i < sections.size(); ++i)
      for (const StartupSection &section : sections[i])
        if (section.name == name && (object < 0 || size_t(object) == i))
          return &section;
    return nullptr;
  }
  Found of(StringRef name, int object = -1) const {
    const StartupSection *section = find(name, object);
    return !section                          ? Found::No
           : section->region == Region::Next ? Found::Next
           : section->named                  ? Found::Named
                                             : Found::Referred;
  }
  uint32_t rank(StringRef name) const {
    const StartupSection *section = find(name);
    return section ? section->rank : ~0u;
  }
  bool isHot(StringRef contents) {
    uint64_t hash = xxh3_64bits(contents);
    return (set.hotStrings().meet(hash) & (uint64_t(31) << 27)) == 0;
  }

  std::vector<std::string> buffers;
  std::deque<std::string> names;
  StartupSet set;
  std::vector<StartupSections> sections;
};
} // namespace

static ProfileEntry entry(EntryKind kind, const char *name, const char *file = "") {
  ProfileEntry e;
  e.name = name;
  e.file = file;
  e.kind = kind;
  e.sectionClass = kind == EntryKind::Function ? SectionClass::Text : SectionClass::Rodata;
  return e;
}

/// A profile of functions that no run with data has touched.
static StartupProfile functions(std::initializer_list<const char *> names) {
  StartupProfile profile;
  for (const char *name : names)
    profile.entries.push_back(entry(EntryKind::Function, name));
  return profile;
}

/// A profile of one run that recorded everything.
static StartupProfile recorded(std::initializer_list<ProfileEntry> entries) {
  StartupProfile profile;
  profile.dataRuns = 1;
  profile.entries = entries;
  for (ProfileEntry &e : profile.entries)
    e.measured = true;
  return profile;
}

// What startup functions call, and what their virtual tables refer to, follows the front, also in
// other objects; what is further away, or calls them, stays where it was.
TEST(Next, IsOneStepFromTheStartupSet) {
  StartupProfile profile = functions({"hot"});
  profile.entries.push_back(entry(EntryKind::Data, "vtable"));
  profile.dataRuns = 1;
  Searched s(profile, {Object()
                           .function("hot", {"callee", "local", "hot"})
                           .function("local", {}, true)
                           .function("further"),
                       Object()
                           .function("callee", {"further"})
                           .function("method")
                           .function("caller", {"hot"})
                           .data("vtable", {"method"})});
  EXPECT_EQ(s.of(".text.hot"), Found::Named);
  for (StringRef name : {".text.callee", ".text.local", ".text.method"})
    EXPECT_EQ(s.of(name), Found::Next) << name.str();
  for (StringRef name : {".text.further", ".text.caller"})
    EXPECT_EQ(s.of(name), Found::No) << name.str();
}

// A reference to another object does not tell what it is to. That a name is data in one object does
// not hide the function of that name in another.
TEST(Next, HoldsFunctionsWhoseNamesAreDataElsewhere) {
  Searched s(functions({"hot"}), {Object().function("hot", {"both"}), Object().data("both"),
                                  Object().function("both")});
  EXPECT_EQ(s.of(".rodata.both"), Found::Referred);
  EXPECT_EQ(s.of(".text.both"), Found::Next);
}

// Startup functions that call each other are in the front only.
TEST(Next, LeavesTheFrontAlone) {
  Searched s(functions({"a", "b"}), {Object().function("a", {"b"}).function("b", {"a"})});
  EXPECT_EQ(s.of(".text.a"), Found::Named);
  EXPECT_EQ(s.of(".text.b"), Found::Named);
}

// What the profile names and the density rule leaves out comes before what is only referred to.
TEST(Next, BeginsWithWhatTheProfileNames) {
  Searched s(functions({"hot", "large"}), {Object()
                                               .function("hot", {"callee"})
                                               .function("callee")
                                               .function("large", {}, false, 1 << 20)});
  EXPECT_EQ(s.of(".text.large"), Found::Next);
  EXPECT_LT(s.rank(".text.large"), s.rank(".text.callee"));
}

// Without a record of data, constants come by reference, from data to data, up to a size.
TEST(Data, ComesByReferenceWithoutARecord) {
  Searched s(functions({"hot"}), {Object()
                                      .function("hot", {"near", "huge"})
                                      .data("near", {"far"})
                                      .data("far")
                                      .data("huge", {}, false, 100000)
                                      .data("other")});
  EXPECT_EQ(s.of(".rodata.near"), Found::Referred);
  EXPECT_EQ(s.of(".rodata.far"), Found::Referred);
  EXPECT_EQ(s.of(".rodata.huge"), Found::No);
  EXPECT_EQ(s.of(".rodata.other"), Found::No);
}

// With one, only what was touched is in the front, and what a touched function refers to besides
// follows it.
TEST(Data, ComesByRecordWhereThereIsOne) {
  Searched s(
      recorded({entry(EntryKind::Function, "hot"), entry(EntryKind::Data, "touched")}),
      {Object().function("hot", {"touched", "untouched"}).data("touched").data("untouched")});
  EXPECT_EQ(s.of(".rodata.touched"), Found::Named);
  EXPECT_EQ(s.of(".rodata.untouched"), Found::Next);
}

// A function that no run with data has touched has its data by reference, even where another
// function, which a run with data touched, refers to the same without touching it.
TEST(Data, OfFunctionsThatWereNotMeasuredComesByReference) {
  for (bool first : {false, true}) {
    StartupProfile profile =
        recorded({entry(EntryKind::Function, "a"), entry(EntryKind::Function, "b"),
                  entry(EntryKind::Data, "elsewhere")});
    profile.entries[first ? 0 : 1].measured = false;
    Searched s(profile, {Object()
                             .function("a", {"shared", "of_a", "local"})
                             .data("of_a")
                             .data("local", {}, true)
                             .function("b", {"shared", "of_b", "local"}),
                         Object().data("shared").data("of_b").data("elsewhere")});
    EXPECT_EQ(s.of(".rodata.shared"), Found::Referred);
    EXPECT_EQ(s.of(".rodata.local"), Found::Referred);
    EXPECT_EQ(s.of(".rodata.of_a"), first ? Found::Referred : Found::Next);
    EXPECT_EQ(s.of(".rodata.of_b"), first ? Found::Next : Found::Referred);
  }
}

// Data that has no name comes by reference if the profile does not know such data at all, and by
// its object and section if it does.
TEST(Data, WithoutANameComesByItsSection) {
  Object object;
  object.function("hot", {".rodata.hot", ".rodata.cold"})
      .unnamed(".rodata.hot")
      .unnamed(".rodata.cold");
  Searched without(recorded({entry(EntryKind::Function, "hot")}), {object});
  EXPECT_EQ(without.of(".rodata.hot"), Found::Referred);
  EXPECT_EQ(without.of(".rodata.cold"), Found::Referred);
  Searched with(recorded({entry(EntryKind::Function, "hot"),
                          entry(EntryKind::Section, ".rodata.hot", "a.o")}),
                {object});
  EXPECT_EQ(with.of(".rodata.hot"), Found::Named);
  EXPECT_EQ(with.of(".rodata.cold"), Found::Next);
}

// A section entry is of one object, which may be in an archive.
TEST(Data, OfASectionEntryIsOfItsObject) {
  Object object;
  object.unnamed(".rodata");
  Searched s(recorded({entry(EntryKind::Section, ".rodata", "libx.a(b.o)")}),
             {object, object, object}, true, "/usr/lib/libx.a");
  EXPECT_EQ(s.of(".rodata", 0), Found::No);
  EXPECT_EQ(s.of(".rodata", 1), Found::Named);
  EXPECT_EQ(s.of(".rodata", 2), Found::No);
}

// A section with the name of its owner may have survived from another object than the recorded one:
// then the reference of its owner leads to it.
TEST(Data, OfAnOwnerIsFoundInAnotherObject) {
  Object object;
  object.function("inlined", {".rodata.inlined", ".rodata"})
      .unnamed(".rodata.inlined")
      .unnamed(".rodata");
  Searched s(recorded({entry(EntryKind::Function, "inlined"),
                       entry(EntryKind::Section, ".rodata.inlined", "gone.o"),
                       entry(EntryKind::Section, ".rodata", "gone.o")}),
             {object});
  EXPECT_EQ(s.of(".rodata.inlined"), Found::Referred);
  EXPECT_EQ(s.of(".rodata"), Found::Next);
}

// Local data of one name is told apart by its object.
TEST(Data, OfOneNameIsToldApartByItsObject) {
  Object object;
  object.data("table", {}, true);
  Searched s(recorded({entry(EntryKind::Data, "table", "b.o")}), {object, object});
  EXPECT_EQ(s.of(".rodata.table", 0), Found::No);
  EXPECT_EQ(s.of(".rodata.table", 1), Found::Named);
}

// A large table is left out if hardly anything of it was touched, and follows the front.
TEST(Density, LeavesOutLargeTables) {
  StartupProfile profile =
      recorded({entry(EntryKind::Data, "sparse"), entry(EntryKind::Data, "full")});
  profile.entries[1].windows = 16;
  Searched s(profile,
             {Object().data("sparse", {}, false, 1 << 20).data("full", {}, false, 1 << 20)});
  EXPECT_EQ(s.of(".rodata.sparse"), Found::Next);
  EXPECT_EQ(s.of(".rodata.full"), Found::Named);
}

// Of a table that is left out, what nearly all runs touch at one place is worth being read.
TEST(Density, TellsThePartOfALeftOutTable) {
  auto partsOf = [](uint64_t runs, std::optional<Stretch> stretch, uint64_t windows = 1) {
    StartupProfile profile = recorded({entry(EntryKind::Data, "table")});
    profile.runs = profile.dataRuns = 10;
    profile.entries[0].runs = runs;
    profile.entries[0].windows = windows;
    profile.entries[0].stretch = stretch;
    Searched s(profile, {Object().function("f"), Object().data("table", {}, false, 1 << 20)});
    std::vector<std::pair<Stretch, size_t>> parts;
    for (const LeftOutPart &part : s.set.leftOutParts()) {
      EXPECT_EQ(part.object, 1u);
      EXPECT_EQ(part.section, s.find(".rodata.table")->index);
      parts.push_back({part.stretch, part.contents.size()});
    }
    return parts;
  };
  using Parts = std::vector<std::pair<Stretch, size_t>>;
  EXPECT_EQ(partsOf(10, Stretch{656, 672}), (Parts{{{656, 672}, 1 << 20}}));
  EXPECT_EQ(partsOf(9, Stretch{656, 672}).size(), 1u);
  EXPECT_TRUE(partsOf(5, Stretch{656, 672}).empty());
  EXPECT_TRUE(partsOf(10, std::nullopt).empty());
  EXPECT_EQ(partsOf(10, Stretch{(1 << 20) - 16, 1 << 20}).size(), 1u);
  EXPECT_TRUE(partsOf(10, Stretch{(1 << 20) - 16, (1 << 20) + 1}).empty());
  EXPECT_TRUE(partsOf(10, Stretch{656, 672}, 16).empty()); // it is in the front
}

// A large section with many names in it is touched wherever these are.
TEST(Density, OfASectionIsThatOfAllItsNames) {
  auto of = [](uint64_t distance) {
    Object object;
    StartupProfile profile;
    object.section(".text", "SHF_ALLOC, SHF_EXECINSTR", {}, 1 << 20);
    std::deque<std::string> names;
    for (int i = 0; i < 16; ++i) {
      const std::string &name = names.emplace_back("f" + std::to_string(i));
      object.symbol(name, "STT_FUNC", ".text", false, i * distance);
      profile.entries.push_back(entry(EntryKind::Function, name.c_str()));
    }
    return Searched(profile, {object}).of(".text");
  };
  EXPECT_EQ(of(1 << 16), Found::Named);
  EXPECT_EQ(of(16), Found::Next);
}

// Strings that the startup set refers to are hot, by label, wherever in the string that is.
TEST(Strings, AreHotByReference) {
  Object object;
  object.strings({"hot", "cold", "of a table", "end"})
      .function("f", {".Lhot", "table"})
      .function("g", {".Lcold", "middle"})
      .symbol("middle", "STT_NOTYPE", ".rodata.str1.1", true, 11)
      .data("table", {".Lof a table"});
  Searched s(functions({"f"}), {object});
  EXPECT_TRUE(s.isHot("hot"));
  EXPECT_TRUE(s.isHot("of a table"));
  EXPECT_FALSE(s.isHot("cold"));
  EXPECT_FALSE(s.isHot("end"));
  EXPECT_EQ(s.of(".rodata.str1.1"), Found::No) << "they are gathered, not placed";
  EXPECT_TRUE(Searched(functions({"g"}), {object}).isHot("of a table"));
}

// If the profile has strings, these are hot, and of the others that a measured function refers to
// only the paths of files.
TEST(Strings, AreHotByRecordWhereThereIsOne) {
  Object object;
  object.strings({"read", "unread", "/etc/path"})
      .function("f", {".Lread", ".Lunread", ".L/etc/path"});
  Searched s(recorded({entry(EntryKind::Function, "f"), entry(EntryKind::String, "read")}),
             {object});
  EXPECT_TRUE(s.isHot("read"));
  EXPECT_TRUE(s.isHot("/etc/path"));
  EXPECT_FALSE(s.isHot("unread"));
}

// Strings that are not gathered go where the startup sections of their object go: those of gcc that
// are aligned, and all where the linker does not only merge equal ones.
TEST(Strings, OfOtherSectionsComeWithTheirObject) {
  for (const char *name : {".rodata.str1.8", ".rodata.f.str1.8"}) {
    Object object;
    object.strings({"aligned"}, name).function("f", {".Laligned"});
    EXPECT_EQ(Searched(functions({"f"}), {object}).of(name), Found::Referred) << name;
  }
  Object object;
  object.strings({"hot"}).function("f", {".Lhot"});
  EXPECT_EQ(Searched(functions({"f"}), {object}, /*gathersStrings=*/false).of(".rodata.str1.1"),
            Found::Referred);
}

// Where the profile has strings, those of a section that is not gathered bring it only if they were
// touched, or are paths; of functions that were not measured, all do.
TEST(Strings, OfOtherSectionsComeIfTheyWereTouched) {
  auto of = [](const char *refersTo, bool isMeasured = true) {
    Object object;
    object.strings({"read", "unread", "/etc/path"}, ".rodata.f.str1.8")
        .function("f", {std::string(".L") + refersTo});
    StartupProfile profile =
        recorded({entry(EntryKind::Function, "f"), entry(EntryKind::String, "read")});
    profile.entries[0].measured = isMeasured;
    return Searched(profile, {object}).of(".rodata.f.str1.8");
  };
  EXPECT_EQ(of("read"), Found::Referred);
  EXPECT_EQ(of("/etc/path"), Found::Referred);
  EXPECT_EQ(of("unread"), Found::Next);
  EXPECT_EQ(of("unread", /*isMeasured=*/false), Found::Referred);
}

// A large section of strings is not worth its place for one of them: it takes references all over.
TEST(Strings, OfALargeSectionAreWorthTheirPlace) {
  auto of = [](int numReferences) {
    Object object;
    Names contents, references;
    for (int i = 0; i < 16; ++i) {
      contents.push_back(std::to_string(i) + std::string(100000, 'x'));
      object.symbol("at" + std::to_string(i), "STT_NOTYPE", ".rodata.str1.8", true, i * 100003);
      if (i < numReferences)
        references.push_back("at" + std::to_string(i));
    }
    return Searched(functions({"f"}),
                    {object.strings(contents, ".rodata.str1.8").function("f", references)})
        .of(".rodata.str1.8");
  };
  EXPECT_EQ(of(1), Found::No);
  EXPECT_EQ(of(16), Found::Referred);
}

// A variable of a function (`counter.0`) is not taken for a function, nor a clone for a datum; but
// a name is, whatever the profile, which may not have known, says it is.
TEST(StartupSetOfNames, KindsAreNotMixedUp) {
  StartupProfile profile;
  profile.entries = {entry(EntryKind::Function, "counter"), entry(EntryKind::Function, "table"),
                     entry(EntryKind::Data, "f")};
  Searched searched(profile, {Object().data("counter.0").data("table").function("f.isra.0")});
  EXPECT_EQ(searched.of(".rodata.counter.0"), Found::No);
  EXPECT_EQ(searched.of(".text.f.isra.0"), Found::No);
  EXPECT_EQ(searched.of(".rodata.table"), Found::Named);
}

// An object is untrusted, with its strings and data too: whatever its bytes are, reading it ends,
// and stays inside of it.
TEST(StartupSetOfData, SurvivesDamagedObjects) {
  std::string good = Object()
                         .strings({"hot", "/path"})
                         .function("f", {".Lhot", ".L/path", "table", "g"})
                         .data("table", {".Lhot", "outside"})
                         .unnamed(".rodata.f")
                         .function("g", {"f", "table"})
                         .build();
  StartupProfile profile =
      recorded({entry(EntryKind::Function, "f"), entry(EntryKind::Section, ".rodata.f", "o"),
                entry(EntryKind::Data, "table"), entry(EntryKind::String, "hot")});
  profile.entries[0].measured = false;
  for (bool gathersStrings : {false, true})
    forDamaged(good, [&](StringRef bytes) {
      StartupSet set(profile, gathersStrings);
      set.find(InputObject{MemoryBufferRef(bytes, "o"), "", false});
    });
}
