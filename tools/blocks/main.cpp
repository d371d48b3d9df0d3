//===- main.cpp - frontload-blocks: which basic blocks were touched --------===//
//
// The scripts make startup profiles, and LLVM reads maps of basic blocks. This program is between
// them: it turns addresses that ran into blocks that ran.
//
// Its output are lines of fields, separated by TAB. First
//
//   frontload-blocks 1
//
// then, for each function of which a block was touched, by address,
//
//   function ADDRESS HASH BLOCK...
//
//     ADDRESS  of its entry, in hexadecimal
//     HASH     of everything that stays when its blocks move (block_map.h), in 16 digits
//     BLOCK    the id of a block that was touched; `?` behind it if it may have been: another one
//              was first where it begins. By address.
//
//===----------------------------------------------------------------------===//

#include "blocks/touched_blocks.h"
#include "elf/debug_file.h"
#include "program/tool.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace frontload;

const StringLiteral frontload::programName = "frontload-blocks";

static cl::OptionCategory category("Options");
static cl::opt<std::string> programArgument(cl::Positional, cl::Required, cl::desc("PROGRAM"),
                                            cl::cat(category));
static cl::opt<std::string> addressesArgument(cl::Positional, cl::init("-"), cl::desc("[FILE]"),
                                              cl::cat(category));

static cl::opt<bool> startsOption("starts", cl::cat(category),
                                  cl::desc("The addresses are those at which blocks begin"));

static constexpr char overview[] =
    "frontload-blocks [options] PROGRAM [FILE]\n\n"
    "Finds the basic blocks of a program that was compiled with -fbasic-block-address-map which "
    "were touched. FILE has the addresses that ran, in hexadecimal, one a line (default: stdin).\n";
static cl::extrahelp moreHelp(R"(
examples:
  # find the block that ran if code at this address did
  echo 401136 | frontload-blocks app

exit status:
  0   done
  2   the command line is wrong, or a file on it cannot be read
  65  the contents of a file are bad
)");

static std::vector<uint64_t> parseAddresses(StringRef path, StringRef text) {
  std::vector<uint64_t> addresses;
  for (size_t number = 1; !text.empty(); ++number) {
    auto [line, rest] = text.split('\n');
    text = rest;
    uint64_t address;
    if (line.getAsInteger(16, address))
      fail(exitData, path + ": line " + Twine(number) + ": not a hexadecimal number",
           "give one address a line");
    addresses.push_back(address);
  }
  llvm::sort(addresses);
  return addresses;
}

static void write(raw_ostream &os, const FunctionBlocks &function, ArrayRef<uint64_t> addresses) {
  std::vector<BlockState> states = blockStates(function, addresses);
  if (startsOption)
    llvm::replace(states, BlockState::Perhaps, BlockState::Untouched);
  if (!llvm::is_contained(states, BlockState::Touched))
    return;
  os << "function\t" << utohexstr(function.address, true) << '\t'
     << format_hex_no_prefix(function.hash, 16);
  for (auto [block, state] : llvm::zip_equal(function.blocks, states))
    if (state != BlockState::Untouched)
      os << '\t' << block.id << (state == BlockState::Perhaps ? "?" : "");
  os << '\n';
}

int main(int argc, char **argv) {
  parseOptions(argc, argv, category, overview);
  auto program = readInput(programArgument, "give a file that can be read");
  auto text = readInput(addressesArgument, "give a file that can be read");
  std::vector<uint64_t> addresses = parseAddresses(addressesArgument, text->getBuffer());
  auto functions = readBlockMap(program->getMemBufferRef());
  if (functions && functions->empty()) // strip may have moved the map to the debug file
    if (auto debug = findDebugFile(program->getMemBufferRef()))
      functions = readBlockMap(debug->getMemBufferRef());
  auto found =
      orExit(std::move(functions), programArgument + ": ", "give the program that was recorded");
  outs() << "frontload-blocks 1\n";
  for (const FunctionBlocks &function : found)
    write(outs(), function, addresses);
  flushOutput();
  return 0;
}
