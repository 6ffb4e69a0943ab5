package io.penstock.examples.disaggregated.node;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.plan.KvRequest;
import io.penstock.disagg.plan.Planner;
import io.penstock.disagg.plan.Rank;
import io.penstock.disagg.plan.TransferPlan;
import io.penstock.disagg.request.AuxData;
import io.penstock.disagg.request.DecodeConnector;
import io.penstock.disagg.request.FailurePolicy;
import io.penstock.disagg.request.GroupBlocks;
import io.penstock.disagg.request.HeldBlocks;
import io.penstock.disagg.request.MoveTicket;
import io.penstock.disagg.request.PlannedOrder;
import io.penstock.disagg.request.ReceiveOrder;
import io.penstock.disagg.request.Received;
import io.penstock.disagg.request.RequestState;
import io.penstock.disagg.request.ShardMover;
import io.penstock.examples.disaggregated.rank.Deployment;
import io.penstock.examples.disaggregated.rank.KvBlock;
import io.penstock.examples.disaggregated.rank.Prefilled;
import io.penstock.examples.disaggregated.rank.RankCache;
import io.penstock.examples.disaggregated.rank.Sequence;
import io.penstock.examples.disaggregated.rank.Shard;
import io.penstock.flow.PushLayers;
import io.penstock.tier.spi.ViewSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Moves the cache of one request to a decode: the planner assigns prefill ranks to decode ranks, and the requests of
/// each decode rank make sure that it comes, once, or fails by the deadline. The cache of an answer goes back in the
/// same way, from a decode to the prefill of the next turn, which is the receiving side then.
final class DecodeSide {
  private static final int RETRIES = 2;

  private final Sequence sequence;
  private final @Nullable AuxBlocks aux;
  private final Deployment prefill;
  private final Sources sources;
  private final int[] prompt;
  private final TransferPlan plan;

  /// The ranks of the prefill that has the request, by number.
  interface Sources {
    Incarnation rank(int number);

    /// Connects to the cache of a rank.
    Mono<ViewSource> cache(int number);

    /// Connects to the aux data of the first rank.
    Mono<ViewSource> aux();
  }

  /// Blocks that one decode rank receives.
  private record Part(DecodeConnector rank, ReceiveOrder order) {
    Mono<End> receive() {
      return rank.receive(order).map(received -> new End(this, received));
    }
  }

  private record End(Part part, Received received) {
    boolean isGood() {
      return received.state() == RequestState.SUCCESS;
    }
  }

  /// @param sequence that receives; the first `cachedTokens` tokens of the prompt are in its cache
  /// @param aux lends the memory of aux data
  /// @param prefill how the other side is split
  DecodeSide(Sequence sequence, AuxBlocks aux, Deployment prefill, Sources sources, String request, int[] prompt,
      int cachedTokens) {
    this(sequence, prefill, sources, request, prompt, cachedTokens, aux);
  }

  /// A side that receives a cache alone, by [#pull].
  DecodeSide(Sequence sequence, Deployment source, Sources sources, String request, int[] tokens, int cachedTokens) {
    this(sequence, source, sources, request, tokens, cachedTokens, null);
  }

  private DecodeSide(Sequence sequence, Deployment prefill, Sources sources, String request, int[] prompt,
      int cachedTokens, @Nullable AuxBlocks aux) {
    this.sequence = sequence;
    this.aux = aux;
    this.prefill = prefill;
    this.sources = sources;
    this.prompt = prompt.clone();
    this.plan = new Planner(prefill.manifest(), sequence.deployment().manifest())
        .plan(new KvRequest(request, prompt.length, cachedTokens));
  }

  /// Bytes of the tokens that the plan moves; as many as land, or fewer where a last block is not full.
  long tokenBytes() {
    return plan.transfers().stream().mapToLong(each -> prefill.manifest().bytes(each, each.tokens())).sum();
  }

