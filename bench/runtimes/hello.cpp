// What C++ programs commonly start with: containers, streams, files, an exception, a thread.
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

int main(int argc, char **argv) {
  std::map<std::string, int> seen;
  for (int i = 0; i < argc; ++i)
    ++seen[argv[i]];
  std::ifstream file("/etc/hostname");
  std::stringstream text;
  text << file.rdbuf();
  try {
    if (!seen.empty())
      throw std::runtime_error("none");
  } catch (const std::exception &error) {
    std::cerr << error.what() << std::endl;
  }
  std::thread([&] { std::cout << text.str().size() << '\n'; }).join();
}
