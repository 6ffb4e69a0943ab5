package io.penstock.node.plan;

import io.penstock.disagg.plan.HeadShards;
import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.node.report.Escape;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.IntStream;

/// A plan as a picture (SVG): prefill ranks at the left, decode ranks at the right, and an arrow for each transfer,
/// with its layers, heads and tokens; the thicker the more bytes. Ranks that are never pulled, and ranks that wait for
/// nothing, are dashed. Colours follow the reader's light or dark scheme.
final class PlanPicture {
  static final int WIDTH = 960;
  /// More arrows cannot be told apart; the rest is counted below the title.
  static final int MOST_ARROWS = 256;
  static final int MOST_RANKS = 128;

  private static final int EDGE = 24;
  private static final int BOX = 190;
  private static final int LABEL = 330;
  private static final int TOP = 104;
  private static final int LEGEND = 70;
  private static final int COLOURS = 6;
  private static final List<String> LIGHT = List.of("#2f6f9f", "#b3541e", "#3a7d44", "#7a4fa3", "#a3324a", "#5b6b1f");
  private static final List<String> DARK = List.of("#7ab8e6", "#f0a06a", "#86cc90", "#c3a0ea", "#f08da2", "#c0d070");

  private final TransferPlan plan;
  private final List<Transfer> drawn;
  private final PictureColumn prefill;
  private final PictureColumn decode;
  private final long mostBytes;

  private PlanPicture(TransferPlan plan) {
    this.plan = plan;
    this.drawn = plan.transfers().stream().limit(MOST_ARROWS).toList();
    Parallelism readers = plan.decode().parallelism();
    // the arrows of a source leave in the order of their readers, so that they do not cross at once
    this.prefill = new PictureColumn(ranks(plan.prefill().parallelism()), rank -> drawn.stream()
        .filter(one -> one.source().equals(rank))
        .sorted(Comparator.comparingInt(one -> readers.index(one.destination()))).toList());
    this.decode = new PictureColumn(ranks(readers),
        rank -> drawn.stream().filter(one -> one.destination().equals(rank)).toList());
    this.mostBytes = drawn.stream().mapToLong(this::bytes).max().orElse(0);
  }

  static String of(TransferPlan plan) {
    return new PlanPicture(plan).svg();
  }

  /// Ranks with arrows, and as many of the others as can be drawn.
  private List<Rank> ranks(Parallelism side) {
    Set<Rank> busy = new HashSet<>();
    drawn.forEach(one -> {
      busy.add(one.source());
      busy.add(one.destination());
    });
    return side.ranks() <= MOST_RANKS
        ? side.allRanks()
        : side.allRanks().stream().sorted(Comparator.comparing(rank -> !busy.contains(rank)))
            .limit(Math.max(MOST_RANKS, busy.size())).sorted(Comparator.comparingInt(side::index)).toList();
  }

  private String svg() {
    int height = TOP + Math.max(prefill.height(), decode.height()) + LEGEND;
    StringBuilder svg = new StringBuilder("""
        <svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" \
        role="img">
        """.formatted(WIDTH, height, WIDTH, height));
    styles(svg);
    svg.append("<rect class=\"page\" width=\"%d\" height=\"%d\"/>%n".formatted(WIDTH, height));
    heading(svg);
    drawn.forEach(transfer -> arrow(svg, transfer));
    Set<Rank> idle = new HashSet<>(plan.neverPulled());
    for (Rank rank : prefill.ranks()) {
      box(svg, EDGE, prefill, y(prefill, rank), rank, plan.prefill(), idle.contains(rank), idle.contains(rank)
          ? "never pulled"
          : "waits for " + Plural.of(plan.readers(rank).size(), "reader"));
    }
    for (Rank rank : decode.ranks()) {
      int senders = plan.senders(rank).size();
      box(svg, WIDTH - EDGE - BOX, decode, y(decode, rank), rank, plan.decode(), senders == 0,
          "waits for " + (senders == 0 ? "nothing" : Plural.of(senders, "sender")));
    }
    legend(svg, height - LEGEND + 20);
    return svg.append("</svg>\n").toString();
  }

