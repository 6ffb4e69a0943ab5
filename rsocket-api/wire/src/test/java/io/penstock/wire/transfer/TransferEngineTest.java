package io.penstock.wire.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import io.penstock.budget.BudgetExhaustedException;
import io.penstock.testkit.Eventually;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

/// The engine over peers whose operations end when the test says so, in virtual time.
final class TransferEngineTest {
  private static final Duration MOST_BACKOFF = Duration.ofMillis(20);

  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory = arena.allocate(1 << 12);
  private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
  private final FakePeer peer = new FakePeer(Map.of("kv", memory));
  private final FakePeer other = new FakePeer(Map.of("kv", memory));
  private TransferEngine engine = engine(TransferOptions.defaults().withLane(2, 1 << 20).withQueuedItems(8));

  private TransferEngine engine(TransferOptions options) {
    return new TransferEngine(options,
        (address, number) -> (address.equals("peer") ? peer : other).connect(address, number), time,
        new SplittableRandom(5));
  }

  @AfterEach
  void free() {
    arena.close();
  }

  private TransferBatch.Builder reads(int count) {
    TransferBatch.Builder batch = TransferBatch.builder();
    for (int i = 0; i < count; i++) {
      batch.read("peer", "kv", i, memory.asSlice(i, 1));
    }
    return batch;
  }

  private static Throwable lost() {
    return new TransientKvException("lost");
  }

  @Test
  void results_comeInTheOrderOfTheirEnds_asDemanded() {
    Transfer transfer = engine.submit(reads(2).build());
    StepVerifier.create(transfer.results().map(Transfer.ItemResult::index), 0)
        .then(() -> peer.calls.get(1).end(null))
        .thenRequest(1).expectNext(1)
        .then(() -> peer.calls.get(0).end(null))
        .thenRequest(1).expectNext(0)
        .verifyComplete();
    StepVerifier.create(transfer.done()).assertNext(all -> {
      assertThat(all.isWhole()).isTrue();
      assertThat(all.bytes()).isEqualTo(2);
    }).verifyComplete();
  }

  @Test
  void lane_boundsItemsAndBytes_theOthersWaitInOrder() {
    engine = engine(TransferOptions.defaults().withLane(2, 100));
    Transfer transfer = engine.submit(TransferBatch.builder().read("peer", "kv", 0, memory.asSlice(0, 60))
        .read("peer", "kv", 0, memory.asSlice(0, 41)).read("peer", "kv", 0, memory.asSlice(0, 1000))
        .read("peer", "kv", 0, memory.asSlice(0, 1)).build());

    assertThat(peer.open()).extracting(call -> call.bytes).containsExactly(60L);
    assertThat(transfer.state(1)).isEqualTo(TransferState.WAITING);
    peer.calls.get(0).end(null);
    assertThat(peer.open()).extracting(call -> call.bytes).containsExactly(41L);
    peer.calls.get(1).end(null);
    assertThat(peer.open()).as("one that is larger than the lane goes alone").extracting(call -> call.bytes)
        .containsExactly(1000L);
  }

  @Test
  void smallItems_goTogether_onceTheConnectionIsThere() {
    peer.groupBytes = 4;
    engine = engine(TransferOptions.defaults().withLane(2, 1 << 20));
    engine.segments("peer").block();

    Transfer transfer = engine.submit(reads(9).read("peer", "kv", 0, memory.asSlice(0, 3))
        .write("peer", "kv", 0, memory.asSlice(0, 1)).write("peer", "kv", 1, memory.asSlice(1, 1)).build());

    assertThat(peer.open()).as("two places").extracting(call -> call.ranges.size()).containsExactly(4, 4);
    peer.calls.get(0).end(null);
    assertThat(transfer.state(3)).isEqualTo(TransferState.COMPLETED);
    assertThat(peer.open()).as("a small one alone behind the group").extracting(call -> call.bytes)
        .containsExactly(4L, 1L);
    peer.calls.get(1).end(null);
    assertThat(peer.open()).as("no writes with reads").extracting(call -> call.bytes).containsExactly(1L, 3L, 2L);
  }

