// One link by gold, laid out.
//
// Gathers what gold reads, has it planned (front_link.h), tells gold the order, and judges how much
// of the profile is in the link.
//
// gold sorts the input sections of each output section by their places in one list, and puts
// sections that are not in the list before those that are. So the startup block is the end of
// .text, .data.rel.ro, .data and .bss.
//
// It does not sort sections of strings, but merges them into one piece at the beginning of .rodata.
// Therefore constants get an output section of their own, .rodata.startup. gold puts it into a
// segment of its own after all other code and constants, next to the data, and the strings in it
// are those of the objects that startup needs: 122 major faults on cc1 instead of 153.
//
// gold does not report the fate of a section. Of copies, it keeps the first group of a signature. A
// section that it drops because nothing refers to it (--gc-sections) counts as placed.
#pragma once

#include "gold/gold_inputs.h"
#include "gold/linker.h"
#include "gold/options.h"
#include "plan/front_link.h"
#include <vector>

namespace frontload {

class GoldLink {
public:
  GoldLink(Linker linker, GoldOptions options, StartupProfile profile, bool foldsCode);

  /// Takes note of a file that is in the link.
  void addFile(const ld_plugin_input_file &file);

  /// Tells gold the order of the sections of all files added so far.
  void tellOrder();

  /// To be called when gold has read all files, but not the objects that other plugins make of
  /// claimed files.
  void allRead();

  /// To be called for each object that another plugin has made.
  void addMade(const ld_plugin_input_file &file);

  /// To be called when gold is done, or gives up.
  void end();

private:
  [[noreturn]] void fail(const llvm::Twine &text, const llvm::Twine &note);
  bool awaitsObjects() const;
  void countPlaced();
  void judge();

  Linker linker;
  GoldOptions options;
  FrontLink link;
  GoldInputs files;
  std::vector<InputObject> objects;
  std::vector<const void *> handles; ///< gold's, of `objects`
  std::vector<bool> offered;         ///< by handle: whether gold has offered this ELF file to us
  bool isJudged = false;
  bool hasMade = false; ///< objects that another plugin has made
  bool isOver = false;
};

} // namespace frontload
