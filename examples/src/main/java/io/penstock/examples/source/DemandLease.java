package io.penstock.examples.source;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.Checks;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Presence;
import io.penstock.tier.TierClosedException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// A lease of a [DemandTier]: everything known is found, and made when it is read.
final class DemandLease extends Lease {
  private final DemandTier tier;
  private final List<BlockKey> keys;
  private final Presence found;
  private final AtomicBoolean read = new AtomicBoolean();
  private final Sinks.Empty<Void> ended = Sinks.empty();

  DemandLease(DemandTier tier, List<BlockKey> keys, Presence found) {
    this.tier = tier;
    this.keys = keys;
    this.found = found;
  }

  @Override
  public Presence hits() {
    return found;
  }

  @Override
  public Presence found() {
    return found;
  }

  @Override
  public Presence admitted() {
    return none();
  }

  @Override
  public Presence awaited() {
    return none();
  }

  @Override
  public Flux<List<LeasedBlock>> windows(int maxBlocks, BlockScope scope) {
    Checks.positive("maxBlocks", maxBlocks);
    return Flux.defer(() -> {
      if (!read.compareAndSet(false, true)) {
        return Flux.error(new IllegalStateException("lease must be read once (was read before)"));
      }
      Mono<Void> tierClosed = tier.closed().then(Mono.error(() -> new TierClosedException(tier.info().name())));
      return tier.make(knownKeys(), maxBlocks, scope).map(this::placed)
          .takeUntilOther(Mono.firstWithSignal(ended.asMono(), tierClosed)).doFinally(end -> close());
    });
  }

  private List<BlockKey> knownKeys() {
    List<BlockKey> known = new ArrayList<>(found.count());
    found.bits().stream().forEach(i -> known.add(keys.get(i)));
    return known;
  }

  /// From positions among the known keys to positions in the request.
  private List<LeasedBlock> placed(List<LeasedBlock> window) {
    if (found.count() == keys.size()) {
      return window;
    }
    int[] positions = found.bits().stream().toArray();
    return window.stream().map(leased -> new LeasedBlock(positions[leased.position()], leased.block())).toList();
  }

  private Presence none() {
    return Presence.of(keys.size(), new BitSet());
  }

  @Override
  protected void free() {
    ended.tryEmitError(new CancellationException("lease ended before its stream"));
  }
}