  @Test
  void groupThatIsRefused_goesOn_oneByOne() {
    peer.groupBytes = 4;
    engine.segments("peer").block();
    Transfer transfer = engine.submit(reads(3).build());

    peer.calls.get(0).end(new PermanentKvException("one of them"));

    assertThat(peer.open()).extracting(call -> call.offset).containsExactly(0L, 1L, 2L);
    peer.calls.get(1).end(null);
    peer.calls.get(2).end(new PermanentKvException("this one"));
    peer.calls.get(3).end(null);
    assertThat(transfer.done().block().counts())
        .isEqualTo(Map.of(TransferState.COMPLETED, 2, TransferState.FAILED, 1));
  }

  @Test
  void itemOfAGroup_thatIsStopped_doesNotStopTheOthers() {
    peer.groupBytes = 4;
    peer.quickToStop = true;
    engine = engine(TransferOptions.defaults().withLane(1, 1 << 20));
    engine.segments("peer").block();
    engine.submit(reads(4).build());
    Transfer first = engine.submit(reads(2).build());
    Transfer second = engine.submit(reads(2).build());
    peer.calls.get(0).end(null);
    assertThat(peer.open()).extracting(call -> call.ranges.size()).containsExactly(4);

    first.cancel();

    assertThat(first.state(0)).isEqualTo(TransferState.CANCELLED);
    assertThat(peer.open()).extracting(call -> call.ranges.size()).containsExactly(1, 1);
    peer.open().forEach(call -> call.end(null));
    assertThat(second.done().block().isWhole()).isTrue();
  }

  @Test
  void unusedPeer_isForgotten() {
    engine.submit(reads(1).build());
    peer.calls.get(0).end(null);
    assertThat(engine.stat().peers()).isEqualTo(1);

    time.advanceTimeBy(Duration.ofSeconds(60));

    assertThat(engine.stat().peers()).isZero();
    peer.refusal = lost();
    engine.submit(reads(1).build());
    time.advanceTimeBy(MOST_BACKOFF);
    assertThat(engine.stat().peers()).as("after two refusals").isZero();
  }

  @Test
  void peerWhoseIdleConnectionIsLost_isForgotten() {
    engine.submit(reads(1).build());
    peer.calls.get(0).end(null);
    peer.links.getFirst().close();

    assertThat(engine.stat().peers()).isZero();
  }

  @Test
  void destinationThatStandsStill_keepsNoOtherBack() {
    TransferBatch.Builder batch = reads(4);
    for (int i = 0; i < 4; i++) {
      batch.write("other", "kv", i, memory.asSlice(i, 1));
    }
    Transfer transfer = engine.submit(batch.notifying("done").build());

    while (!other.open().isEmpty()) {
      other.open().getFirst().end(null);
    }

    assertThat(other.letters).hasSize(1);
    assertThat(peer.open()).hasSize(2);
    assertThat(transfer.state(7)).isEqualTo(TransferState.COMPLETED);
    assertThat(transfer.state(3)).isEqualTo(TransferState.WAITING);
  }

  @Test
  void secondAttempt_comesAfterABackoff_andAForcedRefresh() {
    CompletableFuture<Transfer.BatchResult> done = engine.submit(reads(1).build()).done().toFuture();
    assertThat(peer.described).isEqualTo(1);

    peer.calls.get(0).end(lost());
    time.advanceTimeBy(Duration.ofNanos(9_999_999));
    assertThat(peer.calls).hasSize(1);
    time.advanceTimeBy(MOST_BACKOFF);

    assertThat(peer.calls).hasSize(2);
    assertThat(peer.described).isEqualTo(2);
    assertThat(peer.links).hasSize(1);
    peer.calls.get(1).end(lost());
    assertThat(done.join().count(TransferState.FAILED)).isEqualTo(1);
    assertThat(done.join().firstError()).hasMessage("lost");
    assertThat(peer.calls).hasSize(2);
  }

