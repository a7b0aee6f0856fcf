// Kinds of values: how one is read, written and described. Each kind is a small struct of bounds
// with
//   template <class T> void    read(ReadContext&, const Node&, T& out) const    errors leave `out`
//   alone template <class T> NodePtr write(const Surroundings&, T& value) const       reads back to
//   the same template <class T> NodePtr schema(Definitions&) const
// The templates only convert; the work is in kinds.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>

#include "scenarios/loader/scalars.hpp"
#include "scenarios/loader/visitors.hpp"
#include "sim/engine/check.hpp"

namespace handoff::loader {

// A word that stands for a special value: `for: none`, `requests: all`.
struct Word {
  const char* text = nullptr;
  std::int64_t value = 0;
};

// The text of a scalar that needs no quotes; an error and nullptr for anything else. `what` follows
// "expected".
const std::string* bare_text(ReadContext& context, const Node& node, const char* what);
// Quoted or not.
const std::string* any_text(ReadContext& context, const Node& node, const char* what);
bool is_mapping(ReadContext& context, const Node& node);
bool is_sequence(ReadContext& context, const Node& node);

// The bounded integer behind all integral kinds.
struct Range {
  std::int64_t low = 0;
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
};
std::optional<std::int64_t> in_range(ReadContext& context, const Node& node,
                                     const Parsed<std::int64_t>& parsed, Range range,
                                     std::string (*format)(std::int64_t));
std::string format_integer(std::int64_t value);
NodePtr type_schema(const char* type);
NodePtr pattern_schema(const std::string& pattern, const Word& word);

struct Integer {
  std::int64_t low = 0;
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  Word word{};

  template <class T>
  void read(ReadContext& context, const Node& node, T& out) const {
    if (const auto value = read_value(context, node, std::numeric_limits<T>::max()))
      out = static_cast<T>(*value);
  }
  template <class T>
  NodePtr write(const Surroundings&, T& value) const {
    if (word.text != nullptr && std::cmp_equal(value, word.value)) return plain(word.text);
    return plain(std::to_string(value));
  }
  template <class T>
  NodePtr schema(Definitions&) const {
    return schema_of();
  }

 private:
  std::optional<std::int64_t> read_value(ReadContext& context, const Node& node,
                                         std::uint64_t type_max) const;
  NodePtr schema_of() const;
};

// Seeds, hashes and running numbers: all 64 bits.
struct Unsigned64 {
  void read(ReadContext& context, const Node& node, std::uint64_t& out) const;
  NodePtr write(const Surroundings&, std::uint64_t& value) const {
    return plain(std::to_string(value));
  }
  template <class T>
  NodePtr schema(Definitions&) const {
    return mapping({entry("type", sequence({quoted("integer"), quoted("string")})),
                    entry("pattern", quoted("^[0-9]+(_[0-9]+)*$")), entry("minimum", plain("0"))});
  }
};

// A span of time; with `calendar` also an instant, as a time since the scenario's start.
struct Duration {
  TimeNs low = 0;
  bool none = false;  // the word "none" is kNever
  bool calendar = false;
  TimeNs high = kTimeMax;

  void read(ReadContext& context, const Node& node, TimeNs& out) const;
  NodePtr write(const Surroundings& around, TimeNs& value) const;
  template <class T>
  NodePtr schema(Definitions& definitions) const {
    return schema_of(definitions);
  }

 private:
  NodePtr schema_of(Definitions& definitions) const;
};
inline constexpr Duration kInstant{.calendar = true};

struct Calendar {
  void read(ReadContext& context, const Node& node, std::optional<std::int64_t>& out) const;
  NodePtr write(const Surroundings&, std::optional<std::int64_t>& value) const;
  template <class T>
  NodePtr schema(Definitions&) const {
    return pattern_schema("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\\.[0-9]{1,9})?Z", {});
  }
};

// Numbers with a unit that the parser knows, in a range.
struct Quantity {
  Parsed<std::int64_t> (*parse)(std::string_view);
  std::string (*format)(std::int64_t);
  const char* pattern;
  std::int64_t low = 0;
  Word word{};
  bool bare = false;  // a plain integer in the base unit will do: catalog keys carry the unit in
                      // their names

  void read(ReadContext& context, const Node& node, std::int64_t& out) const;
  NodePtr write(const Surroundings&, std::int64_t& value) const;
  template <class T>
  NodePtr schema(Definitions&) const {
    return schema_of();
  }

