// Small helpers for text, and where output goes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tabula {

std::string_view trim(std::string_view s);
std::vector<std::string_view> split(std::string_view s, char separator);
std::string upper(std::string_view s);
std::string lower(std::string_view s);
std::string number(long n);
std::string padded(std::string_view s, unsigned width, bool toTheRight = false);
bool parseNumber(std::string_view s, long &out);
std::string roman(long n);

/// Something that text is written to.
class Output {
public:
  virtual ~Output();
  virtual void write(std::string_view s) = 0;
  virtual void flush();
  Output &operator<<(std::string_view s);
  Output &operator<<(long n);
};

class StringOutput : public Output {
public:
  void write(std::string_view s) override;
  std::string text;
};

/// Buffered; what is not flushed is written when it is destroyed.
class FileOutput : public Output {
public:
  explicit FileOutput(int descriptor);
  ~FileOutput() override;
  void write(std::string_view s) override;
  void flush() override;

private:
  int descriptor;
  std::string buffer;
};

} // namespace tabula