  /// An item hears of the loss before its connection has told of its end: the second attempt gets a new one.
  @Test
  void secondAttempt_isNotSpentOnALostConnection() {
    Transfer transfer = engine.submit(reads(1).build());
    peer.links.get(0).isOver = true;

    peer.calls.get(0).end(lost());
    time.advanceTimeBy(MOST_BACKOFF);
    peer.calls.get(1).end(null);

    assertThat(peer.links).hasSize(2);
    assertThat(peer.links.get(0).isClosed).isTrue();
    assertThat(transfer.state(0)).isEqualTo(TransferState.COMPLETED);
  }

  @Test
  void permanentFailure_isNotTriedAgain() {
    Transfer transfer = engine.submit(reads(1).build());

    peer.calls.get(0).end(new PermanentKvException("no"));

    assertThat(transfer.state(0)).isEqualTo(TransferState.FAILED);
  }

  @Test
  void peerThatRestarted_isFoundByName_andRefusedByHandle() {
    RemoteSegment old = engine.segments("peer").block().getFirst();
    peer.registry = new SegmentRegistry(2);
    peer.registry.register("kv", memory);
    Transfer byName = engine.submit(reads(1).build());
    peer.calls.get(0).end(new SegmentRegistry.UnknownSegmentException("number 1", 1));
    time.advanceTimeBy(MOST_BACKOFF);

    peer.calls.get(1).end(null);
    Transfer byHandle = engine.submit(TransferBatch.builder().read(old, 0, memory.asSlice(0, 1)).build());

    assertThat(byName.state(0)).isEqualTo(TransferState.COMPLETED);
    assertThat(byHandle.state(0)).isEqualTo(TransferState.FAILED);
    assertThat(byHandle.done().block().firstError()).isInstanceOf(SegmentRegistry.UnknownSegmentException.class);
    assertThat(peer.calls).hasSize(2);
  }

  @Test
  void itemOutsideItsSegment_failsAndNamesIt() {
    Transfer transfer = engine.submit(TransferBatch.builder().read("peer", "kv", 4096, memory.asSlice(0, 1))
        .read("peer", "none", 0, memory.asSlice(0, 1)).build());
    time.advanceTimeBy(MOST_BACKOFF);

    assertThat(transfer.results().map(Transfer.ItemResult::error).collectList().block()).satisfiesExactlyInAnyOrder(
        error -> assertThat(error).isInstanceOf(TransferEngine.RangeException.class).hasMessageContaining("4096"),
        error -> assertThat(error).isInstanceOf(SegmentRegistry.UnknownSegmentException.class)
            .hasMessageContaining("none"));
  }

  @Test
  void connectionThatIsLost_failsWhatWasInProgressOnce_andIsMadeAnew() {
    peer.quickToStop = true;
    Transfer transfer = engine.submit(reads(3).build());

    peer.links.getFirst().close();
    assertThat(transfer.state(0)).isEqualTo(TransferState.PENDING);
    time.advanceTimeBy(MOST_BACKOFF);
    assertThat(peer.links).hasSize(2);
    peer.links.getLast().close();

    assertThat(transfer.state(0)).isEqualTo(TransferState.FAILED);
    assertThat(transfer.state(1)).isEqualTo(TransferState.FAILED);
    time.advanceTimeBy(MOST_BACKOFF);
    assertThat(peer.links).as("for the third item").hasSize(3);
    peer.open().getFirst().end(null);
    assertThat(transfer.state(2)).isEqualTo(TransferState.COMPLETED);
  }

  @Test
  void idleConnection_isGivenUp_andReopenedOnDemand() {
    engine.submit(reads(1).build());
    peer.calls.get(0).end(null);
    time.advanceTimeBy(Duration.ofSeconds(59));
    assertThat(peer.links.getFirst().isClosed).isFalse();

    time.advanceTimeBy(Duration.ofSeconds(1));

    assertThat(peer.links.getFirst().isClosed).isTrue();
    engine.submit(reads(1).build());
    assertThat(peer.links).hasSize(2);
    time.advanceTimeBy(Duration.ofSeconds(29));
    assertThat(peer.links.getLast().isClosed).as("while it is in use").isFalse();
  }

