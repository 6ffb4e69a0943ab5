package io.penstock.stack;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SliceShape;
import io.penstock.testkit.Blocks;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Reservation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;

/// A request of a [StackSimulation]: reads some keys, window by window or slice by slice, and puts what is missing, a
/// window at a time.
final class SimulatedRequest {
  final BlockScope scope = new BlockScope();
  private final StackSimulation simulation;
  private final Random random;
  private final List<BlockKey> asked;
  private final Reader reader;
  private final List<BlockKey> toPut = new ArrayList<>();
  private @Nullable Reservation reservation;
  private boolean reserving;

  SimulatedRequest(StackSimulation simulation) {
    this.simulation = simulation;
    this.random = simulation.random;
    List<BlockKey> some = new ArrayList<>(simulation.keys);
    Collections.shuffle(some, random);
    asked = List.copyOf(some.subList(0, 1 + random.nextInt(Math.min(6, some.size()))));
    Lease lease = Objects.requireNonNull(simulation.stack.lease(asked, OnMiss.ADMIT, scope).block());
    for (int i = 0; i < asked.size(); i++) {
      boolean hit = simulation.reference(asked.get(i));
      if (simulation.isExact()) {
        assertThat(lease.hits().get(i)).as("hit %d", i).isEqualTo(hit);
      }
    }
    lease.admitted().bits().stream().mapToObj(asked::get).forEach(toPut::add);
    reader = new Reader();
    if (random.nextBoolean()) {
      Flux<List<LeasedBlock>> windows = lease.windows(simulation.window, scope);
      windows.subscribe(reader);
    } else {
      SliceShape.Order order = SliceShape.Order.values()[random.nextInt(2)];
      SliceShape shape = new SliceShape(simulation.window, 64 + random.nextInt(400), order, 0);
      lease.slicedWindows(shape, scope).concatMap(opened -> opened.slices(0), random.nextInt(2)).subscribe(reader);
    }
  }

  boolean isOver() {
    return reader.over && toPut.isEmpty() && reservation == null && !reserving;
  }

  boolean canGoOn() {
    return reader.wants() || reservation != null || (!toPut.isEmpty() && !reserving);
  }

  void goOn() {
    if (simulation.leaves && random.nextInt(40) == 0) {
      leave();
    } else if (reservation != null && random.nextBoolean()) {
      commit(reservation);
    } else if (!toPut.isEmpty() && !reserving && reservation == null) {
      reserve();
    } else if (reader.wants()) {
      reader.request(1);
      reader.asked++;
    }
  }

  private void leave() {
    reader.cancel();
    end();
  }

  /// Gives everything back, as a reader does at the end of a failed stream: windows that wait unread hold memory.
  private void end() {
    reader.over = true;
    scope.close();
    toPut.clear();
    reservation = null; // it may have been granted by what the scope closed before it
    reserving = false;
  }

  private void reserve() {
    List<BlockKey> some = List.copyOf(toPut.subList(0, Math.min(simulation.window, toPut.size())));
    reserving = true;
    simulation.stack.reserve(some, scope).subscribe(granted -> {
      reserving = false;
      reservation = granted;
    }, error -> {
      reserving = false;
      toPut.clear();
      if (!scope.isClosed() && !simulation.mayEnd(error)) {
        throw new AssertionError(error);
      }
    });
  }

  private void commit(Reservation granted) {
    List<BlockDraft> drafts = granted.drafts();
    if (granted.isClosed()) { // the stack closed
      toPut.clear();
      reservation = null;
      return;
    }
    drafts.forEach(Blocks::produce);
    toPut.subList(0, Math.min(simulation.window, toPut.size())).clear();
    reservation = null;
    reserving = true;
    granted.commit(drafts).subscribe(receipts -> {
      reserving = false;
      granted.close();
    }, error -> {
      reserving = false;
      boolean left = granted.isClosed();
      granted.close();
      if (!left && !simulation.mayEnd(error)) {
        throw new AssertionError(error);
      }
    });
  }

  @Override
  public String toString() {
    return "request of %d: read %d of %s, put %d, reserving %s, writing %s".formatted(asked.size(), reader.seen,
        reader.over ? "all" : "?",
        toPut.size(), reserving, reservation != null);
  }

  private final class Reader extends BaseSubscriber<Object> {
    private long asked;
    private long seen;
    private boolean over;

    boolean wants() {
      return !over && asked == seen;
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      // asks when it goes on
    }

    @Override
    protected void hookOnNext(Object item) {
      seen++;
      if (item instanceof LayerSlice slice) {
        for (LayerSpan span : slice.spans()) {
          Blocks.assertBytes(span);
        }
        slice.close();
      } else {
        for (Object each : (List<?>) item) {
          try (Block block = ((LeasedBlock) each).block()) {
            Blocks.assertBytes(block);
          }
        }
      }
    }

    @Override
    protected void hookOnError(Throwable error) {
      end();
      if (!simulation.mayEnd(error)) {
        throw new AssertionError(error);
      }
    }

    @Override
    protected void hookOnComplete() {
      over = true;
    }
  }
}
