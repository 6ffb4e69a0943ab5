package io.penstock.lab.simulate;

import picocli.CommandLine.ITypeConverter;

/// Seeds from `first` to `last`, both included; written `1..500`, or `7` for one.
record SeedRange(long first, long last) {
  SeedRange {
    if (last < first) {
      throw new IllegalArgumentException("seeds must be A..B with A <= B (was " + first + ".." + last + ")");
    }
  }

  long count() {
    return last - first + 1;
  }

  static SeedRange parse(String text) {
    int dots = text.indexOf("..");
    try {
      long first = Long.parseLong(dots < 0 ? text : text.substring(0, dots));
      return new SeedRange(first, dots < 0 ? first : Long.parseLong(text.substring(dots + 2)));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("seeds must be a number or a range such as 1..500 (was " + text + ")", e);
    }
  }

  /// Converter for the command line.
  static final class Converter implements ITypeConverter<SeedRange> {
    @Override
    public SeedRange convert(String text) {
      return parse(text);
    }
  }
}
