package io.penstock.node.play;

import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Recorded tiers and changed tiers under the same calls.
///
/// @param change such as `policy=arc,dram=200 blocks`
/// @param recorded what happened; null if the recording does not play to the end without a difference
/// @param before the calls on the tiers as they were, in virtual time: how near the model is to what happened
/// @param after the calls on the changed tiers
/// @param unknown what this comparison cannot know
record ChangeReport(String recording, String change, @Nullable TierFigures recorded, TierFigures before,
    TierFigures after, List<String> unknown) {
  String text() {
    Set<String> levels = new LinkedHashSet<>(before.hits().keySet());
    levels.addAll(after.hits().keySet());
    TextTable table = new TextTable("", "RECORDED", "BEFORE", "AFTER", "DIFFERENCE");
    row(table, "hits", TierFigures::allHits);
    levels.forEach(level -> row(table, "  " + level, figures -> figures.hits().getOrDefault(level, 0L)));
    row(table, "misses", TierFigures::misses);
    row(table, "evicted", TierFigures::evicted);
    row(table, "moved", TierFigures::moved);
    table.row("read from disk", text(figures -> Sizes.human(figures.diskBytes())), Sizes.human(before.diskBytes()),
        Sizes.human(after.diskBytes()), share(after.diskBytes(), before.diskBytes()));
    table.row("slowest answer", text(figures -> PlayText.millis(figures.slowestNanos())),
        PlayText.millis(before.slowestNanos()), PlayText.millis(after.slowestNanos()),
        share(after.slowestNanos(), before.slowestNanos()));
    row(table, "unanswered", TierFigures::unanswered);
    row(table, "refused calls", TierFigures::refused);
    StringBuilder text = new StringBuilder("recording %s with %s%n".formatted(recording, change)).append(table)
        .append("RECORDED is what happened, BEFORE and AFTER are the recorded calls without and with the change, in")
        .append(" virtual\ntime: where BEFORE is far from RECORDED, AFTER is no better.\n");
    if (recorded == null) {
      text.append("The recording does not play to its end without a difference, so RECORDED is not known.\n");
    }
    unknown.forEach(line -> text.append("- ").append(line).append('\n'));
    return text.toString().stripTrailing();
  }

  private void row(TextTable table, String name, Function<TierFigures, Long> figure) {
    long was = figure.apply(before);
    long is = figure.apply(after);
    table.row(name, text(figures -> "%,d".formatted(figure.apply(figures))), was, is, "%+,d".formatted(is - was));
  }

  private String text(Function<TierFigures, String> figure) {
    TierFigures known = recorded;
    return known == null ? "?" : figure.apply(known);
  }

  private static String share(long is, long was) {
    return was == 0 ? (is == 0 ? "0 %" : "new") : "%+.0f %%".formatted(100.0 * (is - was) / was);
  }
}
