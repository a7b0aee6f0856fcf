#include "models/oracle/finding.hpp"

namespace handoff {

const char* code(Rule rule) {
  switch (rule) {
    case Rule::provenance:
      return "I1";
    case Rule::coverage:
      return "I2";
    case Rule::late_write:
      return "I3";
    case Rule::free_in_flight:
      return "I4";
    case Rule::balance:
      return "I5";
    case Rule::termination:
      return "I6";
    case Rule::first_cause:
      return "I7";
    case Rule::rank_agreement:
      return "I8";
    case Rule::transition:
      return "T1";
  }
  return "?";
}

const char* title(Rule rule) {
  switch (rule) {
    case Rule::provenance:
      return "read of content that is not the reader's";
    case Rule::coverage:
      return "commit without full coverage";
    case Rule::late_write:
      return "write after the page changed owner";
    case Rule::free_in_flight:
      return "free with an operation in flight";
    case Rule::balance:
      return "page or slot not freed exactly once";
    case Rule::termination:
      return "no terminal state within the bound";
    case Rule::first_cause:
      return "success reported for a failed request";
    case Rule::rank_agreement:
      return "ranks decided differently";
    case Rule::transition:
      return "transition that no protocol table lists";
  }
  return "?";
}

}  // namespace handoff
