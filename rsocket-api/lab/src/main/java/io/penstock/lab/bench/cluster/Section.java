package io.penstock.lab.bench.cluster;

import java.util.List;

/// What one scenario found.
///
/// @param setting of the scenario, in words
record Section(String scenario, String setting, List<Figure> figures) {
  Section {
    figures = List.copyOf(figures);
  }

  boolean isMet() {
    return figures.stream().allMatch(Figure::isMet);
  }
}
