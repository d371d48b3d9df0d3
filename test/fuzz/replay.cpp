// Gives files to a fuzz target, in builds without a fuzzer: what was found once stays mended with
// every compiler.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
  int count = 0;
  for (int i = 1; i < argc; ++i)
    for (const auto &file : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream stream(file.path(), std::ios::binary);
      // A vector of its own, so that a sanitizer sees the first byte that is read behind it.
      std::vector<char> bytes(std::istreambuf_iterator<char>(stream), {});
      bytes.shrink_to_fit();
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
      ++count;
    }
  std::printf("%d inputs\n", count);
  return count == 0; // a corpus that is gone tests nothing
}
