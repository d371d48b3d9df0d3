// Which sections a profile stands for, in objects that are small enough to see through.
#include "startup_set/startup_set.h"
#include "yaml_object.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/xxhash.h"
#include <deque>
#include <map>
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
                  unsigned size, const std::string &type = "SHT_PROGBITS") {
    sections += "  - {Name: '" + name + "', Type: " + type + ", Flags: [" + flags +
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
  /// An array of functions that run before main().
  Object &constructors(const Names &functions) {
    return section(".init_array", "SHF_ALLOC, SHF_WRITE", functions, 8, "SHT_INIT_ARRAY");
  }
  /// A label in a section of code.
  Object &label(const std::string &name, unsigned size = 0, const std::string &stem = "caml.") {
    section(".text." + stem + name, "SHF_ALLOC, SHF_EXECINSTR", {}, size);
    return symbol(name, "STT_NOTYPE", ".text." + stem + name, false);
  }
  std::string build() const {
    std::string outside;
    std::set<std::string> seen = defined;
    for (const std::string &name : wanted)
      if (seen.insert(name).second)
        outside += "  - {Name: '" + name + "', Binding: STB_GLOBAL}\n";
    return x86File("ET_REL", "Sections:\n" + sections + "Symbols:\n" + locals + globals + outside);
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
    for (auto [of, tail] : zip_equal(sections, set.findTails()))
      append_range(of, tail);
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
  void expect(Found expected, const Names &ofSections) const {
    for (const std::string &name : ofSections)
      EXPECT_EQ(of(name), expected) << name;
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
// other objects, and what these refer to comes later; what calls them stays where it was.
TEST(Next, IsWhatReferencesLeadTo) {
  StartupProfile profile = functions({"hot", "warm"});
  profile.entries.push_back(entry(EntryKind::Data, "vtable"));
  profile.dataRuns = 1;
  Searched s(profile, {Object()
                           .function("hot", {"callee", "local", "hot", "warm"})
                           .function("local", {}, true)
                           .function("warm", {"hot"})
                           .function("further"),
                       Object()
                           .function("callee", {"further"})
                           .function("method")
                           .function("caller", {"hot"})
                           .data("vtable", {"method"})});
  s.expect(Found::Named, {".text.hot", ".text.warm"});
  s.expect(Found::Next, {".text.callee", ".text.local", ".text.method", ".text.further"});
  s.expect(Found::No, {".text.caller"});
  EXPECT_LT(s.find(".text.callee")->rank, s.find(".text.further")->rank);
}

// The fewer references a function has, the likelier it follows each of them; and of two equally
// likely ones, the smaller comes first.
TEST(Next, BeginsWithTheLikeliestByte) {
  Searched s(functions({"few", "many"}), {Object()
                                              .function("few", {"one"})
                                              .function("many", {"two", "three", "four", "large"})
                                              .function("one")
                                              .function("two")
                                              .function("three")
                                              .function("four")
                                              .function("large", {}, false, 30)});
  s.expect(Found::Next, {".text.one", ".text.two", ".text.three", ".text.four"});
  EXPECT_LT(s.find(".text.one")->rank, s.find(".text.two")->rank);
  s.expect(Found::No, {".text.large"}); // twice the startup set's size is full
}

// All copies of a COMDAT function have the same place, as the link keeps any of them.
TEST(Next, HasAllCopies) {
  Searched s(functions({"hot"}),
             {Object().function("hot", {"copy"}).function("copy"), Object().function("copy")});
  ASSERT_TRUE(s.find(".text.copy", 0) && s.find(".text.copy", 1));
  EXPECT_EQ(s.find(".text.copy", 0)->rank, s.find(".text.copy", 1)->rank);
}

// Of the copies, the tail has the one that the linker has taken, if the linker tells: by the
// addresses of names, in any order, some of them in no object.
TEST(Next, HasWhatIsLinked) {
  StartupProfile profile = functions({"hot"});
  const std::string a = Object().function("hot", {"copy"}).function("copy").build();
  const std::string b = Object().function("other").function("copy").build(), none = ".text.copy";
  StartupSet set(profile, true);
  std::vector<StartupSections> found = set.find(
      {InputObject{MemoryBufferRef(a, "a.o"), ""}, InputObject{MemoryBufferRef(b, "b.o"), ""}});
  ASSERT_EQ(found[0].size(), 1u);
  auto nameInB = [&](const char *name) { return b.data() + b.find(name); };
  std::vector<StartupSections> tails = set.findTails(namesByObject(
      {a, b}, {nameInB(".text.copy"), nameInB(".text.other"), none.data(), found[0][0].name}));
  EXPECT_TRUE(tails[0].empty());
  ASSERT_EQ(tails[1].size(), 1u);
  EXPECT_EQ(tails[1][0].name, nameInB(".text.copy"));
}

// Data that has the name of a likely function is not moved with it.
TEST(Next, HasNothingOfAnotherClass) {
  Searched s(functions({"hot"}), {Object().function("hot", {"both"}).function("both"),
                                  Object()
                                      .section(".data.both", "SHF_ALLOC, SHF_WRITE", {}, 16)
                                      .symbol("both", "STT_OBJECT", ".data.both", false)});
  s.expect(Found::Next, {".text.both"});
  s.expect(Found::No, {".data.both"});
}

// Without training, constructors are where starts begin, in objects that are linked in any case.
TEST(Untrained, BeginsWithConstructors) {
  const std::string object =
      Object().function("main").function("make").constructors({"make"}).build();
  for (bool isLazy : {false, true}) {
    StartupProfile profile = functions({"main"});
    StartupSet set(profile, true, Folding::None, UnnamedRule::Kept, /*isUntrained=*/true);
    std::vector<StartupSections> found =
        set.find(InputObject{MemoryBufferRef(object, "a.o"), "", isLazy});
    std::map<std::string, Region> regions;
    for (const StartupSection &section : found[0])
      regions.emplace(section.name, section.region);
    EXPECT_EQ(regions.count(".text.make"), isLazy ? 0u : 1u);
    EXPECT_EQ(regions.at(".text.main"), Region::Front);
  }
}

// What the profile names and the density rule leaves out comes before what is only referred to.
TEST(Next, BeginsWithWhatTheProfileNames) {
  Searched s(functions({"hot", "large"}), {Object()
                                               .function("hot", {"callee"})
                                               .function("callee")
                                               .function("large", {}, false, 1 << 20)});
  s.expect(Found::Next, {".text.large", ".text.callee"});
  EXPECT_LT(s.find(".text.large")->rank, s.find(".text.callee")->rank);
}

// Without a record of data, constants come by reference, from data to data, up to a size.
TEST(Data, ComesByReferenceWithoutARecord) {
  Searched s(functions({"hot"}), {Object()
                                      .function("hot", {"near", "huge"})
                                      .data("near", {"far"})
                                      .data("far")
                                      .data("huge", {}, false, 100000)
                                      .data("other")});
  s.expect(Found::Referred, {".rodata.near", ".rodata.far"});
  s.expect(Found::No, {".rodata.huge", ".rodata.other"});
}

// With one, only what was touched is in the front, and what a touched function refers to besides
// follows it.
TEST(Data, ComesByRecordWhereThereIsOne) {
  Searched s(
      recorded({entry(EntryKind::Function, "hot"), entry(EntryKind::Data, "touched")}),
      {Object().function("hot", {"touched", "untouched"}).data("touched").data("untouched")});
  s.expect(Found::Named, {".rodata.touched"});
  s.expect(Found::Next, {".rodata.untouched"});
}

// A function that no run with data has touched has its data by reference, even where another
// function, which a run with data touched, refers to the same without touching it.
TEST(Data, OfFunctionsThatWereNotMeasuredComesByReference) {
  for (int unmeasured : {0, 1}) {
    StartupProfile profile =
        recorded({entry(EntryKind::Function, "a"), entry(EntryKind::Function, "b"),
                  entry(EntryKind::Data, "elsewhere")});
    profile.entries[unmeasured].measured = false;
    Searched s(profile, {Object()
                             .function("a", {"shared", "own0", "local"})
                             .data("own0")
                             .data("local", {}, true)
                             .function("b", {"shared", "own1", "local"}),
                         Object().data("shared").data("own1").data("elsewhere")});
    s.expect(Found::Referred, {".rodata.shared", ".rodata.local"});
    s.expect(Found::Referred, {".rodata.own" + std::to_string(unmeasured)});
    s.expect(Found::Next, {".rodata.own" + std::to_string(1 - unmeasured)});
  }
}

// Data that has no name comes by reference if the profile does not know such data at all, and by
// its object and section if it does.
TEST(Data, WithoutANameComesByItsSection) {
  Object object;
  object.function("hot", {".rodata.hot", ".rodata.cold"})
      .unnamed(".rodata.hot")
      .unnamed(".rodata.cold");
  Searched(recorded({entry(EntryKind::Function, "hot")}), {object})
      .expect(Found::Referred, {".rodata.hot", ".rodata.cold"});
  Searched with(recorded({entry(EntryKind::Function, "hot"),
                          entry(EntryKind::Section, ".rodata.hot", "a.o")}),
                {object});
  with.expect(Found::Named, {".rodata.hot"});
  with.expect(Found::Next, {".rodata.cold"});
}

// A section entry is of one object, which may be in an archive; local data of one name, too.
TEST(Data, IsToldApartByItsObject) {
  auto found = [](const Object &object, const ProfileEntry &e, StringRef name, StringRef archive) {
    Searched s(recorded({e}), {object, object, object}, true, archive);
    return std::vector{s.of(name, 0), s.of(name, 1), s.of(name, 2)};
  };
  const std::vector second = {Found::No, Found::Named, Found::No};
  EXPECT_EQ(found(Object().unnamed(".rodata"), entry(EntryKind::Section, ".rodata", "libx.a(b.o)"),
                  ".rodata", "/usr/lib/libx.a"),
            second);
  EXPECT_EQ(found(Object().data("table", {}, true), entry(EntryKind::Data, "table", "b.o"),
                  ".rodata.table", ""),
            second);
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
  constexpr uint64_t size = 1 << 20;
  auto numParts = [size](uint64_t runs, std::optional<Stretch> stretch, uint64_t windows = 1) {
    StartupProfile profile = recorded({entry(EntryKind::Data, "table")});
    profile.runs = profile.dataRuns = 10;
    profile.entries[0].runs = runs;
    profile.entries[0].windows = windows;
    profile.entries[0].stretch = stretch;
    Searched s(profile, {Object().function("f"), Object().data("table", {}, false, size)});
    for (const LeftOutPart &part : s.set.leftOutParts()) {
      EXPECT_EQ(part.object, 1u);
      EXPECT_EQ(part.section, s.find(".rodata.table")->index);
      EXPECT_EQ(part.stretch, *stretch);
      EXPECT_EQ(part.contents.size(), size);
    }
    return s.set.leftOutParts().size();
  };
  EXPECT_EQ(numParts(10, Stretch{656, 672}), 1u);
  EXPECT_EQ(numParts(9, Stretch{656, 672}), 1u);
  EXPECT_EQ(numParts(5, Stretch{656, 672}), 0u);
  EXPECT_EQ(numParts(10, std::nullopt), 0u);
  EXPECT_EQ(numParts(10, Stretch{size - 16, size}), 1u);
  EXPECT_EQ(numParts(10, Stretch{size - 16, size + 1}), 0u);
  EXPECT_EQ(numParts(10, Stretch{656, 672}, 16), 0u); // it is in the front
}

// A large section with many names in it is touched wherever these are.
TEST(Density, OfASectionIsThatOfAllItsNames) {
  for (auto [distance, expected] :
       {std::pair(uint64_t(1 << 16), Found::Named), {uint64_t(16), Found::Next}}) {
    Object object;
    StartupProfile profile;
    object.section(".text", "SHF_ALLOC, SHF_EXECINSTR", {}, 1 << 20);
    std::deque<std::string> names;
    for (int i = 0; i < 16; ++i) {
      const std::string &name = names.emplace_back("f" + std::to_string(i));
      object.symbol(name, "STT_FUNC", ".text", false, i * distance);
      profile.entries.push_back(entry(EntryKind::Function, name.c_str()));
    }
    Searched(profile, {object}).expect(expected, {".text"});
  }
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
  for (auto [text, isHot] :
       {std::pair("hot", true), {"of a table", true}, {"cold", false}, {"end", false}})
    EXPECT_EQ(s.isHot(text), isHot) << text;
  s.expect(Found::No, {".rodata.str1.1"}); // they are gathered, not placed
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
  for (auto [name, gathersStrings] :
       {std::pair(".rodata.str1.8", true), {".rodata.f.str1.8", true}, {".rodata.str1.1", false}}) {
    Object object;
    object.strings({"hot"}, name).function("f", {".Lhot"});
    Searched(functions({"f"}), {object}, gathersStrings).expect(Found::Referred, {name});
  }
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
  EXPECT_EQ(of("unread"), Found::No);
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
  Searched s(profile, {Object().data("counter.0").data("table").function("f.isra.0")});
  s.expect(Found::No, {".rodata.counter.0", ".text.f.isra.0"});
  s.expect(Found::Named, {".rodata.table"});
}

// What of a profile can be moved, and what has a place of its own.
TEST(StartupSetOfNames, HavePlaces) {
  Searched s(functions({"f", "early", "outside", "nowhere"}),
             {Object()
                  .function("f", {".rodata.f", "outside"})
                  .function("g")
                  .unnamed(".rodata.f")
                  .section(".init", "SHF_ALLOC, SHF_EXECINSTR", {}, 4)
                  .symbol("early", "STT_FUNC", ".init", false)});
  s.expect(Found::Named, {".text.f"});
  s.expect(Found::Referred, {".rodata.f"});
  s.expect(Found::No, {".text.g", ".init"});
  ASSERT_EQ(s.set.entryPlaces().movable.size(), 1u);
  EXPECT_EQ(s.set.entryPlaces().movable[0].entry, 0u);
  EXPECT_EQ(s.set.entryPlaces().movable[0].sectionName, std::string(".text.f"));
  EXPECT_EQ(s.set.entryPlaces().isKept, (std::vector<bool>{false, true, false, false}));
}

// OCaml's runtime finds a module's code between two labels, and its own between two others.
TEST(CodeLabels, ContainAllThatTheyContained) {
  auto module = [](const std::string &name, const Names &refersTo = {}) {
    return Object()
        .label("caml" + name + "__code_begin")
        .function("caml.caml" + name + "__f", refersTo)
        .label("caml" + name + "__code_end");
  };
  Object runtime;
  runtime.label("caml_hot__code_begin").label("caml_hot__code_end");
  runtime.label("caml_system__code_begin", 1).function("caml_call_gc");
  Searched s(functions({"caml.camlA__f", "camlA__code_end", "caml_call_gc", "caml_hot__code_begin",
                        "caml_system__code_begin"}),
             {module("A", {"caml.camlB__f"}), module("B"), module("C"), runtime});
  s.expect(Found::Named, {".text.caml.camlA__f", ".text.caml_call_gc"});
  const StartupSection *label = s.find(".text.caml.camlA__code_begin");
  ASSERT_TRUE(label);
  EXPECT_EQ(label->rank, 0u);
  EXPECT_EQ(label->region, Region::Front);
  // Its label keeps its place, so its code does.
  s.expect(Found::No, {".text.caml.camlB__f", ".text.caml.camlB__code_begin"});
  s.expect(Found::No, {".text.caml.camlA__code_end", ".text.caml.camlC__code_begin",
                       ".text.caml.caml_hot__code_begin", ".text.caml.caml_system__code_begin"});
  EXPECT_EQ(s.set.entryPlaces().isKept, (std::vector<bool>{false, true, false, true, true}));
}

// The same of a runtime that is not known: all code of the object stays where it is.
TEST(CodeLabels, OfOthersKeepCode) {
  Searched s(functions({"f", "g"}),
             {Object().label("begin", 0, "").function("f").label("end", 0, ""),
              Object().function("g", {"f"}).label("some", 4, "")});
  s.expect(Found::No, {".text.f", ".text.begin"});
  s.expect(Found::Named, {".text.g"});
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
    forDamaged(
        good,
        [&](StringRef bytes) {
          StartupSet set(profile, gathersStrings);
          set.find(InputObject{MemoryBufferRef(bytes, "o"), "", false});
        },
        {}, 400); // the fuzzer has the rest
}
