package io.penstock.wire.cluster.tier;

import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.tier.PutSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The source of a put of which one member gets a part of the keys: it is asked by the positions of the whole put, and
/// answers the member by those of the part.
final class PartSource implements PutSource {
  private final PutSource whole;
  private final int[] positions;
  private final int firstWindow;
  private final Map<Integer, Integer> inPart = new HashMap<>();
  private volatile boolean begun;
  private volatile int nextWindow;

  /// @param positions in the whole put of the keys of the part
  /// @param firstWindow number of windows of the whole put before those of the part
  PartSource(PutSource whole, int[] positions, int firstWindow) {
    this.whole = whole;
    this.positions = positions;
    this.firstWindow = firstWindow;
    this.nextWindow = firstWindow;
    for (int i = 0; i < positions.length; i++) {
      inPart.put(positions[i], i);
    }
  }

  /// Whether a member has let the put begin: no other can take it over then.
  boolean hasBegun() {
    return begun;
  }

  /// Number of windows of the whole put up to now.
  int nextWindow() {
    return nextWindow;
  }

  @Override
  public Mono<Void> begin(int blocks, BlockScope scope) {
    return Mono.defer(() -> {
      begun = true;
      return whole.begin(blocks, scope);
    });
  }

  @Override
  public Flux<LayerSlice> window(Window window) {
    List<Integer> asked = window.positions().stream().map(position -> positions[position]).toList();
    int number = firstWindow + window.index();
    nextWindow = number + 1;
    return whole.window(new Window(number, asked, window.keys(), window.maxSliceBytes()))
        .map(slice -> part(slice, window.index()));
  }

  private LayerSlice part(LayerSlice slice, int window) {
    int[] named = new int[slice.spans().size()];
    for (int i = 0; i < named.length; i++) {
      Integer position = inPart.get(slice.position(i));
      if (position == null) {
        int strange = slice.position(i);
        slice.close();
        throw new IllegalArgumentException("slice must be of the window's positions (was of " + strange + ")");
      }
      named[i] = position;
    }
    return slice.renamed(new LayerSlice.Position(window, slice.place().remaining()), named);
  }
}
