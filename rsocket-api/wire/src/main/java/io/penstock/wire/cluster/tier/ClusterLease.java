package io.penstock.wire.cluster.tier;

import io.penstock.TransientKvException;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.check.Checks;
import io.penstock.operator.InTurn;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Presence;
import io.penstock.wire.cluster.tier.MemberLeases.Part;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;

/// Leases at the members that have the blocks of a request, read one run after the other in the order of the keys. When
/// a member goes, or gives a damaged block, its other blocks come from other members that have them; a block that
/// no other has is left out. A run is asked for when the one before it was read, so a reader needs room for one
/// window, whatever the number of members is.
final class ClusterLease extends Lease {
  private final MemberLeases leases;
  private final List<Part> parts;
  private final BlockLayout layout;
  private final Presence hits;
  private final Presence found;
  private final Presence awaited;
  private final AtomicBoolean isRead = new AtomicBoolean();
  private final Sinks.Empty<Void> ended = Sinks.empty();

  ClusterLease(MemberLeases leases, List<Part> parts, int size, BlockLayout layout) {
    this.leases = leases;
    this.parts = parts;
    this.layout = layout;
    this.hits = joined(parts, size, Lease::hits);
    this.found = joined(parts, size, Lease::found);
    this.awaited = joined(parts, size, Lease::awaited);
  }

  private static Presence joined(List<Part> parts, int size, Function<Lease, Presence> which) {
    BitSet all = new BitSet();
    parts.forEach(part -> all.or(part.run().in(which.apply(part.lease()))));
    return Presence.of(size, all);
  }

  @Override
  public Presence hits() {
    return hits;
  }

  @Override
  public Presence found() {
    return found;
  }

  /// None: a member admits for itself alone.
  @Override
  public Presence admitted() {
    return Presence.of(found.size(), new BitSet());
  }

  @Override
  public Presence awaited() {
    return awaited;
  }

  @Override
  public Flux<List<LeasedBlock>> windows(int maxBlocks, BlockScope scope) {
    Checks.positive("maxBlocks", maxBlocks);
    return read(blocks(parts, maxBlocks, scope));
  }

  @Override
  public Flux<LayerSlice> slices(SliceShape shape, BlockScope scope) {
    return read(Flux.defer(() -> slices(parts, shape, scope, new AtomicInteger())));
  }

  private <T> Flux<T> read(Flux<T> stream) {
    return Flux.defer(() -> {
      if (isRead.getAndSet(true)) {
        return Flux.error(new IllegalStateException("lease must be read once (was read before)"));
      } else if (isClosed()) {
        return Flux.error(over());
      }
      AtomicBoolean whole = new AtomicBoolean();
      Flux<T> watched = stream.doOnComplete(() -> whole.set(true)).takeUntilOther(ended.asMono());
      return InTurn.of(watched, Flux.<T>defer(() -> whole.get() ? Flux.empty() : Flux.error(over())));
    }).doFinally(end -> close());
  }

  private static CancellationException over() {
    return new CancellationException("lease ended before its stream");
  }

  private Flux<List<LeasedBlock>> blocks(List<Part> all, int maxBlocks, BlockScope scope) {
    return Flux.fromIterable(all).concatMap(part -> blocks(part, maxBlocks, scope), 0);
  }

  private Flux<List<LeasedBlock>> blocks(Part part, int maxBlocks, BlockScope scope) {
    return Flux.defer(() -> {
      BitSet left = part.found();
      AtomicReference<@Nullable Throwable> why = new AtomicReference<>();
      Flux<List<LeasedBlock>> own = part.lease().windows(maxBlocks, scope).map(window -> {
        List<LeasedBlock> named = window.stream()
            .map(leased -> new LeasedBlock(part.run().positions()[leased.position()], leased.block())).toList();
        named.forEach(leased -> left.clear(leased.position()));
        return named;
      });
      return InTurn.of(until(own, why), Flux.defer(() -> again(part, left, why.get(),
          instead -> blocks(instead, maxBlocks, scope))));
    });
  }

  /// The stream until a failure that other members can make good.
  private <T> Flux<T> until(Flux<T> own, AtomicReference<@Nullable Throwable> why) {
    return own.onErrorResume(failure -> {
      if (isClosed() || !isMadeGood(failure)) {
        return Flux.error(failure);
      }
      why.set(failure);
      return Flux.empty();
    });
  }

  private static boolean isMadeGood(Throwable failure) {
    return Asked.isPassedOver(failure) || failure instanceof BlockCorruptException;
  }

  /// Blocks that did not come, from other members. Those that no other has are left out, unless they are damaged:
  /// then the stream ends with that.
  private <T> Flux<T> again(Part part, BitSet left, @Nullable Throwable why, Function<List<Part>, Flux<T>> read) {
    if (left.isEmpty()) {
      return Flux.empty();
    }
    return leases.instead(part, left, why instanceof TransientKvException).flatMapMany(instead -> {
      instead.forEach(other -> left.andNot(other.found()));
      return why instanceof BlockCorruptException && !left.isEmpty()
          ? InTurn.of(read.apply(instead), Flux.error(why))
          : read.apply(instead);
    });
  }

  private Flux<LayerSlice> slices(List<Part> all, SliceShape shape, BlockScope scope, AtomicInteger windows) {
    return Flux.fromIterable(all).concatMap(part -> slices(part, shape, scope, windows), 0);
  }

  private Flux<LayerSlice> slices(Part part, SliceShape shape, BlockScope scope, AtomicInteger windows) {
    return Flux.defer(() -> {
      SliceProgress progress = new SliceProgress(layout, shape, part.run(), part.found(), windows.get());
      AtomicReference<@Nullable Throwable> why = new AtomicReference<>();
      Flux<LayerSlice> own = part.lease().slices(shape, scope).map(slice -> progress.take(slice, scope));
      return InTurn.of(until(own, why), Flux.defer(() -> {
        windows.set(progress.nextWindow());
        return InTurn.of(begun(part, progress, why.get(), shape, scope),
            Flux.defer(() -> again(part, progress.untouched(), why.get(),
                instead -> slices(instead, shape, scope, windows))));
      }));
    });
  }

  /// The rest of a window of which a member gave a part: its blocks come whole from other members, and what was not
  /// given yet is cut from them.
  private Flux<LayerSlice> begun(Part part, SliceProgress progress, @Nullable Throwable why, SliceShape shape,
      BlockScope scope) {
    BitSet positions = progress.begun();
    if (positions.isEmpty()) {
      return Flux.empty();
    }
    int wanted = positions.cardinality();
    return Flux.using(BlockScope::new, held -> again(part, positions, why,
        instead -> blocks(instead, shape.windowBlocks(), held)).concatMapIterable(window -> window).collectList()
        .flatMapMany(blocks -> blocks.size() < wanted
            ? Flux.error(why == null ? over() : why)
            : progress.rest(blocks, scope)),
        BlockScope::close);
  }

  @Override
  protected void free() {
    ended.tryEmitEmpty();
    leases.close();
  }
}
