#include <gtest/gtest.h>
#include "scenarios/scenario.hpp"
using namespace handoff;
TEST(X, Try) {
  for (auto& e : catalog_list(HANDOFF_SOURCE_DIR "/models/catalog")) std::printf("%s %s: %s\n", e.kind.c_str(), e.name.c_str(), e.description.c_str());
}
