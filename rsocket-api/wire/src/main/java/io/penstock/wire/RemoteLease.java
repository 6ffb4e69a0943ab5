package io.penstock.wire;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.tier.Lease;
import io.penstock.tier.Leased;
import io.penstock.tier.Presence;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/// A lease on the blocks of a remote node; its bytes come as slices, each verified and landed in the client's arena.
public final class RemoteLease extends Lease {
  /// Slices that [#windows] asks for before it has joined them.
  private static final int WINDOWS_PREFETCH = 16;

  private final GetReceiver receiver;
  private final Mono<Void> drain;
  private final Presence hits;
  private final Presence found;
  private final Presence admitted;
  private final Presence awaited;

  RemoteLease(GetReceiver receiver, Mono<Void> drain, Messages.Found decision) {
    this.receiver = receiver;
    this.drain = drain;
    this.hits = decision.hits().presence();
    this.found = decision.found().presence();
    this.admitted = decision.admitted().presence();
    this.awaited = decision.awaited().presence();
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

  /// The leased blocks as slices, in the order the server sends them: found blocks first, then awaited ones, layer by layer in a window.
  ///
  /// | | |
  /// |---|---|
  /// | backpressure | slices; the network is asked for what was requested here, never more than the credit option |
  /// | cancel | ends the lease; frees what landed and was not emitted |
  /// | threads | the connection's event loop, or the thread whose request or release let it go on |
  /// | signals | [io.penstock.block.BlockCorruptException], [WireFormatException], [ConnectionLostException], [RemoteTransientException], [RemotePermanentException] |
  ///
  /// @param scope owns the slices emitted; close each when read, or memory is held until the scope ends
  /// @return a stream for one subscriber, instead of [#windows]
  public Flux<LayerSlice> slices(BlockScope scope) {
    Map<BlockDraft, Boolean> window = new LinkedHashMap<>();
    return landed().map(landed -> {
      LayerSlice slice = scope.adopt(slice(landed));
      landed.drafts().forEach(draft -> window.put(draft, true));
      if (landed.header().endsWindow()) { // the spans keep the memory
        window.keySet().forEach(BlockDraft::close);
        window.clear();
      }
      return slice;
    });
  }

  @Override
  public Flux<List<Leased>> windows(int maxBlocks, BlockScope scope) {
    if (maxBlocks <= 0) {
      throw new IllegalArgumentException("maxBlocks must be > 0 (was " + maxBlocks + ")");
    }
    if (receiver.startLayer() > 0) {
      throw new IllegalStateException("startLayer must be 0 to get whole blocks (was " + receiver.startLayer() + ")");
    }
    Map<Integer, BlockDraft> window = new LinkedHashMap<>();
    return landed().map(landed -> sealed(landed, window, scope)).limitRate(WINDOWS_PREFETCH)
        .concatMapIterable(blocks -> chunks(blocks, maxBlocks), 1);
  }

  /// Completes when the server holds nothing of this stream any more, neither memory nor frames: after it a cancelled stream is over on
  /// both sides.
  public Mono<Void> drained() {
    return drain;
  }

  private Flux<GetReceiver.Landed> landed() {
    return Flux.from(subscriber -> receiver.read(Operators.toCoreSubscriber(subscriber)));
  }

  private static LayerSlice slice(GetReceiver.Landed landed) {
    List<LayerSpan> spans = new ArrayList<>(landed.drafts().size());
    try {
      for (BlockDraft draft : landed.drafts()) {
        spans.add(draft.span(landed.header().range()));
      }
      return new LayerSlice(landed.header().place(), landed.header().range(), landed.header().positions(), spans);
    } catch (RuntimeException e) {
      spans.forEach(LayerSpan::close);
      throw e;
    }
  }

  /// The blocks of a window when its last slice has landed, before nothing. Drafts are the receiver's and end with the stream, so they
  /// are sealed at once, not when somebody asks for the window.
  private static List<Leased> sealed(GetReceiver.Landed landed, Map<Integer, BlockDraft> window, BlockScope scope) {
    for (int i = 0; i < landed.drafts().size(); i++) {
      window.put(landed.header().positions()[i], landed.drafts().get(i));
    }
    if (!landed.header().endsWindow()) {
      return List.of();
    }
    List<Leased> leased = new ArrayList<>(window.size());
    window.forEach((position, draft) -> leased.add(new Leased(position, scope.adopt(draft.seal()))));
    window.clear();
    return leased;
  }

  private static List<List<Leased>> chunks(List<Leased> window, int maxBlocks) {
    List<List<Leased>> chunks = new ArrayList<>();
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
