#include "sim/search/reduce.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace handoff {
namespace {

// [begin, end) of part `i` of `parts` equal ones of `count`.
std::pair<std::size_t, std::size_t> part_of(std::size_t count, std::size_t parts, std::size_t i) {
  return {count * i / parts, count * (i + 1) / parts};
}

std::vector<std::size_t> without(const std::vector<std::size_t>& all, std::size_t begin,
                                 std::size_t end) {
  std::vector<std::size_t> rest(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(begin));
  rest.insert(rest.end(), all.begin() + static_cast<std::ptrdiff_t>(end), all.end());
  return rest;
}

// The next value above or at `value` with `digits` significant digits.
std::int64_t rounded_up(std::int64_t value, int digits) {
  std::int64_t unit = 1;
  std::int64_t limit = 1;
  for (int i = 0; i < digits; ++i) limit *= 10;
  while (value / unit >= limit) unit *= 10;
  return (value + unit - 1) / unit * unit;
}

}  // namespace

std::optional<std::size_t> first_passing(std::size_t count, unsigned jobs,
                                         const std::function<bool(std::size_t)>& test) {
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> best{count};
  std::mutex mutex;
  std::exception_ptr failure;
  std::size_t failed_at = count;
  const auto work = [&] {
    for (std::size_t i = next++; i < best.load(); i = next++) {
      try {
        if (!test(i)) continue;
        std::size_t seen = best.load();
        while (i < seen && !best.compare_exchange_weak(seen, i)) {
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < failed_at) {
          failed_at = i;
          failure = std::current_exception();
        }
        return;
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::min<std::size_t>(jobs, count); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  // One thread alone would have met the failure only before the first that passes.
  if (failure && failed_at < best.load()) std::rethrow_exception(failure);
  return best.load() < count ? std::optional(best.load()) : std::nullopt;
}

std::vector<std::size_t> ddmin(std::size_t count, unsigned jobs,
                               const std::function<bool(const std::vector<std::size_t>&)>& test,
                               const std::function<bool()>& go_on) {
  std::vector<std::size_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = i;
  std::size_t parts = 2;
  while (all.size() > 1 && go_on()) {
    parts = std::min(parts, all.size());
    const auto passing = first_passing(parts, jobs, [&](std::size_t i) {
      const auto [begin, end] = part_of(all.size(), parts, i);
      return test(without(all, begin, end));
    });
    if (passing) {
      const auto [begin, end] = part_of(all.size(), parts, *passing);
      all = without(all, begin, end);
      parts = std::max<std::size_t>(parts - 1, 2);
    } else if (parts == all.size()) {
      break;
    } else {
      parts = std::min(parts * 2, all.size());
    }
  }
  return all;
}

std::int64_t minimise(std::int64_t low, std::int64_t high,
                      const std::function<bool(std::int64_t)>& test) {
  if (low >= high || test(low)) return std::min(low, high);
  std::int64_t fails = low;
  std::int64_t passes = high;
  while (passes - fails > 1) {
    const std::int64_t middle = fails + (passes - fails) / 2;
    (test(middle) ? passes : fails) = middle;
  }
  for (int digits = 1; digits <= 3; ++digits) {
    const std::int64_t round = rounded_up(passes, digits);
    if (round == passes) break;
    if (round <= high && (round - passes) * 4 <= passes && test(round)) return round;
  }
  return passes;
}

}  // namespace handoff
