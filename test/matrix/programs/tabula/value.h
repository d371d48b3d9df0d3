// Values and their types.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tabula {

class Type;

struct Value {
  Value();
  Value(const Type *type, long number);
  Value(const Type *type, std::string text);
  Value(const Value &);
  Value(Value &&) noexcept;
  Value &operator=(const Value &);
  Value &operator=(Value &&) noexcept;
  ~Value();

  bool isNull() const { return !type; }
  bool isTrue() const;

  const Type *type = nullptr;
  long number = 0;
  std::string text;
};

using Row = std::vector<Value>;

/// What values of a column are. Types are virtual bases, so that they have constructors for complete
/// objects and others for bases.
class Type {
public:
  Type();
  virtual ~Type();
  virtual const char *name() const = 0;
  virtual Value parse(std::string_view s) const = 0;
  virtual std::string show(const Value &v) const = 0;
  virtual int compare(const Value &a, const Value &b) const = 0;
  virtual bool isRightAligned() const;
};

class Ordered : public virtual Type {
public:
  Ordered();
  ~Ordered() override;
  int compare(const Value &a, const Value &b) const override;
};

class Shown : public virtual Type {
public:
  explicit Shown(char quote);
  ~Shown() override;
  std::string show(const Value &v) const override;

protected:
  char quote;
};

const Type &integerType();
const Type &textType();
const Type &boolType();
const Type &dateType();
const Type *typeNamed(std::string_view name);

int compare(const Value &a, const Value &b);
std::string show(const Value &v);

} // namespace tabula
