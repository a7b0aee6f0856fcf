// Strong 32-bit identifiers: dense indices that do not mix. A default-made id names nothing.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace handoff {

template <class Tag>
struct Id {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t v) : value(v) {}
  [[nodiscard]] constexpr bool valid() const { return value != kNone; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace handoff
