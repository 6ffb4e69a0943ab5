package io.penstock.node.plan;

import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.node.report.Escape;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// A plan as a picture (SVG): prefill ranks at the left, decode ranks at the right, and an arrow from each source to
/// each of its readers, the thicker the more bytes. Ranks that are never pulled are dashed.
final class PlanPicture {
  private static final int ROW = 34;
  private static final int TOP = 70;
  private static final int WIDTH = 760;
  private static final int BOX = 150;

  private PlanPicture() {}

  private record Pair(Rank source, Rank reader) {}

  static String of(TransferPlan plan) {
    Parallelism prefill = plan.prefill().parallelism();
    Parallelism decode = plan.decode().parallelism();
    int rows = Math.max(prefill.ranks(), decode.ranks());
    int height = TOP + rows * ROW + 20;
    StringBuilder svg = new StringBuilder("""
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12" role="img">
        <style>rect{fill:#eef3fa;stroke:#3b6ea5}.idle{fill:#fff;stroke:#999;stroke-dasharray:4 3}.idle+text{fill:#777}
        line{stroke:#3b6ea5;stroke-opacity:.65;marker-end:url(#head)}</style>
        <defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="9" markerHeight="9" \
        markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="#3b6ea5"/></marker></defs>
        <rect width="%d" height="%d" style="fill:#fff;stroke:none"/>
        """.formatted(WIDTH, height, WIDTH, height));
    text(svg, 20, 24, "Request %s: %d prompt tokens, %d cached at decode".formatted(plan.request().id(),
        plan.request().promptTokens(), plan.request().cachedTokens()));
    text(svg, 20, 52, "prefill " + shape(prefill));
    text(svg, WIDTH - BOX - 20, 52, "decode " + shape(decode));
    arrows(svg, plan, rows);
    List<Rank> idle = plan.neverPulled();
    prefill.allRanks().forEach(rank -> box(svg, 20, y(prefill, rank, rows), rank, idle.contains(rank)));
    decode.allRanks().forEach(rank -> box(svg, WIDTH - BOX - 20, y(decode, rank, rows), rank,
        plan.senders(rank).isEmpty()));
    return svg.append("</svg>\n").toString();
  }

  private static String shape(Parallelism side) {
    return "TP%d PP%d PCP%d DCP%d".formatted(side.tp(), side.pp(), side.pcp(), side.dcp());
  }

  private static void arrows(StringBuilder svg, TransferPlan plan, int rows) {
    Parallelism prefill = plan.prefill().parallelism();
    Parallelism decode = plan.decode().parallelism();
    Map<Pair, Long> bytes = new LinkedHashMap<>();
    for (Transfer transfer : plan.transfers()) {
      bytes.merge(new Pair(transfer.source(), transfer.destination()), PlanDocument.bytes(plan.prefill(), transfer),
          Long::sum);
    }
    long most = bytes.values().stream().mapToLong(Long::longValue).max().orElse(1);
    bytes.forEach((pair, moved) -> svg.append(String.format(Locale.ROOT,
        "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke-width=\"%.1f\">"
            + "<title>%s to %s: %,d bytes</title></line>%n",
        20 + BOX, y(prefill, pair.source(), rows) + 13, WIDTH - BOX - 20, y(decode, pair.reader(), rows) + 13,
        1 + 3.0 * moved / most, pair.source(), pair.reader(), moved)));
  }

  /// The shorter column stands in the middle.
  private static int y(Parallelism side, Rank rank, int rows) {
    return TOP + (rows - side.ranks()) * ROW / 2 + side.index(rank) * ROW;
  }

  private static void box(StringBuilder svg, int x, int y, Rank rank, boolean idle) {
    svg.append("<rect%s x=\"%d\" y=\"%d\" width=\"%d\" height=\"26\" rx=\"4\"/>".formatted(
        idle ? " class=\"idle\"" : "", x, y, BOX));
    text(svg, x + 10, y + 17, rank.toString());
  }

  private static void text(StringBuilder svg, int x, int y, String text) {
    svg.append("<text x=\"%d\" y=\"%d\">%s</text>%n".formatted(x, y, Escape.html(text)));
  }
}
