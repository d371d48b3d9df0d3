// What can go wrong: a hierarchy of exceptions, thrown in one file and caught in another.
#pragma once
#include <exception>
#include <string>
#include <string_view>

namespace tabula {

class Error : public std::exception {
public:
  explicit Error(std::string_view what);
  Error(const Error &other);
  ~Error() override;
  const char *what() const noexcept override;
  virtual const char *kind() const;

protected:
  std::string text;
};

class SyntaxError : public Error {
public:
  SyntaxError(std::string_view what, unsigned position);
  ~SyntaxError() override;
  const char *kind() const override;

private:
  unsigned position;
};

class NameError : public Error {
public:
  explicit NameError(std::string_view name);
  ~NameError() override;
  const char *kind() const override;
};

class TypeError : public Error {
public:
  TypeError(std::string_view wanted, std::string_view found);
  ~TypeError() override;
  const char *kind() const override;
};

[[noreturn]] void failSyntax(std::string_view what, unsigned position);
[[noreturn]] void failName(std::string_view name);
[[noreturn]] void failType(std::string_view wanted, std::string_view found);

} // namespace tabula