  @Test
  void deadline_isTheBaseAndTheBytes_andEndsWithTheQuietOfTheMemory() {
    engine = engine(TransferOptions.defaults().withDeadline(Duration.ofSeconds(5), 1_000_000));
    Transfer transfer = engine.submit(TransferBatch.builder().read("peer", "kv", 0, memory.asSlice(0, 1000)).build());
    time.advanceTimeBy(Duration.ofMillis(5_999));
    assertThat(peer.calls.getFirst().aborted).isFalse();

    time.advanceTimeBy(Duration.ofMillis(1));
    assertThat(peer.calls.getFirst().aborted).isTrue();
    assertThat(transfer.state(0)).isEqualTo(TransferState.IN_PROGRESS);
    peer.calls.getFirst().end(lost());

    assertThat(transfer.state(0)).isEqualTo(TransferState.TIMEOUT);
    assertThat(transfer.done().block().firstError()).isInstanceOf(TransferEngine.TimedOutException.class)
        .hasMessageContaining("PT6S");
    assertThatThrownBy(() -> TransferOptions.defaults().withDeadline(Duration.ofMillis(4_999), 1))
        .hasMessageContaining("5 s");
  }

  @Test
  void memoryThatDoesNotBecomeQuiet_costsItsConnection() {
    Transfer transfer = engine.submit(reads(1).build());
    transfer.cancel();
    time.advanceTimeBy(Duration.ofMillis(1_999));
    assertThat(peer.links.getFirst().isClosed).isFalse();

    time.advanceTimeBy(Duration.ofMillis(1));

    assertThat(peer.links.getFirst().isClosed).isTrue();
    peer.calls.getFirst().end(lost());
    assertThat(transfer.state(0)).isEqualTo(TransferState.CANCELLED);
  }

  @Test
  void peerThatDoesNotAnswer_failsItsItems() {
    engine = new TransferEngine(TransferOptions.defaults(), (address, number) -> Mono.never(), time,
        new SplittableRandom(1));
    Transfer transfer = engine.submit(reads(2).build());
    time.advanceTimeBy(Duration.ofSeconds(5).plus(MOST_BACKOFF).plusSeconds(5));

    assertThat(transfer.done().block().count(TransferState.FAILED)).isEqualTo(2);
    assertThat(transfer.done().block().firstError()).hasMessageContaining("within PT5S");
  }

  @Test
  void batchThatIsRefused_submitsNothing() {
    engine.submit(reads(5).build());

    assertThatThrownBy(() -> engine.submit(reads(4).write("other", "kv", 0, memory.asSlice(0, 1)).build()))
        .isInstanceOf(BudgetExhaustedException.class).hasMessageContaining("peer");

    assertThat(other.calls).isEmpty();
    engine.submit(reads(3).build());
    while (!peer.open().isEmpty()) {
      peer.open().getFirst().end(null);
    }
    assertThat(peer.calls).hasSize(8);
    assertThatThrownBy(() -> TransferBatch.builder().read("peer", "kv", -1, memory)).hasMessageContaining("offset");
    assertThatThrownBy(() -> TransferBatch.builder().read("peer", "kv", Long.MAX_VALUE, memory))
        .hasMessageContaining("2^63");
    assertThatThrownBy(() -> TransferBatch.builder().read("peer", "kv", 0, memory.asReadOnly()))
        .hasMessageContaining("writable");
    assertThatThrownBy(() -> TransferBatch.builder().write("peer", "kv", 0, MemorySegment.ofArray(new byte[1])))
        .hasMessageContaining("native");
    assertThatThrownBy(() -> TransferBatch.builder().notifying("x".repeat(4097)).build())
        .hasMessageContaining("message");
  }

  @Test
  void itemsWithoutBytes_completeAtOnce_andAnEmptyBatchIsDone() {
    Transfer transfer = engine.submit(TransferBatch.builder().read("peer", "kv", 5000).build());

    assertThat(transfer.state(0)).isEqualTo(TransferState.COMPLETED);
    assertThat(peer.links).isEmpty();
    assertThat(engine.submit(TransferBatch.builder().build()).done().block().isWhole()).isTrue();
  }

