package io.penstock.examples.load;

import java.io.IOException;

/// Reads figures in the text form of Prometheus.
final class Metrics {
  private Metrics() {}

  /// Value of the first line of a meter, whatever its labels are.
  static double value(String text, String name) throws IOException {
    for (String line : text.split("\n", -1)) {
      if (line.startsWith(name + " ") || line.startsWith(name + "{")) {
        return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
      }
    }
    throw new IOException("meter " + name + " must be there (was not)");
  }
}
