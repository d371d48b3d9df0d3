// Part of a proposal to lld, which lld-hooks.md explains: a program that has lld as a library gives it a
// client, which decides where sections go. Nothing includes this header.

namespace lld::elf {

/// What a client sees of an input section: enough to find it in its object, and no more.
struct ClientSection {
  uint32_t file;         // its number in the list of inputsResolved
  uint32_t index;        // in the section header table
  llvm::StringRef name;
};

struct ClientInput {
  llvm::MemoryBufferRef buffer;
  llvm::StringRef archive;   // empty if it is in none
  bool isLazy;
};

/// Where a section goes.
struct Placement {
  llvm::StringRef output;    // the output section; empty: where lld puts it
  uint32_t rank;             // sections with a rank come first, in its order
};

class LinkClient {
public:
  virtual ~LinkClient() = default;
  /// All inputs are known, in the order of the command line, and none has a place. Called again for
  /// what link-time optimization has made. The client may add an object of its own.
  virtual void inputsResolved(llvm::ArrayRef<ClientInput> inputs,
                              llvm::function_ref<void(llvm::MemoryBufferRef)> addObject) {}
  /// Asked once for each live section, after garbage collection and ICF.
  virtual std::optional<Placement> placementOf(const ClientSection &section) { return {}; }
  /// Asked once for each piece of a merged section. Hot pieces come first. Any thread may ask.
  virtual bool isHot(llvm::StringRef output, llvm::CachedHashStringRef piece) { return false; }
  /// Where an output section stands: lld adds this to its own rank of the same kind of sections.
  virtual int rankOf(llvm::StringRef output) { return 0; }
  /// The file is complete, and not yet in its place. An error ends the link without one.
  virtual llvm::Error beforeCommit(llvm::MutableArrayRef<uint8_t> file) {
    return llvm::Error::success();
  }
};

/// As link(), with a client, which outlives the call.
bool link(llvm::ArrayRef<const char *> args, llvm::raw_ostream &stdoutOS,
          llvm::raw_ostream &stderrOS, bool exitEarly, bool disableOutput, LinkClient *client);

} // namespace lld::elf