  @Test
  void notification_isSentOnceAfterAllItems_andAgainWithTheSameNumber() {
    Transfer transfer = engine.submit(reads(2).notifying("done").build());
    peer.calls.get(0).end(null);
    assertThat(peer.letters).isEmpty();
    peer.calls.get(1).end(null);
    CompletableFuture<Transfer.BatchResult> done = transfer.done().toFuture();

    peer.calls.get(2).end(lost());
    time.advanceTimeBy(MOST_BACKOFF);
    assertThat(peer.letters).hasSize(2).extracting(SegmentLink.Letter::sequence).containsOnly(1L);
    assertThat(done).isNotDone();
    peer.calls.get(3).end(null);

    assertThat(done.join().isWhole()).isTrue();
  }

  @Test
  void notificationThatIsRefused_isToldWithTheBatch() {
    Transfer transfer = engine.submit(reads(1).notifying("done").build());
    peer.calls.get(0).end(null);
    peer.calls.get(1).end(new PermanentKvException("full"));

    assertThat(transfer.done().block().unnotified()).containsOnlyKeys("peer");
    assertThat(transfer.done().block().isWhole()).isFalse();
  }

  @Test
  void failedItem_sendsNoNotification() {
    Transfer transfer = engine.submit(reads(2).notifying("done").build());
    peer.calls.get(0).end(new PermanentKvException("no"));
    peer.calls.get(1).end(null);

    assertThat(peer.letters).isEmpty();
    assertThat(transfer.done().block().unnotified()).isEmpty();
  }

  @Test
  void inbox_deliversOnce_isBounded_andWaitsForItsReader() {
    SegmentRegistry registry = new SegmentRegistry(1, List.of(), 2);
    registry.accept(9, 1, 1, new Notification("a", "one"));
    registry.accept(9, 1, 1, new Notification("a", "one"));
    registry.accept(9, 2, 1, new Notification("a", "two"));
    assertThatThrownBy(() -> registry.accept(9, 3, 1, new Notification("a", "three")))
        .isInstanceOf(BudgetExhaustedException.class).hasMessageContaining("inbox");
    assertThatThrownBy(() -> registry.accept(9, 4, 2, new Notification("a", "four")))
        .isInstanceOf(SegmentRegistry.UnknownSegmentException.class);

    StepVerifier.create(registry.notifications().map(Notification::message), 1).expectNext("one")
        .then(() -> registry.accept(9, 3, 1, new Notification("a", "three")))
        .then(() -> StepVerifier.create(registry.notifications()).verifyError(IllegalStateException.class))
        .thenCancel().verify();
    StepVerifier.create(registry.notifications().map(Notification::message)).expectNext("two", "three").thenCancel()
        .verify();
  }

  @Test
  void close_endsEverything_andRefusesWhatComesLater() {
    peer.quickToStop = true;
    Transfer transfer = engine.submit(reads(4).build());

    StepVerifier.create(engine.close()).verifyComplete();

    assertThat(transfer.done().block().count(TransferState.CANCELLED)).isEqualTo(4);
    assertThat(peer.links.getFirst().isClosed).isTrue();
    assertThatThrownBy(() -> engine.submit(reads(1).build()))
        .isInstanceOf(TransferEngine.EngineClosedException.class);
    StepVerifier.create(engine.close()).verifyComplete();
  }

  @Test
  void blockingCall_isRefusedOnThreadsThatMustNotBlock() {
    BlockingTransfers blocking = engine.blocking();
    StepVerifier.create(Mono.fromCallable(() -> blocking.run(reads(1).build())).subscribeOn(Schedulers.newSingle("s")))
        .verifyError(BlockingTransfers.MustNotBlockException.class);
    assertThat(peer.calls).isEmpty();
  }

  @Test
  void interruptedCaller_leavesWhenItsMemoryIsQuiet() throws Exception {
    CompletableFuture<Throwable> thrown = new CompletableFuture<>();
    Thread caller = Thread.ofVirtual().start(() -> {
      try {
        engine.blocking().run(reads(1).build());
      } catch (Throwable e) {
        thrown.complete(e);
      }
    });
    Eventually.holds("the caller waits", () -> caller.getState() == Thread.State.WAITING);
    caller.interrupt();
    Eventually.holds("the call was aborted", () -> peer.calls.getFirst().aborted);
    assertThat(thrown).isNotDone();

    peer.calls.getFirst().end(lost());

    assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
    caller.join();
  }
}