 private:
  NodePtr schema_of() const;
};
inline constexpr const char* kSizePattern = "[0-9][0-9_]*(\\.[0-9]+)? ?([KMGT]i?|k)?B";
inline constexpr const char* kRatePattern =
    "[0-9][0-9_]*(\\.[0-9]+)? ?(([KMGT]i?|k)?B|[kMGT]b(it)?)/s";
constexpr Quantity byte_rate(std::int64_t low, Word word) {
  return {parse_byte_rate, format_byte_rate, kRatePattern, low, word, false};
}
inline constexpr Quantity kCatalogBytes{parse_bytes, format_bytes, kSizePattern, 1, {}, true};
inline constexpr Quantity kCatalogByteRate{
    parse_byte_rate, format_byte_rate, kRatePattern, 1, {}, true};

// A percentage, held in parts of `scale`.
struct Share {
  std::int64_t scale = 1000;
  std::int64_t low = 0;
  std::int64_t high = 1000;
  Word word{};

  void read(ReadContext& context, const Node& node, std::int64_t& out) const;
  NodePtr write(const Surroundings&, std::int64_t& value) const;
  template <class T>
  NodePtr schema(Definitions&) const {
    return pattern_schema("[0-9]+(\\.[0-9]+)? ?%", word);
  }
};

// A decimal number held in parts of `scale`.
struct Factor {
  std::int64_t scale = 1000;
  std::int64_t low = 1;
  std::int64_t high = 1'000'000;

  void read(ReadContext& context, const Node& node, std::int64_t& out) const;
  NodePtr write(const Surroundings&, std::int64_t& value) const {
    return plain(format_scaled(value, scale));
  }
  template <class T>
  NodePtr schema(Definitions&) const {
    return mapping({entry("type", quoted("number")), entry("exclusiveMinimum", plain("0"))});
  }
};

struct Number {
  double low = 0;
  double high = 1e15;

  void read(ReadContext& context, const Node& node, double& out) const;
  NodePtr write(const Surroundings&, double& value) const { return plain(format_number(value)); }
  template <class T>
  NodePtr schema(Definitions&) const {
    return mapping({entry("type", quoted("number")), entry("minimum", plain(format_number(low))),
                    entry("maximum", plain(format_number(high)))});
  }
};

struct EventRate {
  void read(ReadContext& context, const Node& node, double& out) const;
  NodePtr write(const Surroundings&, double& value) const {
    return plain(format_number(value) + "/s");
  }
  template <class T>
  NodePtr schema(Definitions&) const {
    return pattern_schema("[0-9][0-9_]*(\\.[0-9]+)?/(s|min|h|d)", {});
  }
};

struct Boolean {
  void read(ReadContext& context, const Node& node, bool& out) const;
  NodePtr write(const Surroundings&, bool& value) const { return plain(value ? "true" : "false"); }
  template <class T>
  NodePtr schema(Definitions&) const {
    return type_schema("boolean");
  }
};

struct Text {
  void read(ReadContext& context, const Node& node, std::string& out) const;
  NodePtr write(const Surroundings&, std::string& value) const { return quoted(value); }
  template <class T>
  NodePtr schema(Definitions&) const {
    // A plain number or word is a text as well.
    return mapping(
        {entry("type", sequence({quoted("string"), quoted("number"), quoted("boolean")})),
         entry("minLength", plain("1"))});
  }
};

// A path, relative to the scenario's folder; one of the command line stays relative to the current
// directory.
struct FilePath {
  void read(ReadContext& context, const Node& node, std::string& out) const;
  NodePtr write(const Surroundings& around, std::string& value) const;
  template <class T>
  NodePtr schema(Definitions&) const {
    return type_schema("string");
  }
};

// Names of the values of an enumeration: specialised beside the tables, with
//   static constexpr std::array<std::pair<const char*, E>, N> kNames;
template <class E>
struct EnumNames;

std::optional<std::size_t> read_choice(ReadContext& context, const Node& node,
                                       const std::vector<std::string>& names);
NodePtr choice_schema(const std::vector<std::string>& names);

struct Enumeration {
  template <class E>
  void read(ReadContext& context, const Node& node, E& out) const {
    if (const auto index = read_choice(context, node, names<E>()))
      out = EnumNames<E>::kNames[*index].second;
  }
  template <class E>
  NodePtr write(const Surroundings&, E& value) const {
    for (const auto& [name, known] : EnumNames<E>::kNames)
      if (known == value) return plain(name);
    HANDOFF_CHECK(false, "an enumeration value without a name");
  }
  template <class E>
  NodePtr schema(Definitions&) const {
    return choice_schema(names<E>());
  }
  template <class E>
  static std::vector<std::string> names() {
    std::vector<std::string> list;
    for (const auto& [name, value] : EnumNames<E>::kNames) list.emplace_back(name);
    return list;
  }
};

// A name for T's schema, where it deserves one.
template <class T>
inline constexpr const char* kDefinition = nullptr;

// A mapping with a table.
struct Object {
  template <class T>
  void read(ReadContext& context, const Node& node, T& out) const {
    if (!is_mapping(context, node)) return;
    Reader reader(context, node);
    describe(reader, out);
    reader.finish();
  }
  template <class T>
  NodePtr write(const Surroundings& around, T& value) const {
    Writer writer(around);
    describe(writer, value);
    if (around.lean) writer.drop_defaults(*fresh<T>(around));
    return writer.take();
  }
  template <class T>
  NodePtr schema(Definitions& definitions) const {
    if constexpr (kDefinition<T> != nullptr)
      return definitions.reference(kDefinition<T>, [&] { return schema_here<T>(definitions); });
    else
      return schema_here<T>(definitions);
  }

