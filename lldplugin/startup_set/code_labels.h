// Code that a runtime finds between two labels.
//
// Some runtimes know their code by labels around it. Each module of OCaml has its code between
// caml...code_begin and caml...code_end. From the first of these labels in memory to the last is
// what the runtime takes for OCaml's code: a stack overflow elsewhere is a segmentation fault. A
// second interval, caml_system, must not lie within the first. With -ffunction-sections, the labels
// have sections of their own, which are empty.
//
// So the label at a module's beginning comes first in the front if any code of the module moves,
// and the others keep their place: each interval still contains all that it contained. Code between
// labels of an unknown runtime keeps its place.
#pragma once

#include "startup_set/object_scan.h"

namespace frontload {

/// Whether a global symbol of code may be such a label.
template <class ELFT>
bool mayLabelCode(const ElfObject<ELFT> &object, const typename ELFT::Sym &symbol,
                  llvm::StringRef name, uint32_t section);

/// Decides by ObjectScan::codeLabels which sections of the object keep their place.
template <class ELFT> void keepLabelled(ObjectScan<ELFT> &scan);

/// Puts the first label of an object whose code moves before all code of the front.
template <class ELFT> void placeFirstLabel(ObjectScan<ELFT> &scan);

} // namespace frontload
