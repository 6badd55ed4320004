/**
 * Names as compilers mangle them, back to what the programmer wrote.
 *
 * {@snippet :
 * Demangler.demangle("_ZNSt6vectorIiSaIiEE9push_backERKi");
 * // std::vector<int, std::allocator<int> >::push_back(int const&)
 * }
 */
package sonde.symbol.demangle;
