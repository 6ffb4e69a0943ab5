package io.penstock.node.plan;

import io.penstock.block.BlockLayout;
import io.penstock.disagg.plan.Extent;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Manifest.Group;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.Run;
import io.penstock.disagg.plan.TokenPiece;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.node.text.Plural;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import java.util.List;
import java.util.stream.Collectors;

/// A plan for people: a row for each transfer, then what each side waits for.
final class PlanTable {
  private static final int MOST_LISTED = 4;

  private PlanTable() {}

  static String of(TransferPlan plan) {
    StringBuilder text = new StringBuilder(heading(plan)).append('\n');
    TextTable table = new TextTable("TO", "FROM", "GROUP", "LAYERS", "HEADS", "TOKENS", "BYTES", "MOVED", "BLOCKS");
    for (Transfer transfer : plan.transfers()) {
      table.row(transfer.destination(), transfer.source(), transfer.group(),
          numbers(PlanDocument.modelLayers(plan, transfer)),
          range(transfer.heads()), transfer.tokens(),
          Sizes.human(PlanDocument.bytes(plan.prefill(), transfer)),
          Sizes.human(PlanDocument.movedBytes(plan.prefill(), transfer)), blocks(transfer));
    }
    if (!plan.transfers().isEmpty()) {
      text.append('\n').append(table).append('\n').append(bytes(plan)).append('\n');
    }
    completions(text, plan);
    return text.toString().stripTrailing();
  }

  private static String bytes(TransferPlan plan) {
    long tokens = plan.transfers().stream().mapToLong(each -> PlanDocument.bytes(plan.prefill(), each)).sum();
    long moved = plan.transfers().stream().mapToLong(each -> PlanDocument.movedBytes(plan.prefill(), each)).sum();
    return "tokens of the plan: %s; sent in whole blocks: %s".formatted(Sizes.human(tokens),
        Sizes.human(moved));
  }

  private static String heading(TransferPlan plan) {
    return "request %s: %s, of which decode has %d%nprefill: %s%ndecode:  %s".formatted(plan.request().id(),
        Plural.of(plan.request().promptTokens(), "prompt token"), plan.request().cachedTokens(), side(plan.prefill()),
        side(plan.decode()));
  }

  private static String side(Manifest side) {
    Parallelism ranks = side.parallelism();
    return "TP %d, PP %d, PCP %d, DCP %d, ".formatted(ranks.tp(), ranks.pp(), ranks.pcp(), ranks.dcp())
        + side.groups().stream().map(PlanTable::group).collect(Collectors.joining("; "));
  }

  /// `10 layers of 16 KV heads in blocks of 16 tokens (NHD), window of 1024 tokens, 80 KiB a token`.
  private static String group(Group group) {
    BlockLayout layout = group.layout();
    String layers = "%s of %s".formatted(Plural.of(group.layers().size(), "layer"),
        Plural.of(group.heads(), "KV head"));
    return group.isState()
        ? "%s, a state of %s (%s)".formatted(layers, Sizes.human(layout.blockBytes()), layout.order())
        : "%s in blocks of %s (%s)%s, %s a token".formatted(layers, Plural.of(layout.tokens(), "token"), layout.order(),
            group.windowTokens() > 0 ? ", window of " + Plural.of(group.windowTokens(), "token") : "",
            Sizes.human(PlanDocument.bytesPerToken(group)));
  }

  /// Numbers in ascending order: `0-3`, or one by one where some are left out.
  static String numbers(List<Integer> numbers) {
    int first = numbers.getFirst();
    int last = numbers.getLast();
    if (last - first == numbers.size() - 1) {
      return first == last ? "" + first : first + "-" + last;
    }
    String listed = numbers.stream().limit(MOST_LISTED).map(String::valueOf).collect(Collectors.joining(","));
    return numbers.size() > MOST_LISTED ? listed + ",… " + last : listed;
  }

  /// For example `layers 0-3` or `layer 2`.
  static String numbered(String what, List<Integer> numbers) {
    return what + (numbers.size() == 1 ? " " : "s ") + numbers(numbers);
  }

  private static String range(Extent extent) {
    return extent.count() == 1 ? "" + extent.first() : extent.first() + "-" + (extent.end() - 1);
  }

  /// Runs as `source>destination`, by the indexes of blocks; `@8>0` where the tokens do not begin with their blocks.
  private static String blocks(Transfer transfer) {
    List<Run> runs = transfer.runs();
    String first = runs.stream().limit(4).map(run -> run(transfer, run)).collect(Collectors.joining(" "));
    return runs.size() > 4 ? first + " and " + (runs.size() - 4) + " more" : first;
  }

  private static String run(Transfer transfer, Run run) {
    TokenPiece piece = transfer.pieces().get(run.from());
    int last = run.to() - run.from() - 1;
    return span(piece.sourceBlock(), last) + ">" + span(piece.destinationBlock(), last)
        + (piece.sourceToken() == 0 && piece.destinationToken() == 0
            ? ""
            : "@%d>%d".formatted(piece.sourceToken(), piece.destinationToken()));
  }

  private static String span(int first, int more) {
    return more == 0 ? "" + first : first + "-" + (first + more);
  }

  private static void completions(StringBuilder text, TransferPlan plan) {
    for (Rank reader : plan.decode().parallelism().allRanks()) {
      int senders = plan.senders(reader).size();
      text.append("decode ").append(reader).append(" waits for ")
          .append(senders == 0 ? "nothing" : Plural.of(senders, "completion"))
          .append(listed(List.copyOf(plan.senders(reader))))
          .append('\n');
    }
    List<Rank> idle = plan.neverPulled();
    text.append(idle.isEmpty()
        ? "every prefill rank is pulled"
        : "never pulled, released by decode " + plan.releaser() + listed(idle)).append('\n');
  }

  private static String listed(List<Rank> ranks) {
    return ranks.isEmpty()
        ? ""
        : ": " + ranks.stream().limit(16).map(Rank::toString).collect(Collectors.joining(", "))
            + (ranks.size() > 16 ? " and " + (ranks.size() - 16) + " more" : "");
  }
}
