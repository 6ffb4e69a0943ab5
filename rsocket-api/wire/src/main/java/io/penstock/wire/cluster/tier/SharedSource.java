package io.penstock.wire.cluster.tier;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.tier.PutSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// The source of a put whose blocks several members get: each window is asked of the whole source once, and kept until
/// every reader has taken it or left. The next window is asked for after that, so the slowest reader bounds what is in
/// memory. Safe from any thread.
final class SharedSource {
  private final PutSource whole;
  private final BlockScope held;
  private @Nullable Mono<Void> begun;
  @GuardedBy("this") private final BitSet readers = new BitSet();
  @GuardedBy("this") private final List<Asking> waiting = new ArrayList<>();
  @GuardedBy("this") private final List<Kept> kept = new ArrayList<>();
  @GuardedBy("this") private boolean isProducing;
  @GuardedBy("this") private int windows;

  /// A reader that waits for a window.
  private record Asking(int reader, PutSource.Window window, MonoSink<List<LayerSlice>> sink) {
    int first() {
      return window.positions().isEmpty() ? 0 : window.positions().getFirst();
    }
  }

  /// Slices of a window, and the positions that each reader has not taken yet.
  ///
  /// @param maxSliceBytes most bytes of one of them
  private record Kept(List<LayerSlice> slices, int maxSliceBytes, Map<Integer, BitSet> owed) {
    boolean has(int reader, int position, int most) {
      BitSet mine = owed.get(reader);
      return mine != null && mine.get(position) && maxSliceBytes <= most;
    }

    /// Forgets what `reader` does not want.
    void drop(int reader, int from, int to) {
      BitSet mine = owed.get(reader);
      if (mine != null) {
        mine.clear(from, to);
        if (mine.isEmpty()) {
          owed.remove(reader);
        }
      }
    }
  }

  /// @param readers number of readers
  /// @param held owns what the whole source holds until the put ends
  SharedSource(PutSource whole, int readers, BlockScope held) {
    this.whole = whole;
    this.held = held;
    this.readers.set(0, readers);
  }

  /// The source for one reader, who takes all keys in order.
  Reader reader(int number) {
    return new Reader(number);
  }

  final class Reader implements PutSource {
    private final int number;
    private volatile boolean hasBegun;

    private Reader(int number) {
      this.number = number;
    }

    /// Whether a member has let the put begin.
    boolean hasBegun() {
      return hasBegun;
    }

    @Override
    public Mono<Void> begin(int blocks, BlockScope scope) {
      return Mono.defer(() -> {
        hasBegun = true;
        return begun(blocks);
      });
    }

    @Override
    public Flux<LayerSlice> window(Window window) {
      return Mono.<List<LayerSlice>>create(sink -> ask(new Asking(number, window, sink)))
          .flatMapMany(slices -> Flux.using(() -> new ArrayDeque<>(slices), SharedSource::emitted,
              SharedSource::closeAll));
    }

    /// Wants nothing more.
    void leave() {
      left(number);
    }
  }

  private static Flux<LayerSlice> emitted(Deque<LayerSlice> slices) {
    return Flux.generate(sink -> {
      LayerSlice next = slices.poll();
      if (next == null) {
        sink.complete();
      } else {
        sink.next(next);
      }
    });
  }

  private static void closeAll(Iterable<LayerSlice> slices) {
    slices.forEach(LayerSlice::close);
  }

  private synchronized Mono<Void> begun(int blocks) {
    Mono<Void> known = begun;
    if (known == null) {
      known = whole.begin(blocks, held).cache();
      begun = known;
    }
    return known;
  }

  private void ask(Asking asking) {
    asking.sink().onCancel(() -> forget(asking));
    List<Kept> over;
    synchronized (this) {
      kept.forEach(each -> each.drop(asking.reader(), 0, asking.first()));
      over = over();
      waiting.add(asking);
    }
    over.forEach(each -> closeAll(each.slices()));
    go();
  }

  private synchronized void forget(Asking asking) {
    waiting.remove(asking);
  }

  private void left(int reader) {
    List<Kept> over;
    synchronized (this) {
      readers.clear(reader);
      waiting.removeIf(asking -> asking.reader() == reader);
      kept.forEach(each -> each.owed().remove(reader));
      over = over();
    }
    over.forEach(each -> closeAll(each.slices()));
    go();
  }

  @GuardedBy("this") private List<Kept> over() {
    List<Kept> over = kept.stream().filter(each -> each.owed().isEmpty()).toList();
    kept.removeAll(over);
    return over;
  }

  /// Serves readers whose windows are kept, and asks for the next window when no other reader needs what is kept.
  private void go() {
    Asking served = null;
    List<LayerSlice> slices = List.of();
    PutSource.Window wanted = null;
    Asking first = null;
    List<Kept> over = List.of();
    synchronized (this) {
      for (Asking asking : waiting) {
        if (missing(asking).isEmpty()) {
          served = asking;
          break;
        }
      }
      if (served != null) {
        waiting.remove(served);
        slices = taken(served);
        over = over();
      } else if (!isProducing) {
        for (Asking asking : waiting) {
          if (mayProduce(asking) && (first == null || asking.first() < first.first())) {
            first = asking;
          }
        }
        if (first != null) {
          isProducing = true;
          wanted = window(first);
        }
      }
    }
    over.forEach(each -> closeAll(each.slices()));
    if (served != null) {
      served.sink().success(slices);
      go();
    } else if (first != null && wanted != null) {
      produce(first, wanted);
    }
  }

