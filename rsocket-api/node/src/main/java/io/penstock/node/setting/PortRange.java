package io.penstock.node.setting;

import java.util.stream.IntStream;

/// Ports of which a node takes the first that is free.
///
/// @param first 0 for any free port, which is then the only one of the range
/// @param last at least `first`
public record PortRange(int first, int last) {
  private static final int MOST = 65_535;

  public PortRange {
    if (first < 0 || last > MOST || last < first || (first == 0 && last > 0)) {
      throw new IllegalArgumentException("ports must be from 1 to 65535, the lower one first (was " + first + "-" + last
          + ")");
    }
  }

  public static PortRange parse(String text) {
    String ports = text.strip();
    int dash = ports.indexOf('-');
    int first = Integer.parseInt(dash < 0 ? ports : ports.substring(0, dash));
    return new PortRange(first, dash < 0 ? first : Integer.parseInt(ports.substring(dash + 1)));
  }

  /// Ports in the order in which they are tried.
  public IntStream ports() {
    return IntStream.rangeClosed(first, last);
  }

  public int count() {
    return last - first + 1;
  }

  /// Text that [#parse] reads.
  @Override
  public String toString() {
    return first == last ? String.valueOf(first) : first + "-" + last;
  }
}
