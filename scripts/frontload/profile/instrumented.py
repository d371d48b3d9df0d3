"""What only a program that was built to collect a compiler's profile has, not its next build.

One training run can give both profiles: the compiler's (clang or gcc -fprofile-generate) and the
startup profile. Yet the program that runs is not the one that is shipped. The startup profile
leaves out the collecting code and data, or it would seem stale in the very next link:

    runtime    the functions and data of the compiler's runtime, and its constructors, of which gcc
               puts one into each object: of git 2.39, 686 of the 1,345 names that its start has
    counters   the counters of each function
    cold parts code that the compiler took for unlikely without a profile, and yet was run. With
               one, the cold part holds code that was not run

A map of the link shows which objects are a runtime's. Without a map, names do: symbols of a runtime
do not name their source file.
"""

import re

from frontload.elf import section_names
from frontload.elf.file import Elf
from frontload.elf.symbols import Symbols
from frontload.profile.startup_profile import Name

# Such a program always has the section of clang's counters, which the runtime finds by its name, or
# functions of libgcov.
_COUNTERS = b"__llvm_prf_cnts"
_LIBGCOV = b"__gcov_"
_COLLECTS = re.compile(
    rb"__llvm_(profile|prf|write)_|__prof[a-z]{1,3}_|lprof|InstrProf|"  # compiler-rt, and LLVM
    rb"_?_?gcov_|__gcov[0-9]+\.|\.LPBX[0-9]|(_GLOBAL_)?_sub_[ID]_00100_[01]")  # libgcov, and gcc
_RUNTIMES = (b"libgcov.a(", b"libclang_rt.profile")
# These have no common prefix. All are hidden, which makes them local symbols of a linked file.
_OTHERS = {"function": frozenset(b"""
_GLOBAL__sub_I_InstrProfilingRuntime.cpp binaryIdsStringWriter createProfileDir fileWriter
getCurFilename getCurFilenameLength getFirstValueProfRecord getNextNValueData
getNumValueDataForSiteWrapper getNumValueDataRT getNumValueSitesRT getProfileFileSizeForMerging
getValueProfDataSize getValueProfDataSizeWrapper getValueProfRecordHeaderSize getValueProfRecordNext
getValueProfRecordNumValueData getValueProfRecordSize getValueProfRecordValueData initBufferWriter
initializeProfileForContinuousMode initializeValueProfRuntimeRecord mangle_path
mmapForContinuousMode parseAndSetFilename serializeValueProfDataFrom serializeValueProfRecordFrom
truncateCurrentFile writeFile writeFileWithoutReturn writeOneValueProfData
writeProfileWithFileObject
""".split()), "data": frozenset(b"""
BufferIOBuffer ContinuouslySyncProfile CurrentVNode DynamicBufferIOBuffer EndVNode FreeHook
OutOfNodesWarnings ProfileDumped ProfileMergeRequested RTRecord TheBufferIO TheVPDataReader
VPBufferSize VPDataArray VPMaxNumValsPerSite VPMergeHook hasNonDefaultValsPerSite hasStaticCounters
""".split())}
_COLD_PART = re.compile(rb"\.cold(\.|$)")


def is_instrumented(elf: Elf, symbols: Symbols) -> bool:
    """Whether a linked file, with these symbols, collects a profile of clang or gcc as it runs."""
    names = symbols.names
    return _COUNTERS in elf.section_names or any(
        name.startswith(_LIBGCOV) for name in names.some(names.having(_LIBGCOV)))


def is_left_out(name: Name) -> bool:
    """Whether a name of an instrumented program is meaningless for the program built with its
    profile."""
    if name.kind == "string":  # the next link only reports how many strings it found
        return False
    if name.file.startswith(_RUNTIMES):
        return True
    text = name.name
    if name.kind == "section" and (found := section_names.split(text)):
        text = section_names.split_word(*found)[1]
    is_cold_part = name.kind == "function" and _COLD_PART.search(text)
    return bool(is_cold_part or text in _OTHERS.get(name.kind, ()) or _COLLECTS.match(text))
