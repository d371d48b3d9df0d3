// Small helpers for text, and where output goes.
#include "text.h"
#include <unistd.h>

namespace tabula {

[[gnu::noinline]] static char shift(char c, char from, char to, int by) {
  return c >= from && c <= to ? static_cast<char>(c + by) : c;
}

[[gnu::noinline]] static void appendDigits(std::string &digits, unsigned long n) {
  if (n >= 10)
    appendDigits(digits, n / 10);
  digits += static_cast<char>('0' + n % 10);
}

std::vector<std::string_view> split(std::string_view s, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    size_t at = s.find(separator);
    parts.push_back(s.substr(0, at));
    if (at == s.npos)
      return parts;
    s.remove_prefix(at + 1);
  }
}

std::string upper(std::string_view s) {
  std::string result;
  for (char c : s)
    result += shift(c, 'a', 'z', 'A' - 'a');
  return result;
}

std::string lower(std::string_view s) {
  std::string result;
  for (char c : s)
    result += shift(c, 'A', 'Z', 'a' - 'A');
  return result;
}

std::string number(long n) {
  bool isNegative = n < 0;
  unsigned long rest = isNegative ? 0ul - static_cast<unsigned long>(n) : static_cast<unsigned long>(n);
  std::string digits = isNegative ? "-" : "";
  appendDigits(digits, rest);
  return digits;
}

std::string padded(std::string_view s, unsigned width, bool toTheRight) {
  std::string result(s);
  while (result.size() < width)
    toTheRight ? result.insert(result.begin(), ' ') : result.insert(result.end(), ' ');
  return result;
}

bool parseNumber(std::string_view s, long &out) {
  bool isNegative = !s.empty() && s.front() == '-';
  if (isNegative)
    s.remove_prefix(1);
  if (s.empty() || s.size() > 17)
    return false;
  long result = 0;
  for (char c : s) {
    if (c < '0' || c > '9')
      return false;
    result = 10 * result + (c - '0');
  }
  out = isNegative ? -result : result;
  return true;
}

std::string roman(long n) {
  static const struct {
    long value;
    const char *digits;
  } table[] = {{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"},
               {40, "XL"},  {10, "X"},   {9, "IX"},  {5, "V"},    {4, "IV"},  {1, "I"}};
  std::string result;
  for (const auto &digit : table)
    for (; n >= digit.value; n -= digit.value)
      result += digit.digits;
  return result;
}

Output::~Output() = default;
void Output::flush() {}

Output &Output::operator<<(std::string_view s) {
  write(s);
  return *this;
}

Output &Output::operator<<(long n) {
  write(number(n));
  return *this;
}

void StringOutput::write(std::string_view s) { text += s; }

FileOutput::FileOutput(int d) : descriptor(d) { buffer.reserve(4096); }
FileOutput::~FileOutput() { FileOutput::flush(); }

void FileOutput::write(std::string_view s) {
  buffer += s;
  if (buffer.size() > 4000)
    flush();
}

void FileOutput::flush() {
  std::string_view rest = buffer;
  while (!rest.empty()) {
    ssize_t written = ::write(descriptor, rest.data(), rest.size());
    if (written <= 0)
      break;
    rest.remove_prefix(static_cast<size_t>(written));
  }
  buffer.clear();
}

} // namespace tabula
