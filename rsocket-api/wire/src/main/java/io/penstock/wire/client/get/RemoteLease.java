package io.penstock.wire.client.get;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SliceShape;
import io.penstock.check.Checks;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Presence;
import io.penstock.tier.slice.DraftWindow;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.slice.LandedSlice;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/// A lease on the blocks of a remote node; its bytes come as slices, each verified and landed in the client's arena.
public final class RemoteLease extends Lease {
  /// Slices that [#windows] asks for before it has joined them.
  private static final int WINDOWS_PREFETCH = 16;

  private final LandedStream receiver;
  private final Supplier<Mono<Void>> drain;
  private final Presence hits;
  private final Presence found;
  private final Presence admitted;
  private final Presence awaited;

  RemoteLease(LandedStream receiver, Supplier<Mono<Void>> drain, Messages.Found decision) {
    this.receiver = receiver;
    this.drain = drain;
    this.hits = decision.hits().presence();
    this.found = decision.found().presence();
    this.admitted = decision.admitted().presence();
    this.awaited = decision.awaited().presence();
  }

  /// Of blocks of which `found` were hits, and no others come.
  RemoteLease(LandedStream receiver, Supplier<Mono<Void>> drain, Presence found) {
    this.receiver = receiver;
    this.drain = drain;
    this.hits = found;
    this.found = found;
    this.admitted = Presence.of(found.size(), new BitSet());
    this.awaited = admitted;
  }

  /// Of `count` blocks that were all found.
  static RemoteLease ofAll(LandedStream receiver, int count, Supplier<Mono<Void>> drain) {
    BitSet all = new BitSet(count);
    all.set(0, count);
    return new RemoteLease(receiver, drain, Presence.of(count, all));
  }

  @Override
  public Presence hits() {
    return hits;
  }

  @Override
  public Presence found() {
    return found;
  }

  @Override
  public Presence admitted() {
    return admitted;
  }

  @Override
  public Presence awaited() {
    return awaited;
  }

  /// The leased blocks as slices, in the order the server sends them: found blocks first, then awaited ones, layer by
  /// layer in a window. A granule that was cut to travel comes whole.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | slices; the network is asked for what was requested here, never more than the credit option |
  /// | cancel | ends the lease; frees what landed and was not emitted |
  /// | threads | the connection's event loop, or the thread whose request or release let it go on |
  /// | signals | [io.penstock.block.BlockCorruptException], `WireFormatException`, `ConnectionLostException` |
  /// | | `RemoteTransientException`, `RemotePermanentException` |
  ///
  /// @param scope owns the slices emitted; close each when read, or memory is held until the scope ends
  /// @return a stream for one subscriber, instead of [#windows]
  public Flux<LayerSlice> slices(BlockScope scope) {
    return landed().handle((landed, sink) -> {
      LayerSlice slice = slice(landed);
      if (slice != null) {
        sink.next(scope.adopt(slice));
      }
      if (landed.header().endsWindow()) { // the spans keep the memory
        landed.window().drafts().forEach(BlockDraft::close);
      }
    });
  }

  @Override
  public Flux<LayerSlice> slices(SliceShape shape, BlockScope scope) {
    if (shape.startLayer() != receiver.startLayer()) {
      throw new IllegalArgumentException("startLayer must be that of the client's options, " + receiver.startLayer()
          + " (was " + shape.startLayer() + ")");
    }
    return slices(scope);
  }

  @Override
  public Flux<List<LeasedBlock>> windows(int maxBlocks, BlockScope scope) {
    Checks.positive("maxBlocks", maxBlocks);
    if (receiver.startLayer() > 0) {
      throw new IllegalStateException("startLayer must be 0 to get whole blocks (was " + receiver.startLayer() + ")");
    }
    return landed().map(landed -> sealed(landed, scope))
        .concatMapIterable(blocks -> chunks(blocks, maxBlocks), WINDOWS_PREFETCH);
  }

  /// Completes when the server holds nothing of this stream any more, neither memory nor frames: after it a cancelled
  /// stream is over on both sides.
  public Mono<Void> drained() {
    return drain.get();
  }

  private Flux<LandedSlice> landed() {
    return Flux.<LandedSlice>from(subscriber -> receiver.read(Operators.toCoreSubscriber(subscriber)))
        .doFinally(end -> close());
  }

  /// The slice that is whole now; null if only a part of a granule arrived: that granule comes as one slice with its
  /// last rows.
  private static @Nullable LayerSlice slice(LandedSlice landed) {
    int[] positions = landed.whole();
    if (positions.length == 0) {
      return null;
    }
    GranuleRange range = landed.granules();
    List<LayerSpan> spans = new ArrayList<>(positions.length);
    try {
      for (int position : positions) {
        spans.add(landed.draft(position).span(range));
      }
      return new LayerSlice(landed.header().place(), range, positions, spans);
    } catch (RuntimeException | Error e) {
      spans.forEach(LayerSpan::close);
      throw e;
    }
  }

  /// The blocks of a window when its last slice has landed, before nothing. Drafts are the receiver's and end with the
  /// stream, so they are sealed at once, not when the window is asked for.
  private static List<LeasedBlock> sealed(LandedSlice landed, BlockScope scope) {
    if (!landed.header().endsWindow()) {
      return List.of();
    }
    DraftWindow window = landed.window();
    List<BlockDraft> drafts = window.drafts();
    List<LeasedBlock> leased = new ArrayList<>(drafts.size());
    for (int i = 0; i < drafts.size(); i++) {
      leased.add(new LeasedBlock(window.position(i), scope.adopt(drafts.get(i).seal())));
    }
    return leased;
  }

  private static List<List<LeasedBlock>> chunks(List<LeasedBlock> window, int maxBlocks) {
    if (window.size() <= maxBlocks) {
      return window.isEmpty() ? List.of() : List.of(window);
    }
    List<List<LeasedBlock>> chunks = new ArrayList<>();
    for (int i = 0; i < window.size(); i += maxBlocks) {
      chunks.add(window.subList(i, Math.min(i + maxBlocks, window.size())));
    }
    return chunks;
  }

  @Override
  protected void free() {
    receiver.end();
  }
}
