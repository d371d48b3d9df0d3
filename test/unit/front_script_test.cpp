// The names of marked sections, and the linker script that places them.
#include "front_script.h"
#include <gtest/gtest.h>

using namespace frontload;

// A marked name is a suffix of the old one, is recognized, and cannot be mistaken for a word that
// programs use as a section name.
TEST(FrontScript, MarkedNames) {
  struct {
    llvm::StringRef name, marked;
  } cases[] = {
      {".text", "ext"},
      {".text._Z1fv", "text._Z1fv"},
      {".text.startup.main", "text.startup.main"},
      {".rodata", "odata"},
      {".rodata.cst16", "rodata.cst16"},
      {".data", "ata"},
      {".data.x", "data.x"},
      {".data.rel.ro", "ata.rel.ro"},
      {".data.rel.ro.x", "data.rel.ro.x"},
  };
  for (auto [name, marked] : cases) {
    EXPECT_EQ(name.drop_front(startupNameShift(name)), marked);
    EXPECT_TRUE(isStartupName(marked)) << marked.str();
    EXPECT_FALSE(isStartupName(name)) << name.str();
  }
  for (llvm::StringRef other : {"text", "data", "rodata", "textual", "database", ".init", "", "e"})
    EXPECT_FALSE(isStartupName(other)) << other.str();
}

// Each pattern costs a look at every input section, so those that are not needed are not there.
TEST(FrontScript, HasOnlyThePatternsItNeeds) {
  ClassSet classes = {};
  classes[static_cast<unsigned>(SectionClass::Text)] = true;
  std::string script = frontScript(classes, {});
  EXPECT_NE(script.find("text.*"), std::string::npos);
  for (const char *absent : {"rodata.*", "data.*", ".bss.*", "HIDDEN"})
    EXPECT_EQ(script.find(absent), std::string::npos) << absent;
}

// Edge symbols are given a value only if somebody refers to them and nobody defines them.
TEST(FrontScript, AssignsTheEdgeSymbolsThatAreNeeded) {
  EdgeSymbols edges;
  edges.noteReference(llvm::StringRef("_end\0abc", 8));
  edges.noteReference(llvm::StringRef("end\0abcd", 8));
  edges.noteDefinition("end");
  edges.noteDefinition("etext");
  edges.noteReference("_edatax");
  std::string script = frontScript({}, edges);
  EXPECT_NE(script.find("HIDDEN(_end = .)"), std::string::npos);
  for (const char *absent : {"HIDDEN(end", "etext", "edata"})
    EXPECT_EQ(script.find(absent), std::string::npos) << absent;
}