  /// Indexes in the window of an asking reader of what is not kept for it.
  @GuardedBy("this") private List<Integer> missing(Asking asking) {
    List<Integer> missing = new ArrayList<>();
    List<Integer> positions = asking.window().positions();
    for (int i = 0; i < positions.size(); i++) {
      int position = positions.get(i);
      if (kept.stream()
          .noneMatch(each -> each.has(asking.reader(), position, asking.window().maxSliceBytes()))) {
        missing.add(i);
      }
    }
    return missing;
  }

  @GuardedBy("this") private boolean mayProduce(Asking asking) {
    return kept.stream().allMatch(each -> each.owed().keySet().stream().allMatch(owed -> owed == asking.reader()));
  }

  @GuardedBy("this") private PutSource.Window window(Asking asking) {
    List<Integer> missing = missing(asking);
    List<Integer> positions = missing.stream().map(asking.window().positions()::get).toList();
    List<BlockKey> keys = missing.stream().map(asking.window().keys()::get).toList();
    return new PutSource.Window(windows++, positions, keys, asking.window().maxSliceBytes());
  }

  private void produce(Asking asking, PutSource.Window wanted) {
    List<LayerSlice> made = new ArrayList<>();
    whole.window(wanted).doOnNext(made::add).takeUntil(slice -> slice.place().remaining() == 0)
        .subscribe(slice -> {}, failure -> {
          closeAll(made);
          failed(asking, failure);
        }, () -> made(asking, wanted, made));
  }

  private void failed(Asking asking, Throwable failure) {
    synchronized (this) {
      isProducing = false;
      waiting.remove(asking);
    }
    asking.sink().error(failure);
    go();
  }

  private void made(Asking asking, PutSource.Window wanted, List<LayerSlice> slices) {
    BitSet positions = new BitSet();
    wanted.positions().forEach(positions::set);
    boolean isWanted;
    synchronized (this) {
      isProducing = false;
      Map<Integer, BitSet> owed = new HashMap<>();
      readers.stream().forEach(reader -> owed.put(reader, (BitSet) positions.clone()));
      if (!waiting.contains(asking)) {
        owed.remove(asking.reader());
      }
      waiting.forEach(other -> drop(owed, other));
      isWanted = !owed.isEmpty();
      if (isWanted) {
        kept.add(new Kept(slices, wanted.maxSliceBytes(), owed));
      }
    }
    if (!isWanted) {
      closeAll(slices);
    }
    go();
  }

  /// Those who wait for a later window do not want an earlier one any more.
  private static void drop(Map<Integer, BitSet> owed, Asking waits) {
    BitSet mine = owed.get(waits.reader());
    if (mine != null) {
      mine.clear(0, waits.first());
      if (mine.isEmpty()) {
        owed.remove(waits.reader());
      }
    }
  }

  /// Shares of what is kept for an asking reader, as slices of its window.
  @GuardedBy("this") private List<LayerSlice> taken(Asking asking) {
    BitSet wanted = new BitSet();
    asking.window().positions().forEach(wanted::set);
    List<Part> parts = new ArrayList<>();
    for (Kept each : kept) {
      BitSet mine = each.owed().get(asking.reader());
      if (mine == null || each.maxSliceBytes() > asking.window().maxSliceBytes()) {
        continue;
      }
      mine = (BitSet) mine.clone();
      mine.and(wanted);
      for (LayerSlice slice : each.slices()) {
        int[] of = IntStream.range(0, slice.spans().size())
            .filter(mineOf(mine, slice)).toArray();
        if (of.length > 0) {
          parts.add(new Part(slice, of));
        }
      }
      mine.stream().forEach(position -> each.drop(asking.reader(), position, position + 1));
    }
    List<LayerSlice> taken = new ArrayList<>(parts.size());
    for (int i = 0; i < parts.size(); i++) {
      taken.add(parts.get(i).share(new LayerSlice.Position(asking.window().index(), parts.size() - 1 - i)));
    }
    return taken;
  }

  private static IntPredicate mineOf(BitSet mine, LayerSlice slice) {
    return i -> mine.get(slice.position(i));
  }

  /// Some spans of a kept slice.
  private record Part(LayerSlice slice, int[] of) {
    LayerSlice share(LayerSlice.Position place) {
      List<LayerSpan> spans = new ArrayList<>(of.length);
      int[] positions = new int[of.length];
      for (int i = 0; i < of.length; i++) {
        spans.add(slice.spans().get(of[i]).share());
        positions[i] = slice.position(of[i]);
      }
      return new LayerSlice(place, slice.range(), positions, spans);
    }
  }
}
