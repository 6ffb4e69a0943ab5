package io.penstock.node.whatif;

import io.penstock.node.report.Escape;
import io.penstock.node.report.LruCurve;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.text.Numbers;
import io.penstock.node.text.Sizes;
import io.penstock.pool.curve.HitRateCurve;
import io.penstock.pool.curve.HitRateCurve.Point;
import io.penstock.pool.curve.WhatIf;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// The hit rate over the capacity as a picture in SVG: the estimate with its interval as a band, the exact curve if it
/// is known, and the present capacities. The capacity has a logarithmic axis.
final class WhatIfChart {
  private static final int WIDTH = 860;
  private static final int HEIGHT = 476;
  private static final int LEFT = 64;
  private static final int RIGHT = 24;
  private static final int TOP = 64;
  private static final int BOTTOM = 78;
  private static final int MOST_TICKS = 10;
  /// The axis begins at this part of the greatest capacity.
  private static final double SHOWN = 1.0 / 4_096;

  private final String title;
  private final WhatIf whatIf;
  private final ModelSize size;
  private final @Nullable HitRateCurve exact;
  private final @Nullable TraceWhatIf trace;
  private final String present;
  private final double first;
  private final double last;
  /// The hit rate at the upper end of its axis.
  private final double highest;
  private final StringBuilder svg = new StringBuilder();

  /// The estimate of a node.
  ///
  /// @param title subject of the curve
  /// @param size of its blocks
  WhatIfChart(String title, WhatIf whatIf, ModelSize size) {
    this(title, whatIf, size, null, false);
  }

  /// The estimate and the exact curve of a trace.
  ///
  /// @param title subject of the curve
  /// @param size of its blocks
  /// @param trace the exact curve; null if unknown
  /// @param isAssumed whether the levels of `whatIf` were assumed
  WhatIfChart(String title, WhatIf whatIf, ModelSize size, @Nullable TraceWhatIf trace, boolean isAssumed) {
    this.title = title;
    this.whatIf = whatIf;
    this.size = size;
    this.trace = trace;
    this.exact = trace == null ? null : trace.exact();
    this.present = isAssumed ? "assumed" : "now";
    long most = 16;
    for (Point point : whatIf.curve().points()) {
      most = Math.max(most, point.capacityBlocks());
    }
    for (Mark mark : marks()) {
      most = Math.max(most, Math.round(mark.blocks * 1.25));
    }
    this.last = most;
    this.first = Math.max(1, most * SHOWN);
    double top = trace == null ? 0 : trace.totals().ceiling();
    for (Point point : whatIf.curve().points()) {
      top = Math.max(top, point.hitRate() + point.plusMinus());
    }
    this.highest = whatIf.curve().points().isEmpty() ? 1 : Math.clamp(Math.ceil(10 * top + 0.5) / 10, 0.1, 1);
  }

  /// A present capacity: a level and the faster ones together.
  private record Mark(String label, long blocks) {}

  private List<Mark> marks() {
    List<Mark> marks = new ArrayList<>();
    for (int i = 0; i < whatIf.levels().size(); i++) {
      WhatIf.Level level = whatIf.levels().get(i);
      long blocks = whatIf.blocksUpTo(i, level.capacityBlocks());
      if (blocks < whatIf.curve().depthBlocks()) {
        String name = i == 0 || whatIf.repeats() ? level.name() : "to " + level.name();
        marks.add(new Mark("%s, %s %s".formatted(name, size.words(blocks), present), blocks));
      }
    }
    return marks;
  }

