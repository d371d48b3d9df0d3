// The output of frontload-resolve.
//
// Lines of fields, separated by TAB. Names are escaped as in startup profiles. First
//
//   frontload-resolve 2
//
// then, for each place that an entry of the profile stands for, by entry and then by place in the
// link,
//
//   name ENTRY HOW OBJECT SECTION SYMBOL VALUE INDEX
//
//     ENTRY    its number in the profile, from 0
//     HOW      how its name was found: exact, suffix, clone, variant, tag, hash or part
//     OBJECT   the base name of the file, or archive(member)
//     SECTION  the name of the section there
//     SYMBOL   its name there; empty for an entry that is a section
//     VALUE    in hexadecimal, the address in a linked file, the offset in the section of an object
//     INDEX    in the symbol table (.symtab); 0 for an entry that is a section
//
// and for each entry that is only defined where nothing can be moved
//
//   unmovable ENTRY
//
// With --listed, FILE is not a linked file or object but lists the symbols of such files, as
// listed_symbols.h says; SECTION is empty, VALUE is the line of the list, from 0, and INDEX is 0.
//
// With --blocks it writes instead, for each place of a function whose file has a map of its basic
// blocks (clang -fbasic-block-address-map),
//
//   blocks ENTRY OBJECT SYMBOL HASH BLOCK...
//
//     HASH     of everything that stays when its blocks move (block_map.h), in 16 digits
//     BLOCK    ID:SIZE, and behind it `p` if it is a landing pad; by address
//
// With --touched it writes, for each function of which a block was touched, by address,
//
//   function ADDRESS HASH BLOCK...
//
//     ADDRESS  of its entry, in hexadecimal
//     BLOCK    the id of a block that was touched; `?` behind it if it may have been: another one
//              was first where it begins. By address.
//
// With --startup-set it writes, in planned order, the sections that a front would hold, and those
// that would follow it:
//
//   section CLASS REGION OBJECT SECTION SIZE INDEX NAMESAKES TOTAL
//
//     CLASS      text, rodata, relro, data or bss
//     REGION     front or next
//     SIZE       in bytes
//     INDEX      in the object's table of sections
//     NAMESAKES  how many sections of its name the objects have, outside of COMDAT groups
//     TOTAL      the size of all of these, in bytes
#pragma once

#include "elf/block_map.h"
#include "resolve/listed_symbols.h"
#include "startup_set/startup_set.h"
#include "llvm/ADT/ArrayRef.h"

namespace frontload {

/// The first line.
inline constexpr char resolvedHeader[] = "frontload-resolve 2\n";

/// Where the entries of `profile` are in `objects`.
void writePlaces(llvm::raw_ostream &os, const StartupProfile &profile, const StartupSet &set,
                 llvm::ArrayRef<InputObject> objects);

/// The blocks of the functions of `profile`; an error says which object is damaged.
llvm::Error writeBlocks(llvm::raw_ostream &os, const StartupProfile &profile, const StartupSet &set,
                        llvm::ArrayRef<InputObject> objects);

/// The blocks of `functions` that were touched, if these addresses ran; with `areStarts`, only
/// those that begin at one.
void writeTouched(llvm::raw_ostream &os, llvm::ArrayRef<FunctionBlocks> functions,
                  llvm::ArrayRef<uint64_t> addresses, bool areStarts);

/// Where the entries are in a list of symbols.
void writeListed(llvm::raw_ostream &os, std::vector<ListedPlace> places);

/// The sections of a front, and those that would follow it.
void writeSections(llvm::raw_ostream &os, llvm::ArrayRef<StartupSections> sets,
                   llvm::ArrayRef<InputObject> objects);

} // namespace frontload