  private static void styles(StringBuilder svg) {
    StringBuilder light = new StringBuilder("""
        .page{fill:#fff}.ink{fill:#1d2733}.quiet{fill:#5d6b7a}.box{fill:#eef3fa;stroke:#3b6ea5}
        .idle{fill:none;stroke:#8a96a3;stroke-dasharray:5 4}.key{stroke:#5d6b7a;fill:none}.arrow{fill:none}
        """);
    StringBuilder dark = new StringBuilder("""
        .page{fill:#14181d}.ink{fill:#e6ebf0}.quiet{fill:#a3b0bd}.box{fill:#1f2a36;stroke:#7ab8e6}
        .idle{stroke:#75818d}.key{stroke:#a3b0bd}
        """);
    StringBuilder heads = new StringBuilder();
    for (int i = 0; i < COLOURS; i++) {
      light.append(".c%d{stroke:%s}.h%d{fill:%s}".formatted(i, LIGHT.get(i), i, LIGHT.get(i)));
      dark.append(".c%d{stroke:%s}.h%d{fill:%s}".formatted(i, DARK.get(i), i, DARK.get(i)));
      heads.append("""
          <marker id="head%d" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="10" markerHeight="10" \
          markerUnits="userSpaceOnUse" orient="auto"><path class="h%d" d="M0 0L8 4L0 8z"/></marker>
          """.formatted(i, i));
    }
    svg.append("<style>%n%s%n@media (prefers-color-scheme:dark){%s}%n</style>%n<defs>%s</defs>%n".formatted(light, dark,
        heads));
  }

  private void heading(StringBuilder svg) {
    KvRequest request = plan.request();
    String rest = ": %s, of which decode has %d".formatted(Plural.of(request.promptTokens(), "prompt token"),
        request.cachedTokens());
    int size = 16;
    int width = WIDTH - 2 * EDGE;
    String id = SvgText.fitted("Request " + request.id(), width - SvgText.width(rest, size), size);
    svg.append(SvgText.of("ink", EDGE, 32, size, width, id + rest));
    String arrows = plan.transfers().size() > drawn.size()
        ? "%s; the first %d are drawn".formatted(Plural.of(plan.transfers().size(), "transfer"), drawn.size())
        : "%s of %s together".formatted(Plural.of(drawn.size(), "transfer"),
            Sizes.human(drawn.stream().mapToLong(this::bytes).sum()));
    svg.append(SvgText.of("quiet", EDGE, 52, 12, width, arrows));
    double half = width / 2.0 - 10;
    svg.append(SvgText.of("ink", EDGE, 84, 13, half, side("prefill", plan.prefill())));
    String right = SvgText.fitted(side("decode", plan.decode()), half, 13);
    svg.append("<text class=\"ink\" x=\"%d\" y=\"84\" font-size=\"13\" text-anchor=\"end\">%s</text>%n".formatted(
        WIDTH - EDGE, Escape.html(right)));
  }

  private static String side(String name, Manifest side) {
    Parallelism ranks = side.parallelism();
    return "%s: TP %d, PP %d, PCP %d, DCP %d, blocks of %d".formatted(name, ranks.tp(), ranks.pp(), ranks.pcp(),
        ranks.dcp(), side.groups().getFirst().layout().tokens());
  }

  /// The shorter column stands in the middle.
  private int y(PictureColumn column, Rank rank) {
    return TOP + (Math.max(prefill.height(), decode.height()) - column.height()) / 2 + column.top(rank);
  }

  private void box(StringBuilder svg, int x, PictureColumn column, int y, Rank rank, Manifest side, boolean idle,
      String state) {
    int height = column.height(rank);
    svg.append("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/>%n".formatted(
        idle ? "idle" : "box", x, y, BOX, height));
    int middle = y + height / 2;
    int inside = BOX - 16;
    svg.append(SvgText.of("ink", x + 8, middle - 10, 12, inside, rank.toString()));
    svg.append(SvgText.of("quiet", x + 8, middle + 5, 11, inside, kept(side, rank)));
    svg.append(SvgText.of("quiet", x + 8, middle + 19, 11, inside, state));
  }

