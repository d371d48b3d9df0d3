// What the two halves of the program for packaging tests share.
#include <string>
#include <vector>

std::vector<std::string> split(const std::string &text);
std::string report(const std::vector<std::string> &words);
