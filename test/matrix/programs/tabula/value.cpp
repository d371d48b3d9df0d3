// Values and their types: virtual bases, and singletons in functions.
#include "value.h"
#include "errors.h"
#include "text.h"

namespace tabula {

Value::Value() = default;
Value::Value(const Type *t, long n) : type(t), number(n) {}
Value::Value(const Type *t, std::string s) : type(t), text(std::move(s)) {}
Value::Value(const Value &) = default;
Value::Value(Value &&) noexcept = default;
Value &Value::operator=(const Value &) = default;
Value &Value::operator=(Value &&) noexcept = default;
Value::~Value() = default;
bool Value::isTrue() const { return type && (number || !text.empty()); }

Type::Type() = default;
Type::~Type() = default;
bool Type::isRightAligned() const { return false; }

Ordered::Ordered() = default;
Ordered::~Ordered() = default;
int Ordered::compare(const Value &a, const Value &b) const {
  return a.number < b.number ? -1 : a.number > b.number;
}

Shown::Shown(char q) : quote(q) {}
Shown::~Shown() { quote = 0; }
std::string Shown::show(const Value &v) const {
  return quote ? quote + v.text + quote : v.text;
}

namespace {

class IntegerType : public Ordered {
public:
  const char *name() const override { return "integer"; }
  Value parse(std::string_view s) const override {
    long n;
    if (!parseNumber(trim(s), n))
      failType("integer", s);
    return Value(this, n);
  }
  std::string show(const Value &v) const override { return tabula::number(v.number); }
  bool isRightAligned() const override { return true; }
};

class BoolType : public Ordered {
public:
  const char *name() const override { return "bool"; }
  Value parse(std::string_view s) const override {
    std::string word = lower(trim(s));
    if (word != "true" && word != "false")
      failType("bool", s);
    return Value(this, long{word == "true"});
  }
  std::string show(const Value &v) const override { return v.number ? "true" : "false"; }
};

class TextType : public Shown {
public:
  explicit TextType(char quote) : Shown(quote) {}
  const char *name() const override { return "text"; }
  Value parse(std::string_view s) const override { return Value(this, std::string(trim(s))); }
  int compare(const Value &a, const Value &b) const override { return a.text.compare(b.text); }
};

/// Days of months that all have 31.
class DateType final : public Ordered, public Shown {
public:
  DateType() : Shown(0) {}
  const char *name() const override { return "date"; }
  Value parse(std::string_view s) const override {
    auto parts = split(trim(s), '-');
    long year, month, day;
    if (parts.size() != 3 || !parseNumber(parts[0], year) || !parseNumber(parts[1], month) ||
        !parseNumber(parts[2], day))
      failType("date", s);
    return Value(this, (year * 12 + month - 1) * 31 + day - 1);
  }
  std::string show(const Value &v) const override {
    long months = v.number / 31;
    return twoDigits(months / 12) + "-" + twoDigits(1 + months % 12) + "-" +
           twoDigits(1 + v.number % 31);
  }

private:
  static std::string twoDigits(long n) { return n < 10 ? "0" + tabula::number(n) : tabula::number(n); }
};

} // namespace

const Type &integerType() {
  static IntegerType type;
  return type;
}

const Type &textType() {
  static TextType type(0);
  return type;
}

const Type &boolType() {
  static BoolType type;
  return type;
}

const Type &dateType() {
  static DateType type;
  return type;
}

const Type *typeNamed(std::string_view name) {
  static const Type *const table[] = {&integerType(), &textType(), &boolType(), &dateType()};
  for (const Type *type : table)
    if (name == type->name())
      return type;
  return nullptr;
}

int compare(const Value &a, const Value &b) {
  if (a.isNull() || b.isNull())
    return b.isNull() - a.isNull();
  if (a.type != b.type)
    failType(a.type->name(), b.type->name());
  return a.type->compare(a, b);
}

std::string show(const Value &v) { return v.isNull() ? "-" : v.type->show(v); }

} // namespace tabula