  /// Part of the model that a rank keeps.
  private static String kept(Manifest side, Rank rank) {
    List<Integer> layers = IntStream.range(0, side.groups().size()).boxed()
        .flatMap(group -> side.groups().get(group).layers()
            .subList(side.firstLayer(group, rank.stage()), side.firstLayer(group, rank.stage() + 1)).stream())
        .sorted().toList();
    if (layers.isEmpty() || side.groups().size() > 1) {
      return layers.isEmpty() ? "no layers" : PlanTable.numbered("layer", layers);
    }
    HeadShards heads = side.heads(0);
    return PlanTable.numbered("layer", layers) + ", " + PlanTable.numbered("head",
        IntStream.range(heads.first(rank.tp()), heads.end(rank.tp())).boxed().toList());
  }

  private void arrow(StringBuilder svg, Transfer transfer) {
    int colour = plan.prefill().parallelism().index(transfer.source()) % COLOURS;
    double y0 = y(prefill, transfer.source()) - prefill.top(transfer.source())
        + prefill.arrow(transfer.source(), transfer);
    double y1 = y(decode, transfer.destination()) - decode.top(transfer.destination())
        + decode.arrow(transfer.destination(), transfer);
    int x0 = EDGE + BOX;
    int end = WIDTH - EDGE - BOX;
    int x1 = end - LABEL;
    int bend = (x1 - x0) / 2;
    svg.append(String.format(Locale.ROOT,
        "<path class=\"arrow c%d\" d=\"M%d %.1fC%d %.1f %d %.1f %d %.1fH%d\" stroke-width=\"%.1f\""
            + " marker-end=\"url(#head%d)\"><title>%s to %s: %,d bytes</title></path>%n",
        colour, x0, y0, x0 + bend, y0, x1 - bend, y1, x1, y1, end, 1 + 2.0 * bytes(transfer) / Math.max(1, mostBytes),
        colour, transfer.source(), transfer.destination(), bytes(transfer)));
    svg.append(SvgText.of("ink", x1 + 4, y1 - 4, 11, LABEL - 16, label(transfer)));
  }

  private String label(Transfer transfer) {
    String moved = "%s, %s, %s".formatted(PlanTable.numbered("layer", PlanDocument.modelLayers(plan, transfer)),
        PlanTable.numbered("head", IntStream.range(transfer.heads().first(), transfer.heads().end()).boxed().toList()),
        Plural.of(transfer.tokens(), "token"));
    return plan.prefill().groups().size() > 1 ? "group " + transfer.group() + ": " + moved : moved;
  }

  private long bytes(Transfer transfer) {
    return PlanDocument.bytes(plan.prefill(), transfer);
  }

  private void legend(StringBuilder svg, int y) {
    svg.append("<rect class=\"box\" x=\"%d\" y=\"%d\" width=\"22\" height=\"14\" rx=\"3\"/>%n".formatted(EDGE, y));
    svg.append(SvgText.of("quiet", EDGE + 30, y + 11, 11, 150, "has work to do"));
    svg.append("<rect class=\"idle\" x=\"%d\" y=\"%d\" width=\"22\" height=\"14\" rx=\"3\"/>%n".formatted(220, y));
    svg.append(SvgText.of("quiet", 250, y + 11, 11, 420, plan.neverPulled().isEmpty()
        ? "has nothing to do"
        : "%s never pulled, released by decode %s".formatted(Plural.of(plan.neverPulled().size(), "prefill rank"),
            plan.releaser())));
    svg.append("<path class=\"key\" d=\"M690 %dh22\" stroke-width=\"3\"/>%n".formatted(y + 7));
    svg.append(SvgText.of("quiet", 720, y + 11, 11, WIDTH - EDGE - 720, "thickest: " + Sizes.human(mostBytes)));
    svg.append(SvgText.of("quiet", EDGE, y + 31, 11, WIDTH - 2.0 * EDGE,
        "A decode rank asks in the order of its arrows, from top to bottom."));
  }
}
