// log and exp from the four basic operations and sqrt alone, which IEEE 754 rounds the same way on
// every machine. The C library's own versions differ in the last bit between releases; a drawn
// arrival time must not.
#pragma once

namespace handoff {

// Natural logarithm of x > 0, normal numbers only; relative error below 1e-14.
double exact_log(double x);
// e^x for |x| <= 700; relative error below 1e-13.
double exact_exp(double x);

}  // namespace handoff
