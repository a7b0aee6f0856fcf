// The `expect:` part: a mapping of metric names to bounds, nested where the names have dots.
#pragma once

#include "scenarios/loader/kinds.hpp"

namespace handoff::loader {

struct Expect {
  void read(ReadContext& context, const Node& node, Expectations& out) const;
  NodePtr write(const Surroundings& around, Expectations& value) const;
  template <class T>
  NodePtr schema(Definitions& definitions) const {
    return schema_of(definitions);
  }

 private:
  static NodePtr schema_of(Definitions& definitions);
};

}  // namespace handoff::loader