 private:
  // `use` with a new T, or a view of a new owner.
  template <class T, class F>
  static void with_new(F&& use) {
    if constexpr (requires { typename T::Owner; }) {
      typename T::Owner owner{};
      T view{owner};
      use(view);
    } else {
      T value{};
      use(value);
    }
  }
  template <class T>
  static NodePtr schema_here(Definitions& definitions) {
    SchemaObject schema(definitions);
    with_new<T>([&](T& value) { describe(schema, value); });
    return schema.take();
  }
  // What the table writes of a new T.
  template <class T>
  static NodePtr fresh(const Surroundings& around) {
    Writer writer(around);
    with_new<T>([&](T& value) { describe(writer, value); });
    return writer.take();
  }
};

// A member behind a shared pointer to const.
struct Pointed {
  template <class T>
  void read(ReadContext& context, const Node& node, std::shared_ptr<const T>& out) const {
    auto value = std::make_shared<T>();
    Object{}.read(context, node, *value);
    out = std::move(value);
  }
  template <class T>
  NodePtr write(const Surroundings& around, std::shared_ptr<const T>& value) const {
    if (value == nullptr) return mapping({});
    T copy = *value;
    return Object{}.write(around, copy);
  }
  template <class P>
  NodePtr schema(Definitions& definitions) const {
    return Object{}.schema<std::remove_const_t<typename P::element_type>>(definitions);
  }
};

// A member that may be unset; left out when it is.
template <class K>
struct Maybe {
  K of{};
  template <class T>
  void read(ReadContext& context, const Node& node, std::optional<T>& out) const {
    T value{};
    of.read(context, node, value);
    out = std::move(value);
  }
  template <class T>
  NodePtr write(const Surroundings& around, std::optional<T>& value) const {
    return of.write(around, *value);
  }
  template <class O>
  NodePtr schema(Definitions& definitions) const {
    return of.template schema<typename O::value_type>(definitions);
  }
};

bool length_fits(ReadContext& context, const Node& node, std::size_t low);

template <class K>
struct List {
  K of{};
  std::size_t low = 0;  // items at least

  template <class T>
  void read(ReadContext& context, const Node& node, std::vector<T>& out) const {
    if (!is_sequence(context, node) || !length_fits(context, node, low)) return;
    out.clear();
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      context.path.push_back("[" + std::to_string(i) + "]");
      T item{};
      of.read(context, *node.items[i], item);
      out.push_back(std::move(item));
      context.path.pop_back();
    }
  }
  template <class T>
  NodePtr write(const Surroundings& around, std::vector<T>& values) const {
    std::vector<NodePtr> items;
    for (T& value : values) items.push_back(of.write(around, value));
    return sequence(std::move(items));
  }
  template <class C>
  NodePtr schema(Definitions& definitions) const {
    return mapping({entry("type", quoted("array")), entry("minItems", plain(std::to_string(low))),
                    entry("items", of.template schema<typename C::value_type>(definitions))});
  }
};

}  // namespace handoff::loader
