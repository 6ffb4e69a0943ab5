package io.penstock.disagg.request;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.disagg.request.ReceiveOrder.Shard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;

/// A plan for one receiving rank as an order: the shards that it waits for, and the ranks that it releases.
public final class PlannedOrder {
  private PlannedOrder() {}

  /// Terms of the receipt of a request, for any plan.
  ///
  /// @param blocks where the shards land
  /// @param wantsAux whether one source sends [AuxData]
  public record Terms(HeldBlocks blocks, boolean wantsAux, FailurePolicy policy, Duration deadline) {}

  /// The order of `rank`. Its sources are the distinct senders of the plan; a plan without any is a full hit.
  ///
  /// @param prefill the process of each prefill rank
  /// @param movers how the transfers from one rank get here
  public static ReceiveOrder of(TransferPlan plan, Rank rank, Function<Rank, Incarnation> prefill,
      BiFunction<Rank, List<Transfer>, ShardMover> movers, Terms terms) {
    Map<Rank, List<Transfer>> sources = new LinkedHashMap<>();
    plan.to(rank).forEach(transfer -> sources.computeIfAbsent(transfer.source(), each -> new ArrayList<>())
        .add(transfer));
    List<Shard> shards = new ArrayList<>();
    sources.forEach((source, transfers) -> shards.add(new Shard(prefill.apply(source), plan.readers(source).size(),
        blocks(transfers), movers.apply(source, List.copyOf(transfers)))));
    List<Incarnation> releases =
        rank.equals(plan.releaser()) ? plan.neverPulled().stream().map(prefill).toList() : List.of();
    boolean wantsAux = terms.wantsAux() && !shards.isEmpty();
    return new ReceiveOrder(plan.request().id(), shards, releases, terms.blocks(), wantsAux, terms.policy(),
        terms.deadline());
  }

  /// The blocks of the receiving rank that `transfers` write to, by group.
  static GroupBlocks blocks(List<Transfer> transfers) {
    List<BitSet> groups = new ArrayList<>();
    for (Transfer transfer : transfers) {
      while (groups.size() <= transfer.group()) {
        groups.add(new BitSet());
      }
      transfer.pieces().forEach(piece -> groups.get(transfer.group()).set(piece.destinationBlock()));
    }
    return GroupBlocks.of(groups);
  }
}
