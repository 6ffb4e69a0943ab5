package io.penstock.wire.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.Block;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.budget.Permits;
import io.penstock.carrier.InlineCarrier;
import io.penstock.testkit.Blocks;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.BudgetLane;
import io.penstock.wire.credit.ConnectionRate;
import io.penstock.wire.credit.NodeBudget;
import io.penstock.wire.credit.Rates;
import io.penstock.wire.slice.InFlight;
import io.penstock.wire.slice.SliceFraming;
import io.penstock.wire.slice.SliceGate;
import io.rsocket.Payload;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.test.scheduler.VirtualTimeScheduler;

/// Whose wait it was, in virtual time: a stream whose slices wait for room in the byte budget of the node.
final class WaitCulpritsTest {
  private static final CacheSpace SPACE =
      CacheSpace.of("culprits", BlockLayout.attention(8, 16, 2, 64, ElementType.BF16));
  private static final int SLICE = SPACE.layout().blockBytes();
  private static final int SLICES = 4;
  /// Slices that leave the node at a time, over all readers.
  private static final int OUT = 6;

  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final List<StreamListener.Report> reports = new ArrayList<>();
  private final NodeBudget node = new NodeBudget(new Permits("node", (OUT + 2L) * SLICE, 64), SLICE);
  private final BudgetLane others = node.out().part("others", node.out().share(), 64, 1_000);
  private final SlabArena arena = new SlabArena("node", SPACE.layout(), 1, 1);
  private final Block block = Blocks.block(arena, Blocks.keys(SPACE, 0, 1).getFirst());
  private final Socket socket = new Socket();

  /// A socket that keeps what it was given until the reader takes it.
  private static final class Socket extends BaseSubscriber<Payload> {
    private final ArrayDeque<Payload> held = new ArrayDeque<>();
    private long credit = Long.MAX_VALUE;

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      request(credit);
    }

    @Override
    protected void hookOnNext(Payload payload) {
      held.add(payload);
    }

    void take() {
      held.remove().release();
    }
  }

  private void stream(Budget window) {
    GranuleRange all = GranuleRange.all(SPACE.layout());
    Flux<LayerSlice> slices = Flux.range(1, SLICES).map(number -> new LayerSlice(
        new LayerSlice.Position(0, SLICES - number), all, new int[] {0}, List.of(block.span(all))));
    SliceFraming framing = new SliceFraming(SPACE.id(), SPACE.layout(), UnpooledByteBufAllocator.DEFAULT,
        InlineCarrier.INSTANCE, Carried.UNCOUNTED, SLICE, false, window);
    StreamClock clock =
        StreamClock.of(reports::add, () -> time.now(TimeUnit.NANOSECONDS), "penstock.v1.get", "reader", true);
    SliceGate.of(slices, framing, null, new InFlight(), null, clock).subscribe(socket);
  }

  private void pass(int seconds) {
    time.advanceTimeBy(Duration.ofSeconds(seconds));
  }

  private void takeAll() {
    while (!socket.held.isEmpty()) {
      socket.take();
    }
  }

  /// Seconds of the one stream by culprit, without those of no time.
  private Map<String, Long> waits() {
    assertThat(reports).hasSize(1);
    Map<String, Long> waits = reports.getFirst().byCulprit();
    waits.values().removeIf(nanos -> nanos == 0);
    waits.replaceAll((culprit, nanos) -> TimeUnit.NANOSECONDS.toSeconds(nanos));
    return waits;
  }

  @AfterEach
  void nothingIsLeft() {
    takeAll();
    assertThat(node.permits().inUse()).isZero();
    block.close();
    arena.close();
    time.dispose();
  }

  /// The reader gave all the credit there is, and takes nothing: its own bytes lie in the budget.
  @Test
  void readerThatDoesNotTakeItsBytes_isTheCulprit_notTheBudget() {
    stream(node.out().part("others", node.out().share(), 64, 1_000).part("send window", 2L * SLICE, 8, 1_000));
    assertThat(socket.held).as("the send window is full").hasSize(2);
    pass(10);
    socket.take();
    pass(4);
    takeAll();

    assertThat(waits()).isEqualTo(Map.of("reader", 14L));
  }

  @Test
  void othersThatHoldTheBudget_areTheCulprit_whereTheReaderHoldsNothing() {
    assertThat(others.tryAcquire((long) OUT * SLICE)).isTrue();
    stream(node.out().part("others", node.out().share(), 64, 1_000).part("send window", 2L * SLICE, 8, 1_000));
    assertThat(socket.held).isEmpty();
    pass(7);
    others.release((long) OUT * SLICE);
    takeAll();

    assertThat(waits()).isEqualTo(Map.of("budget", 7L));
  }

  /// First the reader keeps its bytes; then it takes them, and another client, which was first in the queue, gets the
  /// room.
  @Test
  void oneWait_isDividedAtTheMomentWhenItsCulpritChanges() {
    assertThat(others.tryAcquire((OUT - 1L) * SLICE)).isTrue();
    stream(node.out().part("others", node.out().share(), 64, 1_000).part("send window", 4L * SLICE, 8, 1_000));
    assertThat(socket.held).hasSize(1);
    pass(3);
    int[] granted = new int[1];
    node.permits().acquire(3L * SLICE, () -> granted[0]++);
    socket.take();
    assertThat(granted[0]).isOne();
    pass(5);
    node.permits().release(3L * SLICE);
    others.release((OUT - 1L) * SLICE);
    takeAll();

    assertThat(waits()).isEqualTo(Map.of("reader", 3L, "budget", 5L));
  }

  @Test
  void rateOfTheConnection_isACulpritOfItsOwn() {
    ConnectionRate rate = new ConnectionRate(new Rates(0, SLICE), time, StreamListener.noop());
    stream(rate
        .outgoing(node.out().part("others", node.out().share(), 64, 1_000).part("send window", 4L * SLICE, 8, 1_000)));
    for (int second = 0; second < SLICES; second++) {
      takeAll();
      pass(1);
    }
    takeAll();

    assertThat(waits()).isEqualTo(Map.of("rate", SLICES - 1L));
  }

  @Test
  void readerThatGivesNoCredit_isTheCulprit() {
    socket.credit = 1;
    stream(node.out().part("others", node.out().share(), 64, 1_000));
    assertThat(socket.held).hasSize(1);
    pass(6);
    socket.request(SLICES);
    takeAll();

    assertThat(waits()).isEqualTo(Map.of("reader", 6L));
  }
}
