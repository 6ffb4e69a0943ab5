package io.penstock.node.replay.report;

import io.penstock.node.report.ReportPage;
import io.penstock.node.report.Summary;
import io.penstock.node.report.Summary.Group;
import io.penstock.node.report.Summary.Row;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.text.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// A [ReplayReport] and its run, as a page for a browser.
final class ReplayPage {
  /// The data of the page.
  ///
  /// @param report the content of the JSON of the replay
  record Data(ReplayReport report, RunSeries series) {}

  private ReplayPage() {}

  /// @param circumstances other facts about the run: its command line, its machine
  static String of(ReplayReport report, RunSeries series, List<Row> circumstances) {
    Summary summary = new Summary("Replay of " + report.trace(), verdict(report), report.isClean(), tiles(report),
        groups(report, circumstances), List.of(ReportRows.latencies(report)));
    return ReportPage.of(summary, Json.of(new Data(report, series)), "penstock " + report.penstock());
  }

  private static List<Group> groups(ReplayReport report, List<Row> circumstances) {
    List<Group> groups = new ArrayList<>(ReportRows.of(report));
    List<Row> setting = new ArrayList<>(groups.getFirst().rows());
    setting.addAll(circumstances);
    groups.set(0, new Group(groups.getFirst().name(), setting));
    return groups;
  }

  private static List<Row> tiles(ReplayReport r) {
    return List.of(tile("Requests", "%,d", r.requests()),
        tile("Hits of block references", "%.2f %%", 100 * r.hitRate()),
        tile("Ceiling, without a bound", "%.2f %%", 100 * r.reuse().ceiling().hitRate()),
        tile("Tokens reused", "%s", ModelSize.tokensText(r.reuse().tokensReused())),
        tile("Prefill saved", "%s", ModelSize.secondsText(r.reuse().prefillSecondsSaved())),
        tile("Delivered and verified", "%.3f GB/s", r.gigabytesPerSecond()),
        tile("Steady rate", "%.3f GB/s", r.steadyGigabytesPerSecond()),
        tile("First layer of a request, median", "%.3f ms", r.firstLayerMillis().p50()),
        tile("Time left at the first layer", "%.1f %%", 100 * r.overlap()),
        tile("Largest share of the budget in flight", "%.1f %%",
            100.0 * r.peakInFlightBytes() / Math.max(1, r.budgetBytes())));
  }

  private static Row tile(String name, String form, Object value) {
    return new Row(name, String.format(Locale.ROOT, form, value));
  }

  private static String verdict(ReplayReport r) {
    if (r.isClean()) {
      return "Every byte came and was verified, nothing leaked, and the budget held."
          + (areThosePolicyHits(r) ? " The hits are exactly those of the policy." : "");
    }
    List<String> faults = new ArrayList<>();
    note(faults, r.corruptBlocks() > 0, "%,d blocks were corrupt", r.corruptBlocks());
    note(faults, r.bytesVerified() != r.bytesDelivered(), "%,d bytes were not verified",
        r.bytesDelivered() - r.bytesVerified());
    note(faults, !r.hasGroups() && r.bytesDelivered() != r.blockRefs() * r.blockBytes(), "%,d bytes were not delivered",
        r.blockRefs() * r.blockBytes() - r.bytesDelivered());
    note(faults, r.leakedBlocks() > 0, "%,d blocks leaked", r.leakedBlocks());
    note(faults, r.peakInFlightBytes() > r.budgetBytes(), "the budget was passed by %,d bytes",
        r.peakInFlightBytes() - r.budgetBytes());
    r.troubles().forEach((level, trouble) -> faults.add("level %s was %s".formatted(level, trouble)));
    PolicyHits alone = r.policyAlone();
    if (alone != null && !r.hasHitsOfPolicy()) {
      faults
          .add(String.format(Locale.ROOT, "the hits are not those of %s, which has %,d", alone.policy(), alone.hits()));
    }
    return "Something went wrong: " + String.join("; ", faults) + ".";
  }

  /// Whether the hits were compared with those of the policy alone, and are equal.
  private static boolean areThosePolicyHits(ReplayReport r) {
    PolicyHits alone = r.policyAlone();
    return alone != null && alone.hits() == r.hits();
  }

  private static void note(List<String> faults, boolean isFault, String form, long count) {
    if (isFault) {
      faults.add(String.format(Locale.ROOT, form, count));
    }
  }
}