  /// Receives the cache and its aux data. A push must be requested before the prefill begins, a pull when it is done.
  /// An error ends the request, too: the memory of the sequence is given up then.
  ///
  /// @param ranks the requests of each decode rank
  /// @return cold, subscribed to once
  Mono<Prefilled> receive(boolean isPush, List<DecodeConnector> ranks, Duration deadline) {
    AuxBlocks memory = requireNonNull(aux, "aux");
    return Mono.defer(() -> {
      String name = AuxBlocks.name(plan.request().id());
      KvBlock block = memory.claim(name);
      List<Part> parts = new ArrayList<>();
      parts.add(new Part(ranks.getFirst(), auxOrder(memory, name, block, deadline)));
      for (int number = 0; number < ranks.size(); number++) {
        parts.add(new Part(ranks.get(number), order(number, isPush, deadline)));
      }
      return Flux.fromIterable(parts).flatMap(Part::receive, parts.size(), 1).collectList()
          .flatMap(ends -> end(ends, memory, block));
    });
  }

  /// Receives the cache alone, which the sources have. An error ends the request, as in [#receive].
  ///
  /// @param ranks the requests of each receiving rank
  /// @return cold, subscribed to once
  Mono<Void> pull(List<DecodeConnector> ranks, Duration deadline) {
    return Mono.defer(() -> {
      List<Part> parts = new ArrayList<>();
      for (int number = 0; number < ranks.size(); number++) {
        parts.add(new Part(ranks.get(number), order(number, false, deadline)));
      }
      return Flux.fromIterable(parts).flatMap(Part::receive, parts.size(), 1).collectList()
          .flatMap(ends -> ends.stream().allMatch(End::isGood) ? Mono.empty() : failed(ends));
    });
  }

  private static Mono<Prefilled> end(List<End> ends, AuxBlocks memory, KvBlock block) {
    if (ends.stream().allMatch(End::isGood)) {
      AuxData data = ends.stream().map(end -> end.received().aux()).filter(each -> each != null).findFirst()
          .orElse(null);
      Prefilled prefilled = memory.vectors(data, block);
      block.close();
      return Mono.just(prefilled);
    }
    return failed(ends);
  }

  private static <T> Mono<T> failed(List<End> ends) {
    Received first = ends.stream().filter(end -> !end.isGood()).findFirst().orElseThrow().received();
    return Flux.fromIterable(ends).filter(End::isGood).concatMap(end -> end.part().order().blocks().release())
        .then(Mono.error(() -> new IllegalStateException("request %s must be received (was %s: %s)"
            .formatted(first.request(), first.ending(), first.cause()), first.cause())));
  }

  private ReceiveOrder order(int number, boolean isPush, Duration deadline) {
    Rank rank = sequence.deployment().parallelism().rank(number);
    RankCache cache = sequence.cache(rank);
    cache.claim(prompt.length); // movers run on other threads, and claim nothing
    HeldBlocks blocks = () -> Mono.fromRunnable(cache::close);
    return PlannedOrder.of(plan, rank, source -> sources.rank(index(source)),
        (source, transfers) -> new ConnectingMover(transfers, sources.cache(index(source)), keys(source, isPush),
            destination -> cache.block(destination).draft(), isPush),
        new PlannedOrder.Terms(blocks, false, FailurePolicy.retry(RETRIES), deadline));
  }

  private int index(Rank source) {
    return prefill.parallelism().index(source);
  }

  /// For a prompt that is not computed yet only names are known, and afterwards the content.
  private List<BlockKey> keys(Rank source, boolean isPush) {
    Shard shard = prefill.shard(source);
    return isPush
        ? PushLayers.keys(shard.space(), plan.request().id(), shard.blocks(prompt.length))
        : shard.keys(prompt);
  }

  private ReceiveOrder auxOrder(AuxBlocks memory, String name, KvBlock block, Duration deadline) {
    BlockDraft draft = block.draft();
    ShardMover cache = new ConnectingMover(List.of(memory.transfer()), sources.aux(),
        PushLayers.keys(memory.space(), name, 1), number -> draft, true);
    ShardMover mover = new ShardMover() {
      @Override
      public Mono<Void> move(MoveTicket ticket) {
        return cache.move(ticket).then(Mono.fromRunnable(() -> ticket.aux(AuxBlocks.data(name, block))));
      }

      @Override
      public Mono<Void> drained(MoveTicket ticket) {
        return cache.drained(ticket);
      }
    };
    ReceiveOrder.Shard shard = new ReceiveOrder.Shard(sources.rank(0), 1, GroupBlocks.range(0, 1), mover);
    return new ReceiveOrder(name, List.of(shard), List.of(), () -> Mono.fromRunnable(block::close), true,
        FailurePolicy.retry(RETRIES), deadline);
  }
}
