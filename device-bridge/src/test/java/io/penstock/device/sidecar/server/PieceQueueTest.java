package io.penstock.device.sidecar.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Owned;
import io.penstock.device.sidecar.ScarceThreads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

@Timeout(60)
final class PieceQueueTest {
  private static final int SECONDS = 20;

  private final ScarceThreads workers = new ScarceThreads(Schedulers.immediate());
  private final PieceQueue work = new PieceQueue(workers, 2);
  private final List<String> made = new ArrayList<>();

  PieceQueueTest() {
    workers.hold();
  }

  /// A hold on nothing.
  private static Owned nothing() {
    return new RefCount(() -> {}).share();
  }

  /// Calls of one piece each.
  private void add(int pieces) {
    for (int i = 0; i < pieces; i++) {
      add(work, () -> made.add("piece"));
    }
  }

  private void add(PieceQueue to, Runnable... pieces) {
    to.on(List.of(pieces), nothing()).subscribe(nothing -> {}, error -> made.add(error.getClass().getSimpleName()));
  }

  @Test
  void pieces_ofNoReader_areMadeByHands() {
    add(3);
    assertThat(made).isEmpty();
    workers.run();
    assertThat(made).hasSize(3);
    add(3);
    workers.run();
    assertThat(made).hasSize(6);
  }

  @Test
  void pieces_ofAReader_areMadeByHim_untilThereAreNone() {
    work.read(spare -> {
      assertThat(spare.getAsBoolean()).as("nothing to do").isFalse();
      add(3);
      assertThat(made).isEmpty();
      assertThat(spare.getAsBoolean()).isTrue();
      assertThat(spare.getAsBoolean()).isTrue();
      assertThat(spare.getAsBoolean()).isFalse();
      assertThat(made).hasSize(3);
      add(1);
      assertThat(spare.getAsBoolean()).isFalse();
      assertThat(made).hasSize(4);
    });
  }

  @Test
  void pieces_ofAReaderWhoGoes_areMadeByHands_andKeepHimNoLonger() {
    work.read(spare -> add(1));
    assertThat(made).isEmpty();
    workers.run();
    assertThat(made).hasSize(1);
    work.read(spare -> add(3));
    workers.run();
    assertThat(made).hasSize(4);
  }

  @Test
  void reader_takesNothing_whereEnoughAreAtIt() {
    add(3);
    work.read(spare -> {
      add(1);
      assertThat(spare.getAsBoolean()).isFalse();
      assertThat(made).isEmpty();
    });
    workers.run();
    assertThat(made).hasSize(4);
  }

  @Test
  void call_ofSeveralPieces_endsOnce_afterAll_andWhatItHeldIsLetGoBefore() {
    work.on(List.of(() -> made.add("one"), () -> made.add("two")), new RefCount(() -> made.add("let go")).share())
        .subscribe(nothing -> {}, error -> {}, () -> made.add("end"));
    workers.run();
    assertThat(made).containsExactly("one", "two", "let go", "end");
  }

  @Test
  void call_whosePieceBreaks_endsWithThat_afterItsOtherPieces() {
    Runnable breaks = () -> {
      throw new StackOverflowError("as told");
    };
    add(work, breaks, () -> made.add("one"), () -> {
      throw new IllegalStateException("later");
    }, () -> made.add("two"));
    workers.run();
    assertThat(made).containsExactly("one", "two", "StackOverflowError");
  }

  @Test
  void call_thatIsCancelled_isMade_andHoldsWhatItNeedsUntilThen() {
    Disposable call =
        work.on(List.of(() -> made.add("one"), () -> made.add("two")), new RefCount(() -> made.add("let go")).share())
            .subscribe(nothing -> {}, error -> {}, () -> made.add("end"));
    call.dispose();
    assertThat(made).isEmpty();
    workers.run();
    assertThat(made).containsExactly("one", "two", "let go");
  }

  @Test
  void call_withoutAThread_isOneError_andLetsGo() {
    workers.none();
    work.on(List.of(() -> made.add("one"), () -> made.add("two")), new RefCount(() -> made.add("let go")).share())
        .subscribe(nothing -> {}, error -> made.add(error.getClass().getSimpleName()));
    assertThat(made).containsExactly("let go", "OutOfMemoryError");
  }

  @Test
  void hand_thatHasMadeSixteen_letsOthersGoFirst() {
    PieceQueue single = new PieceQueue(workers, 1);
    IntStream.range(0, 20).forEach(i -> add(single, () -> made.add("piece")));
    workers.schedule(() -> made.add("other work"));
    workers.run();
    assertThat(made).hasSize(21);
    assertThat(made.indexOf("other work")).isEqualTo(16);
  }

  @Test
  void piece_thatBreaks_endsItself_andNoOther() {
    add(work, () -> {
      throw new StackOverflowError("as told");
    });
    add(1);
    workers.run();
    assertThat(made).containsExactly("StackOverflowError", "piece");
  }

  @Test
  void pieces_withoutAThread_end_andLaterOnesAreMade() {
    workers.none();
    add(2);
    assertThat(made).containsExactly("OutOfMemoryError", "OutOfMemoryError");
    work.read(spare -> add(1));
    assertThat(made).hasSize(3).last().isEqualTo("piece");
    workers.again();
    add(3);
    workers.run();
    assertThat(made).hasSize(6).endsWith("piece", "piece", "piece");
  }

  @Test
  void pieceThatComes_whileAThreadIsAskedForInVain_isMade() {
    PieceQueue single = new PieceQueue(workers, 1);
    workers.none();
    workers.onAsked(() -> add(single, () -> made.add("another")));
    add(single, () -> made.add("piece"));
    assertThat(made).containsExactly("OutOfMemoryError", "another");
  }

  @Test
  void pieces_whoseThreadsGoMeanwhile_areMade() {
    add(3);
    add(work, workers::none);
    add(3);
    workers.run();
    assertThat(made).hasSize(6).containsOnly("piece");
  }

  @Test
  void pieces_ofManyThreads_areEachMadeOnce() throws InterruptedException {
    int threads = 4;
    int each = 20_000;
    Scheduler real = Schedulers.newBoundedElastic(2, 1_000_000, "workers", 60, true);
    PieceQueue shared = new PieceQueue(real, 2);
    AtomicIntegerArray runs = new AtomicIntegerArray(threads * each);
    AtomicInteger atOnce = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch ended = new CountDownLatch(threads * each);
    List<Thread> started =
        IntStream.range(0, threads).mapToObj(thread -> Thread.ofPlatform().start(() -> shared.read(spare -> {
          for (int i = 0; i < each; i++) {
            int number = thread * each + i;
            shared.on(List.of(() -> {
              most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
              atOnce.decrementAndGet();
              runs.incrementAndGet(number);
            }), nothing()).subscribe(nothing -> {}, error -> {}, ended::countDown);
            while (thread > 1 && spare.getAsBoolean()) {
              Thread.onSpinWait();
            }
          }
          while (spare.getAsBoolean()) {
            Thread.onSpinWait();
          }
        }))).toList();
    for (Thread thread : started) {
      thread.join();
    }
    assertThat(ended.await(SECONDS, TimeUnit.SECONDS)).as("all ended").isTrue();
    assertThat(IntStream.range(0, runs.length()).map(runs::get)).containsOnly(1);
    assertThat(most.get()).isLessThanOrEqualTo(2);
    real.dispose();
  }
}
