package io.penstock.node.cluster.task;

import static java.time.temporal.ChronoUnit.SECONDS;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.SliceShape;
import io.penstock.tier.BlockTier;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.PutSource;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Sends blocks of this node to another one, a few at a time.
///
/// @param own blocks of this node
/// @param keepsAlike whether the other node is to keep the blocks as this one does: pinned, and for their sessions
public record Sending(BlockTier own, boolean keepsAlike) {
  /// Blocks that are read at one time.
  private static final int WINDOW = 16;
  private static final Duration SECOND = Duration.ofSeconds(1);

  /// What came of some blocks.
  ///
  /// @param there keys that the other node has now
  /// @param written those of them that it did not have before
  public record Sent(List<BlockKey> there, List<BlockKey> written) {
    static final Sent NOTHING = new Sent(List.of(), List.of());
  }

  /// Sends the blocks of `keys` that are here. Signals the failures of the other node.
  ///
  /// @return cold; cancel leaves the blocks that were sent
  public Mono<Sent> to(BlockTier node, List<BlockKey> keys) {
    return terms(keys).flatMap(terms -> Flux
        .using(BlockScope::new, scope -> own.lease(keys, OnMiss.SKIP, scope)
            .flatMapMany(lease -> lease.windows(WINDOW, scope)).concatMap(window -> put(window, terms, node), 0),
            BlockScope::close)
        .collectList().flatMap(puts -> {
          List<BlockKey> read = puts.stream().flatMap(put -> put.there.stream()).toList();
          List<BlockKey> written = puts.stream().flatMap(put -> put.written.stream()).toList();
          return read.isEmpty()
              ? Mono.just(Sent.NOTHING)
              : node.contains(read)
                  .map(present -> new Sent(present.bits().stream().mapToObj(read::get).toList(), written));
        }));
  }

  /// The terms of the blocks that are not put as plain ones.
  private Mono<Map<BlockKey, PutTerms>> terms(List<BlockKey> keys) {
    return !keepsAlike ? Mono.just(Map.of()) : own.terms(keys).map(terms -> {
      Map<BlockKey, PutTerms> kept = new HashMap<>();
      for (int i = 0; i < keys.size(); i++) {
        kept.put(keys.get(i), inSeconds(terms.get(i)));
      }
      return kept;
    });
  }

  /// Soft pins in whole seconds, so that blocks whose pins end at nearly the same moment travel together.
  private static PutTerms inSeconds(PutTerms terms) {
    Pin pin = terms.pin();
    return pin == null || pin.life().compareTo(SECOND) < 0
        ? terms
        : terms.withPin(new Pin(pin.kind(), pin.life().truncatedTo(SECONDS)));
  }

  /// Puts the blocks of a window, those of equal terms together.
  private static Mono<Sent> put(List<LeasedBlock> window, Map<BlockKey, PutTerms> terms, BlockTier to) {
    Map<PutTerms, List<Block>> alike = new LinkedHashMap<>();
    window.stream().map(LeasedBlock::block).forEach(block -> alike
        .computeIfAbsent(terms.getOrDefault(block.key(), PutTerms.plain()), each -> new ArrayList<>()).add(block));
    return Flux.fromIterable(alike.entrySet()).concatMap(part -> {
      List<BlockKey> keys = part.getValue().stream().map(Block::key).toList();
      return to.put(keys, part.getKey(), SliceShape.defaults(),
          PutSource.of(part.getValue(), SliceShape.Order.LAYER_FIRST)).map(Receipt::key);
    }, 1).collectList()
        .map(written -> new Sent(window.stream().map(leased -> leased.block().key()).toList(), written))
        .doFinally(end -> window.forEach(leased -> leased.block().close()));
  }
}
