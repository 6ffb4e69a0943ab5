package io.penstock.lab.bench.cluster;

import io.penstock.lab.bench.side.Bench;
import io.penstock.node.text.TextTable;
import java.util.List;

/// What the scenarios found, in the order in which they ran.
record ClusterBenchReport(String penstock, List<Section> sections) implements Bench.Report {
  ClusterBenchReport {
    sections = List.copyOf(sections);
  }

  @Override
  public String table() {
    TextTable table = new TextTable("SCENARIO", "WHAT", "FOUND", "TARGET", "");
    StringBuilder settings = new StringBuilder(System.lineSeparator());
    for (Section section : sections) {
      for (Figure figure : section.figures()) {
        table.row(section.scenario(), figure.what(), figure.found(), figure.target(), figure.isMet() ? "" : "MISSED");
      }
      settings.append(section.scenario()).append(": ").append(section.setting()).append(System.lineSeparator());
    }
    return table.toString() + settings;
  }

  @Override
  public boolean meetsTargets() {
    return sections.stream().allMatch(Section::isMet);
  }
}
