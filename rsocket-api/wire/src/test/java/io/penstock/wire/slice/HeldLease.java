package io.penstock.wire.slice;

import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.SliceShape;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.LeasedWindow;
import io.penstock.tier.spi.ForwardingLease;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// A lease of a real tier that is held up at each of its stages until it is told to go on.
final class HeldLease extends ForwardingLease {
  enum Stage {
    LEASE,
    WINDOW,
    SLICE
  }

  /// Where leases wait, and how often each stage was reached.
  static final class Gates {
    private final Map<Stage, Sinks.Empty<Void>> gates = new EnumMap<>(Stage.class);
    private final Map<Stage, Integer> reached = new EnumMap<>(Stage.class);
    /// How windows are cut, whatever was asked for; null for as asked.
    @Nullable SliceShape shape;

    /// Whether slices are made, and given when [#late] runs, cancelled or not.
    boolean areLate;
    Runnable late = () -> {};

    /// Holds up whatever reaches `stage`, from now on.
    Sinks.Empty<Void> hold(Stage stage) {
      Sinks.Empty<Void> gate = Sinks.empty();
      gates.put(stage, gate);
      return gate;
    }

    int reached(Stage stage) {
      return reached.getOrDefault(stage, 0);
    }

    private <T> Flux<T> through(Stage stage, Flux<T> then) {
      return Flux.defer(() -> {
        reached.merge(stage, 1, Integer::sum);
        Sinks.Empty<Void> gate = gates.get(stage);
        return gate == null ? then : gate.asMono().thenMany(then);
      });
    }

    private Flux<LayerSlice> late(Flux<LayerSlice> slices) {
      return Flux.from(subscriber -> slices.subscribe(new BaseSubscriber<>() {
        @Override
        protected void hookOnSubscribe(Subscription subscription) {
          subscriber.onSubscribe(new Subscription() {
            @Override
            public void request(long n) {
              subscription.request(n);
            }

            @Override
            public void cancel() {
              // comes too late
            }
          });
        }

        @Override
        protected void hookOnNext(LayerSlice slice) {
          late = () -> subscriber.onNext(slice);
        }
      }));
    }

    /// `lease`, when it may come.
    Mono<Lease> lease(Mono<Lease> lease) {
      return through(Stage.LEASE, lease.flux()).next().map(open -> new HeldLease(open, this));
    }
  }

  private final Lease lease;
  private final Gates gates;

  private HeldLease(Lease lease, Gates gates) {
    super(lease);
    this.lease = lease;
    this.gates = gates;
  }

  @Override
  public Lease unverified() {
    return new HeldLease(lease.unverified(), gates);
  }

  @Override
  public Flux<LeasedWindow> slicedWindows(SliceShape shape, BlockScope scope) {
    SliceShape cut = gates.shape == null ? shape : gates.shape;
    return gates.through(Stage.WINDOW, lease.slicedWindows(cut, scope)).map(window -> new HeldWindow(window, gates));
  }

  private static final class HeldWindow extends LeasedWindow {
    private final LeasedWindow window;
    private final Gates gates;

    HeldWindow(LeasedWindow window, Gates gates) {
      this.window = window;
      this.gates = gates;
    }

    @Override
    public int size() {
      return window.size();
    }

    @Override
    protected Flux<LayerSlice> transferred(int number) {
      return gates.areLate ? gates.late(window.slices(number)) : gates.through(Stage.SLICE, window.slices(number));
    }

    @Override
    public Mono<List<LeasedBlock>> blocks(BlockScope scope) {
      return window.blocks(scope);
    }

    @Override
    protected void free() {
      window.close();
    }
  }
}
