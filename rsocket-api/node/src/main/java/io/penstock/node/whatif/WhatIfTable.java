package io.penstock.node.whatif;

import io.penstock.node.report.LruCurve;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.text.Plural;
import io.penstock.node.text.TextTable;
import io.penstock.node.whatif.WhatIfReport.Change;
import io.penstock.node.whatif.WhatIfReport.OfTrace;
import io.penstock.node.whatif.WhatIfReport.Space;
import io.penstock.node.whatif.WhatIfReport.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The report of `penstock whatif` for people: hit rates, then what they save.
final class WhatIfTable {
  /// Fewer sampled keys than this leave a group of the interval with some 16 keys.
  private static final int FEW = 256;

  private final Space space;
  private final ModelSize size;
  private final @Nullable OfTrace trace;
  /// Whether there are several levels: then the hit rate up to a level differs from that of the whole tier.
  private final boolean hasLevels;

  WhatIfTable(Space space) {
    this.space = space;
    this.size = space.size();
    this.trace = space.trace();
    this.hasLevels = space.steps().stream().map(Step::level).distinct().count() > 1;
  }

  @Override
  public String toString() {
    TextTable rates = new TextTable(heads().toArray(String[]::new));
    space.steps().forEach(step -> rates.row(row(step)));
    TextTable savings = new TextTable("LEVEL", "STEP", "TOKENS REUSED", "PREFILL SAVED", "MORE");
    space.steps().forEach(step -> savings.row(saving(step)));
    return summary() + "\n\n" + rates + "\n" + savings;
  }

  private List<String> heads() {
    List<String> heads = new ArrayList<>(List.of("LEVEL", "STEP", "BLOCKS", "CAPACITY"));
    if (hasLevels) {
      heads.addAll(List.of("UP TO THE LEVEL", "GAIN"));
    }
    heads.addAll(List.of(hasLevels ? "ALL LEVELS" : "HIT RATE", "GAIN"));
    if (trace != null) {
      heads.add("EXACT");
    }
    return heads;
  }

  private String summary() {
    String sampled = "%s: %s%s. LRU, from %s (%s). ± is a 95 %% interval. PREFILL is at %s.".formatted(space.name(),
        Plural.of(space.references(), "reference"),
        trace == null ? "" : " to " + Plural.of(trace.workingSetBlocks(), "different block"),
        Plural.of(space.samples(), "sampled key"), share(space.rate()), size.rateText()) + few();
    return TextTable.wrapped(sampled, 0) + (trace == null ? "" : "\n" + TextTable.wrapped(facts(trace), 0));
  }

  /// A warning where the estimate is worth little.
  private String few() {
    return space.rate() == 1 || space.samples() >= FEW
        ? ""
        : " So few sampled keys tell little, and ± is too small: %s follows more.".formatted(
            trace == null ? "the setting whatif.samples" : "--samples");
  }

  private String facts(OfTrace of) {
    LruCurve.At knee = of.knee();
    return "Model: %s. Ceiling, without a bound: %s at %s.%s%s".formatted(size.words(), exact(of.ceilingHitRate()),
        size.words(of.workingSetBlocks()), knee == null ? "" : " Knee of LRU: " + knee.words(size) + ".",
        of.isAssumed()
            ? " No capacity was given, so a tenth of the different blocks is assumed; --dram states yours."
            : "");
  }

  /// Part of all keys that is sampled.
  static String share(double rate) {
    return rate == 1 ? "all" : String.format(Locale.ROOT, rate < 0.01 ? "%.2f %%" : "%.1f %%", 100 * rate);
  }

  private Object[] row(Step step) {
    List<Object> row = new ArrayList<>();
    boolean isUnbounded = step.capacityBlocks() == Long.MAX_VALUE;
    row.add(step.level());
    row.add(name(step));
    row.add(isUnbounded ? "unbounded" : (Object) step.capacityBlocks());
    row.add(isUnbounded ? "" : size.gib(step.capacityBlocks()));
    if (hasLevels) {
      row.add(rate(step, step.upToLevel()));
      row.add(gain(step, step.upToLevel()));
    }
    row.add(rate(step, step.tier()));
    row.add(gain(step, step.tier()));
    if (trace != null) {
      row.add(exact(step.exactHitRate()));
    }
    return row.toArray();
  }

  private Object[] saving(Step step) {
    double more = step.prefillSecondsSaved() - present(step.level());
    return new Object[] {step.level(), name(step), bound(step) + ModelSize.tokensText(step.tokensReused()),
      bound(step) + ModelSize.secondsText(step.prefillSecondsSaved()),
      step.addBlocks() == 0 ? "" : bound(step) + "+" + ModelSize.secondsText(Math.max(0, more))};
  }

  /// Seconds saved at the present capacity of `level`.
  private double present(String level) {
    return space.steps().stream().filter(step -> step.level().equals(level) && step.addBlocks() == 0).findFirst()
        .map(Step::prefillSecondsSaved).orElse(0.0);
  }

  /// The present capacity is called an assumption where it is one.
  private String name(Step step) {
    return step.addBlocks() > 0
        ? "+" + size.gib(step.addBlocks())
        : trace != null && trace.isAssumed() ? "assumed" : "now";
  }

  private static String rate(Step step, Change change) {
    return bound(step) + String.format(Locale.ROOT, "%.1f ± %.1f %%", 100 * change.hitRate(), 100 * change.plusMinus());
  }

  private static String gain(Step step, Change change) {
    return step.addBlocks() == 0
        ? ""
        : bound(step) + String.format(Locale.ROOT, "%+.1f ± %.1f points", 100 * change.gain(),
            100 * change.gainPlusMinus());
  }

  /// Beyond the curve, a hit rate may be higher.
  private static String bound(Step step) {
    return step.beyond() ? ">= " : "";
  }

  static String exact(@Nullable Double hitRate) {
    return hitRate == null ? "" : String.format(Locale.ROOT, "%.1f %%", 100 * hitRate);
  }
}
