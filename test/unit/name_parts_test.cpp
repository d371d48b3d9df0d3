// What of a name stays from build to build, and how alike two names are.
#include "names/mangled_names.h"
#include "names/name_parts.h"
#include "llvm/ADT/Twine.h"
#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace frontload;
using namespace llvm;

namespace {
std::optional<Likeness> likeness(StringRef wanted, StringRef found) {
  NameParts a = takeApart(wanted), b = takeApart(found);
  return a.stem == b.stem ? compare(a, b) : std::nullopt;
}

/// Expects how alike names are, each of a pair with the other.
void expectAlike(std::optional<Likeness> expected,
                 std::initializer_list<std::pair<StringRef, StringRef>> pairs) {
  for (auto [a, b] : pairs) {
    EXPECT_EQ(likeness(a, b), expected) << a.str() << " and " << b.str();
    EXPECT_EQ(likeness(b, a), expected) << b.str() << " and " << a.str();
  }
}

TEST(NameParts, SuffixesThatOnlyTellNamesApartDoNotMatter) {
  for (StringRef other :
       {"f.llvm.123", "f.__uniq.99", "f.lto_priv.0", "f.7", "f@@V2", "f@V1", "f.localalias",
        "f.__uniq.99.llvm.5", "f@plt", "f.cfi", "f.cfi_jt", "f.content.1"})
    expectAlike(Likeness::Suffix, {{"f", other}});
  expectAlike(Likeness::Suffix, {{"f.llvm.1", "f.llvm.2"}, {"f.isra.0", "f.isra.3"}});
}

TEST(NameParts, ClonesAreOfTheirFunction) {
  for (StringRef other :
       {"f.isra.0", "f.constprop.1", "f.isra.0.constprop.2", "f.specialized.1",
        "f.constprop.0.llvm.8", "f.clone.3", "f.memprof.1", "f.coldclone", "f.Tgm"})
    expectAlike(Likeness::Clone, {{"f", other}});
  expectAlike(Likeness::Clone, {{"f.isra.0", "f.constprop.0"}});
}

TEST(NameParts, APartIsInItsFunctionButTheFunctionIsNotInItsColdPart) {
  for (auto [part, whole] : {std::pair("f.cold", "f"), {"f.cold", "f.constprop.0"}})
    EXPECT_EQ(likeness(part, whole), Likeness::Part) << part;
  expectAlike(Likeness::Part, {{"f.part.0", "f"}});
  EXPECT_EQ(likeness("f", "f.cold"), std::nullopt);
  EXPECT_EQ(likeness("f", "f.eh"), std::nullopt);
  EXPECT_EQ(likeness("f.cold.3", "f.cold"), Likeness::Suffix);
  EXPECT_EQ(likeness("f.part.0", "f.cold"), std::nullopt);
}

TEST(NameParts, WhatIsNotACompilersSuffixBelongsToTheName) {
  for (StringRef name : {"f.avx2", "f.resume", "f.destroy", "f.cleanup", "_GLOBAL__sub_I_main.cpp",
                         "f._omp_fn.1", "f.isra.0.avx2", ".Lx", "", "f.", "?f@@YAHXZ"})
    EXPECT_EQ(takeApart(name).stem, name);
  EXPECT_EQ(takeApart("f._omp_fn.1.constprop.0").stem, "f._omp_fn.1");
  EXPECT_EQ(likeness("?f@@YAHXZ", "?f@@YAHH@Z"), std::nullopt);
}

TEST(NameParts, RustsLegacyHashIsNotOfTheSource) {
  StringRef a = "_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17h0123456789abcdefE";
  StringRef b = "_ZN4core3ptr42drop_in_place$LT$alloc..string..String$GT$17hfedcba9876543210E";
  EXPECT_EQ(likeness(a, b), Likeness::Hash);
  EXPECT_EQ(likeness(a, (Twine(a) + ".llvm.77").str()), Likeness::Suffix);
  EXPECT_EQ(likeness(a, (Twine(b) + ".llvm.77").str()), Likeness::Hash);
  EXPECT_EQ(takeApart(b.drop_back(1)).hash, "");
  EXPECT_EQ(takeApart("_ZN1a17h0123456789abcdeXE").hash, "");
}

TEST(NameParts, RustsCrateHashesAreNotOfTheSource) {
  EXPECT_FALSE(stableName("_RNvNtCs1234_7mycrate3foo3bar").empty());
  struct {
    StringRef one, other;
    bool isSame = true;
  } cases[] = {{"_RNvNtCs1234_7mycrate3foo3bar", "_RNvNtCsabcd9_7mycrate3foo3bar"},
               {"_RNvNtCs1234_7mycrate3foo3bar", "_RNvNtCs1234_7mycrate3foo3baz", false},
               // A reference back is an offset, which the hashes before it shift.
               {"_RINvCs12_3abc3fooNtB2_3BarE", "_RINvCs1234567_3abc3fooNtB2_3BarE"},
               {"_RINvCs12_3abc3fooNtBd_3BarE", "_RINvCs1234567_3abc3fooNtBi_3BarE"},
               {"_RINvCs12_3abc3fooNtBd_3BarE", "_RINvCs1234567_3abc3fooNtBd_3BarE", false},
               {"_RNvMs_Cs12_3abcNtB4_3Bar3foo", "_RNvMs1_Cs1234567_3abcNtB5_3Bar3foo"},
               // Numbers of other things are not lengths: closures, lifetimes, constants.
               {"_RNCNvCs1_3abc4mains4_0Cs1_3abc", "_RNCNvCs22_3abc4mains4_0Cs22_3abc"},
               {"_RNCNvCs1_3abc4mains4_0", "_RNCNvCs1_3abc4mains5_0", false},
               {"_RINvCs1_3abc1fRL5_Kj9_NtCs2_1d1eE", "_RINvCs1_3abc1fRL5_Kj9_NtCs345_1d1eE"},
               // In an identifier it is no crate.
               {"_RNvCs1_3abc5Csa_x", "_RNvCs1_3abc5Csb_x", false}};
  for (const auto &c : cases)
    EXPECT_EQ(stableName(c.one) == stableName(c.other), c.isSame) << c.other.str();
  // A length that no number holds is gone through like any other.
  EXPECT_EQ(stableName("_RNv333333333333333333333333foo"), "_RNv333333333333333333333333foo");
  for (const char *rubbish : {"_Rubbish", "_R", "_RC", "_RCs", "_RCs_", "_RB", "_R9", "_R99999_a"})
    EXPECT_FALSE(stableName(rubbish).size() > strlen(rubbish));
}

TEST(NameParts, AbiTagsAreNotOfTheSource) {
  for (auto [name, stable] : std::initializer_list<std::pair<StringRef, StringRef>>{
           {"_Z1fB5cxx11v", "_Z1fv"},
           {"_Z1fB1aB2bbv.resume", "_Z1fv.resume"},
           {"_ZN3lib3boxB8ne220106IiE4makeB8ne220106IS1_EEvT_S2_RKS0_",
            "_ZN3lib3boxIiE4makeIS1_EEvT_S2_RKS0_"},
           {"_ZN3libplB3tagERKNS_1AES2_", "_ZN3libplERKNS_1AES2_"}, // operator+
           {"_ZN3lib1ACB3tag2Ev", "_ZN3lib1ACB3tag2Ev"},            // no name
           {"_ZN1AC2B3tagEOS_", "_ZN1AC2EOS_"},
           {"_ZN1AcvT_B3tagIiEEv", "_ZN1AcvT_IiEEv"}, // conversion
           {"_ZZ4mainENKUlvE_clB3tagEv", "_ZZ4mainENKUlvE_clEv"},
           {"_ZGVZ1fB3tagvE1xB3tag", "_ZGVZ1fvE1x"},
           // No tags: an identifier, an argument, a bit-precise integer, a substitution.
           {"_ZN5aB3xy3B3aEv", "_ZN5aB3xy3B3aEv"},
           {"_Z1fILi5EE4xB3yDB8_", "_Z1fILi5EE4xB3yDB8_"},
           {"_Z1fDB8_B3x", "_Z1fDB8_B3x"},
           // Tags of std::string are a substitution of their own.
           {"_Z1fSsB3tagS_", "_Z1fSsBS_"},
           {"_Z1fSsB5otherS_", "_Z1fSsBS_"}})
    EXPECT_EQ(stableName(name), stable) << name.str();
}

TEST(NameParts, NumbersAndPassesOfOtherLanguagesAreNotOfTheSource) {
  for (auto [name, stable] : std::initializer_list<std::pair<StringRef, StringRef>>{
           {"camlStdlib__List__map_236", "camlStdlib__List__map_"},
           {"camlT.f_81", "camlT.f_"},
           {"caml_alloc2", "caml_alloc2"},
           {"camlT__entry", "camlT__entry"},
           {"camlT__7", "camlT__7"},
           {"main.add__anon_12.f__struct_3", "main.add__anon_.f__struct_"},
           {"main.add__struct_12.f__anon_3", "main.add__struct_.f__anon_"},
           {"f__anon_12", "f__anon_12"},
           {"$s4main3fooyySiFTf4d_nTm", "$s4main3fooyySiF"},
           {"$s4main2Tf4ayySiF", "$s4main2Tf4ayySiF"},
           {"read_u8", "read_u8"}}) {
    EXPECT_EQ(stableName(name), stable) << name.str();
    EXPECT_EQ(stableBeginning(name) == StringRef::npos, name == stable) << name.str();
  }
}

// Whatever a name ends with, it begins like its stem: what has another head is another name.
TEST(NameParts, ANameAndItsStemHaveOneHead) {
  SmallVector<StringRef> pieces;
  StringRef("f .f @ .isra .0 .avx2 .llvm.7 @@V1 .cold _ZN $LT$..as ?f@@ E 17h0123456789abcdefE "
            "17h012345678xabcdefE")
      .split(pieces, ' ');
  std::vector<std::string> names;
  for (StringRef a : pieces)
    for (StringRef b : pieces)
      for (StringRef c : pieces)
        names.push_back((a + b + c).str());
  for (const std::string &name : names) {
    ASSERT_EQ(headOf(takeApart(name).stem), headOf(name)) << name;
    StringRef suffixes = StringRef(name).drop_front(headOf(name).size());
    ASSERT_TRUE(!takeApart(name).isCold || mayBeCold(suffixes)) << name;
    for (const std::string &other : otherVariants(name))
      ASSERT_EQ(headOf(takeApart(other).stem), headOf(other)) << other;
  }
  EXPECT_EQ(headOf("_ZN3abc4main17h0123456789abcdefE.llvm.9"), "_ZN3abc4main");
  EXPECT_EQ(headOf(".L.str.5"), ".L");
  EXPECT_EQ(headOf("f.avx2"), "f");
}

TEST(NameParts, ConstructorsAndDestructorsHaveVariants) {
  EXPECT_EQ(otherVariants("_ZN3FooC2ERKS_"),
            (SmallVector<std::string>{"_ZN3FooC1ERKS_", "_ZN3FooC3ERKS_"}));
  EXPECT_EQ(otherVariants("_ZN3BarIiED1Ev").size(), 2u);
  auto variants = otherVariants("_ZN3FooILi5EN2C12D2EEC1IiEET_S1_");
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[0], "_ZN3FooILi5EN2C12D2EEC2IiEET_S1_");
  EXPECT_EQ(otherVariants("_ZZN3FooC1EvEN3BarD0Ev")[0], "_ZZN3FooC1EvEN3BarD1Ev");
  // These have no variants, though they look like it.
  for (StringRef name : {"_ZN2C13runEv", "_ZN3FooD5Ev", "C1E", "_ZC1E", "main", "_ZN3a1C2b1Ev"})
    EXPECT_TRUE(otherVariants(name).empty()) << name.str();
}

} // namespace
