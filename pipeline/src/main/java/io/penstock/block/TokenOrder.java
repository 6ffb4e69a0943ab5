package io.penstock.block;

/// Order of the axes inside one plane, named as vLLM names it.
public enum TokenOrder {
  /// `[tokens][heads][width]`.
  NHD,
  /// `[heads][tokens][width]`; can be split by head.
  HND
}
