package io.penstock.stage;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockScope;
import io.penstock.block.Checks;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.Owned;
import io.penstock.block.SlicePosition;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;

/// Gives every element of one source to several destinations, each with its own demand.
///
/// | | |
/// |---|---|
/// | starts | subscribes to the source once, when every destination has subscribed; a destination takes one subscriber |
/// | order | of the source, at every destination; nothing is left out |
/// | backpressure | one element is pulled when some destination wants more than waits for it and, with `HOLD`, none is full; prefetch 1 |
/// | slow | what a slow destination has not asked for waits for it, within `lagElements` and `lagBytes`; then as `whenFull` says |
/// | ownership | takes over the elements; every destination gets its own share, owned by its scope |
/// | cancel | a destination leaves, what waits for it is freed, nobody else notices; the last one to leave cancels the source |
/// | threads | the source's, or the requesting one; a destination that is slow by blocking its thread hops first, with `publishOn` |
/// | signals | completion and errors of the source reach every destination after the elements before them; [LaggedException] |
public final class FanOut {
  private FanOut() {}

  /// Fans out elements that nobody owns, such as keys and receipts.
  ///
  /// @param weigher bytes of an element; must answer the same each time
  public static <T> List<Flux<T>> of(Flux<T> source, int destinations, ToLongFunction<? super T> weigher,
      FanOutOptions options) {
    Checks.positive("destinations", destinations);
    return fanOut(source, IntStream.range(0, destinations).mapToObj(i -> UnaryOperator.<T>identity()).toList(),
        element -> {}, weigher, options);
  }

  /// Fans out blocks.
  ///
  /// @param scopes for each destination the scope that owns its shares
  public static List<Flux<Block>> blocks(Flux<Block> source, List<BlockScope> scopes, FanOutOptions options) {
    return fanOut(source, shares(scopes, Block::share), Block::close, block -> block.layout().blockBytes(), options);
  }

  /// Fans out slices.
  ///
  /// @param scopes for each destination the scope that owns its shares
  public static List<Flux<LayerSlice>> slices(Flux<LayerSlice> source, List<BlockScope> scopes, FanOutOptions options) {
    return fanOut(source, shares(scopes, FanOut::share), LayerSlice::close, LayerSlice::bytes, options);
  }

  private static <T> List<Flux<T>> fanOut(Flux<T> source, List<UnaryOperator<T>> shares, Consumer<T> release,
      ToLongFunction<? super T> weigher, FanOutOptions options) {
    requireNonNull(source, "source");
    requireNonNull(weigher, "weigher");
    requireNonNull(options, "options");
    if (shares.isEmpty()) {
      throw new IllegalArgumentException("destinations must be > 0 (was 0)");
    }
    return List.copyOf(new FanOutHub<>(source, shares, release, weigher, options).branches());
  }

  private static <T extends Owned> List<UnaryOperator<T>> shares(List<BlockScope> scopes, UnaryOperator<T> share) {
    List<UnaryOperator<T>> shares = new ArrayList<>(scopes.size());
    for (BlockScope scope : scopes) {
      shares.add(element -> scope.adopt(share.apply(element)));
    }
    return shares;
  }

  private static LayerSlice share(LayerSlice slice) {
    List<LayerSpan> spans = new ArrayList<>(slice.spans().size());
    try {
      for (LayerSpan span : slice.spans()) {
        spans.add(span.share());
      }
    } catch (RuntimeException e) { // the slice was closed by its scope
      spans.forEach(LayerSpan::close);
      throw e;
    }
    SlicePosition place = slice.place();
    return new LayerSlice(place, slice.range(), IntStream.range(0, spans.size()).map(slice::position).toArray(), spans);
  }
}