  String svg() {
    svg.append(String.format(Locale.ROOT, """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" \
        font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="12" fill="#333">
        <title>%s</title>
        <rect width="%d" height="%d" fill="#fff"/>
        """, WIDTH, HEIGHT, WIDTH, HEIGHT, Escape.html(heading()), WIDTH, HEIGHT));
    text(LEFT, 22, "start", "font-size=\"15\" font-weight=\"600\"", heading());
    text(LEFT, 40, "start", "fill=\"#666\"", subtitle());
    hitRateAxis();
    capacityAxis();
    if (whatIf.curve().points().isEmpty()) {
      text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT / 2.0, "middle", "font-size=\"14\" fill=\"#666\"",
          whatIf.curve().samples() == 0 && whatIf.curve().rate() == 0 ? "the estimate is off" : "no references yet");
    } else {
      band();
      line(whatIf.curve(), "#1f5fa8", 2, "");
      if (exact != null) {
        line(exact, "#c2571a", 1.2, "stroke-dasharray=\"5 3\"");
        legend();
      }
      if (trace != null) {
        ceiling(trace.totals().ceiling());
        trace.knee().ifPresent(this::knee);
      }
    }
    marks().forEach(this::mark);
    return svg.append("</svg>\n").toString();
  }

  private String heading() {
    return "Hit rate by capacity: " + title;
  }

  private String subtitle() {
    HitRateCurve curve = whatIf.curve();
    return "%s. LRU, %s references, %s sampled keys (%s); band: 95 %% interval".formatted(size.model(),
        Numbers.of(curve.references()), Numbers.of(curve.samples()), WhatIfTable.share(curve.rate()));
  }

  // Axes

  private double x(double blocks) {
    double part = Math.log(Math.max(first, blocks) / first) / Math.log(last / first);
    return LEFT + part * (WIDTH - LEFT - RIGHT);
  }

  private double y(double hitRate) {
    return HEIGHT - BOTTOM - Math.clamp(hitRate, 0, highest) / highest * (HEIGHT - TOP - BOTTOM);
  }

  private void hitRateAxis() {
    int step = highest > 0.5 ? 20 : highest > 0.2 ? 10 : 5;
    for (int percent = 0; percent <= Math.round(100 * highest); percent += step) {
      double y = y(percent / 100.0);
      stroke(LEFT, y, WIDTH - RIGHT, y, percent == 0 ? "#888" : "#e3e3e3", "");
      text(LEFT - 8, y + 4, "end", "", percent + " %");
    }
    text(LEFT - 8, TOP - 12, "end", "fill=\"#666\"", "hit rate");
  }

  private void capacityAxis() {
    double octaves = Math.log(last / first) / Math.log(2);
    double step = Math.pow(2, Math.max(1, Math.ceil(octaves / MOST_TICKS)));
    double tick = 1.0 / size.blockBytes();
    while (tick < first * (1 - 1e-9)) {
      tick *= step;
    }
    for (; tick <= last * (1 + 1e-9); tick *= step) {
      double x = x(tick);
      stroke(x, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 5, "#888", "");
      text(x, HEIGHT - BOTTOM + 19, "middle", "", Sizes.exact(Math.round(tick * size.blockBytes())));
      text(x, HEIGHT - BOTTOM + 34, "middle", "fill=\"#666\"", Numbers.of(Math.round(tick)));
    }
    text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 10, "middle", "fill=\"#666\"", "capacity, and blocks of "
        + Sizes.exact(size.blockBytes()));
  }

  // Curves

  private void band() {
    StringBuilder path = new StringBuilder("M");
    List<Point> points = shown(whatIf.curve());
    points.forEach(point -> add(path, point.capacityBlocks(), point.hitRate() + point.plusMinus()));
    points.reversed().forEach(point -> add(path, point.capacityBlocks(), point.hitRate() - point.plusMinus()));
    svg.append("<path d=\"").append(path).append("Z\" fill=\"#1f5fa8\" fill-opacity=\"0.16\"/>\n");
  }

  private void line(HitRateCurve curve, String colour, double width, String style) {
    StringBuilder path = new StringBuilder("M");
    shown(curve).forEach(point -> add(path, point.capacityBlocks(), point.hitRate()));
    svg.append(String.format(Locale.ROOT, "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" %s/>\n", path,
        colour, width, style));
  }

  /// The points on the axis, with one at each of its ends.
  private List<Point> shown(HitRateCurve curve) {
    List<Point> shown = new ArrayList<>();
    shown.add(curve.at(Math.round(Math.ceil(first))));
    curve.points().stream().filter(point -> point.capacityBlocks() > first && point.capacityBlocks() < last)
        .forEach(shown::add);
    if (last <= curve.depthBlocks()) {
      shown.add(curve.at(Math.round(last)));
    }
    return shown;
  }

  private void add(StringBuilder path, long blocks, double hitRate) {
    path.append(String.format(Locale.ROOT, "%s%.1f %.1f", path.length() > 1 ? "L" : "", x(blocks), y(hitRate)));
  }

  private void mark(Mark mark) {
    double x = x(mark.blocks);
    int row = marks().indexOf(mark);
    stroke(x, TOP - 4, x, HEIGHT - BOTTOM, "#555", "stroke-dasharray=\"2 3\"");
    boolean isRight = x > (LEFT + WIDTH - RIGHT) / 2.0;
    text(isRight ? x - 6 : x + 6, TOP + 12 + 16 * row, isRight ? "end" : "start", "fill=\"#333\"",
        mark.label);
    if (!whatIf.curve().points().isEmpty()) {
      svg.append(String.format(Locale.ROOT, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"#1f5fa8\"/>\n", x,
          y(whatIf.curve().at(mark.blocks).hitRate())));
    }
  }

  private void ceiling(double hitRate) {
    stroke(LEFT, y(hitRate), WIDTH - RIGHT, y(hitRate), "#7a3b8f", "stroke-dasharray=\"8 4\"");
    text(WIDTH - RIGHT, y(hitRate) - 6, "end", "fill=\"#7a3b8f\"",
        String.format(Locale.ROOT, "ceiling, without a bound: %.1f %%", 100 * hitRate));
  }

  private void knee(LruCurve.At knee) {
    double x = x(knee.blocks());
    double y = y(knee.hitRate());
    boolean isRight = x > (LEFT + WIDTH - RIGHT) / 2.0;
    svg.append(
        String.format(Locale.ROOT, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" fill=\"none\" stroke=\"#c2571a\"/>\n",
            x, y));
    text(isRight ? x - 10 : x + 10, y + 18, isRight ? "end" : "start", "fill=\"#c2571a\"",
        "knee: " + size.words(knee.blocks()) + String.format(Locale.ROOT, ", %.1f %%", 100 * knee.hitRate()));
  }

  private void legend() {
    double y = TOP - 24;
    stroke(WIDTH - RIGHT - 196, y - 4, WIDTH - RIGHT - 172, y - 4, "#1f5fa8", "stroke-width=\"2\"");
    text(WIDTH - RIGHT - 166, y, "start", "", "sampled");
    stroke(WIDTH - RIGHT - 96, y - 4, WIDTH - RIGHT - 72, y - 4, "#c2571a", "stroke-dasharray=\"5 3\"");
    text(WIDTH - RIGHT - 66, y, "start", "", "exact");
  }

  // Marks of the picture

  private void stroke(double x1, double y1, double x2, double y2, String colour, String style) {
    svg.append(String.format(Locale.ROOT, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" %s/>\n",
        x1, y1, x2, y2, colour, style));
  }

  private void text(double x, double y, String anchor, String style, String text) {
    svg.append(String.format(Locale.ROOT, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" %s>%s</text>\n", x, y, anchor,
        style, Escape.html(text)));
  }
}
