package io.penstock.examples.disaggregated;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Planner;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.Transfer;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.flow.PullBlocks;
import io.penstock.flow.PullBlocks.Lane;
import io.penstock.flow.PushLayers;
import io.penstock.tier.spi.ViewLanding.Landed;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;
import reactor.core.publisher.Flux;

/// How the cache of one request comes to a decode: the planner says which prefill rank gives what to which decode rank.
final class DecodeSide {
  private final Sequence sequence;
  private final Deployment prefill;
  private final IntFunction<Lane> lanes;
  private final TransferPlan plan;

  /// @param sequence that receives; the first `cachedTokens` tokens of the prompt are in its cache
  /// @param prefill how the other side is split
  /// @param lanes the way to a prefill rank, by its number
  DecodeSide(Sequence sequence, Deployment prefill, IntFunction<Lane> lanes, String request, int promptTokens,
      int cachedTokens) {
    this.sequence = sequence;
    this.prefill = prefill;
    this.lanes = lanes;
    this.plan = new Planner(prefill.manifest(), sequence.deployment().manifest())
        .plan(new KvRequest(request, promptTokens, cachedTokens));
  }

  TransferPlan plan() {
    return plan;
  }

  /// Takes layers as they become ready. Asks at once: before the prefill begins.
  Flux<Landed> receive() {
    String request = plan.request().id();
    int tokens = plan.request().promptTokens();
    return each(PullBlocks::receive, places(shard -> PushLayers.keys(shard.space(), request, shard.blocks(tokens))));
  }

  /// Takes what the tiers of the prefill ranks have.
  Flux<Landed> pull(int[] prompt) {
    return each(PullBlocks::pull, places(shard -> shard.keys(prompt)));
  }

  private interface Recipe {
    Flux<Landed> run(List<Transfer> transfers, PullBlocks.Places places);
  }

  private Flux<Landed> each(Recipe recipe, PullBlocks.Places places) {
    List<Rank> ranks = sequence.deployment().parallelism().allRanks();
    return Flux.fromIterable(ranks).flatMap(rank -> recipe.run(plan.to(rank), places), ranks.size(), 1);
  }

  private PullBlocks.Places places(Function<Shard, List<BlockKey>> keys) {
    return new PullBlocks.Places() {
      @Override
      public Lane lane(Transfer transfer) {
        return lanes.apply(prefill.parallelism().index(transfer.source()));
      }

      @Override
      public List<BlockKey> keys(Transfer transfer) {
        return keys.apply(prefill.shard(transfer.source()));
      }

      @Override
      public BlockDraft draft(Transfer transfer, int destinationBlock) {
        return sequence.cache(transfer.destination()).block(destinationBlock).draft();
      }
    };
  }
}
