package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.TransientKvException;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.stack.hold.HoldGroup;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.Mode;
import io.penstock.stack.shape.StackOptions.Tiering;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.Reservation.RoomTimeoutException;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierHolds.UnsupportedHoldsException;
import io.penstock.tier.TierListener;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/// Writers that wait for room, by a clock that the test moves.
@Timeout(30)
final class TierStackRoomTest extends StackSteps {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final StackOptions OPTIONS = StackOptions.defaults("stack").withIngressBlocks(4).withBatchBlocks(1)
      .withExact(false);

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private long now = Long.MAX_VALUE - 1000; // a clock may wrap
  private final FaultyStore disk = new FaultyStore(new MemoryStore("ssd", Medium.DISK, SPACE, 64, tasks::add));
  private final BlockScope scope = new BlockScope();
  private TierStack stack = memory(OPTIONS);

  private TierStack memory(StackOptions options) {
    return new TierStack(SPACE, List.of(new StackLevel.Host("dram", 4)), options, TierListener.noop(), () -> now);
  }

  private TierStack withDisk(StackOptions options) {
    stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 4), new StackLevel.Stored(disk, 64)), options,
        TierListener.noop(), () -> now);
    return stack;
  }

  @AfterEach
  void close() {
    scope.close();
    assertClosesClean(stack);
  }

  private void pass(Duration time) {
    now += time.toNanos();
    stack.expire();
  }

  private CompletableFuture<Reservation> reserve(int from, int to) {
    return stack.reserve(keys(from, to), scope).toFuture();
  }

  private static List<BlockKey> keys(int from, int to) {
    return IntStream.range(from, to).mapToObj(StackSteps::key).toList();
  }

  private static Throwable failure(Future<?> refused) {
    try {
      throw new AssertionError("must be refused (was " + refused.get() + ")");
    } catch (ExecutionException e) {
      return requireNonNull(e.getCause());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void writerThatFindsNoRoom_isRefusedInTheEnd_andTheNextGoesOn() {
    assertThat(reserve(0, 6)).isCompleted();
    CompletableFuture<Reservation> large = reserve(10, 14);
    pass(Duration.ofSeconds(1));
    CompletableFuture<Reservation> small = reserve(20, 22); // 2 slots are free, but it does not overtake
    pass(TIMEOUT.minusSeconds(1).minusNanos(1));
    assertThat(large).isNotDone();
    assertThat(small).isNotDone();

    pass(Duration.ofNanos(1));
    assertThat(failure(large)).isInstanceOfSatisfying(RoomTimeoutException.class, refused -> {
      assertThat(refused.wanted()).isEqualTo(4);
      assertThat(refused.free()).isEqualTo(2);
      assertThat(refused.timeout()).isEqualTo(TIMEOUT);
      assertThat(refused).hasMessage("stack resident must have room for 4 blocks within 30000 ms (was room for 2)");
    });
    assertThat(small).isCompleted();
    assertThat(requireNonNull(small.getNow(null)).drafts()).hasSize(2);
    assertThat(stack.arena().claimedSlots()).isEqualTo(8);
    scope.close();
    try (BlockScope next = new BlockScope()) {
      assertThat(stack.reserve(keys(10, 14), next).toFuture()).as("its keys are free").isCompleted();
    }
  }

  @Test
  void writerThatWaitsForTheDisk_isRefusedInTheEnd_andTheNextGoesOnWhenTheDiskTook() {
    stack.close().block(SOON);
    withDisk(OPTIONS.withTiering(Tiering.exact().withQueue(2, Tiering.UNBOUNDED)));
    for (int i = 0; i < 6; i++) { // two of them wait for the disk
      put(stack, i);
    }
    CompletableFuture<Reservation> large = reserve(10, 12);
    pass(Duration.ofSeconds(1));
    CompletableFuture<Reservation> small = reserve(20, 21);
    pass(TIMEOUT.minusSeconds(1));
    assertThat(failure(large)).isInstanceOfSatisfying(RoomTimeoutException.class, refused -> {
      assertThat(refused.place()).isEqualTo("write queue of the disk");
      assertThat(refused.wanted()).isEqualTo(2);
      assertThat(refused.free()).isZero();
    });
    assertThat(small).isNotDone();
    tasks.remove().run();
    assertThat(small).isCompleted();
    runTasks();
  }

  @Test
  void refusalOfTheFirstInTheQueueOfTheDisk_letsASmallerOneIn() {
    stack.close().block(SOON);
    withDisk(OPTIONS.withTiering(Tiering.exact().withQueue(2, Tiering.UNBOUNDED)));
    for (int i = 0; i < 5; i++) { // one waits for the disk
      put(stack, i);
    }
    CompletableFuture<Reservation> large = reserve(10, 12);
    pass(Duration.ofSeconds(1));
    CompletableFuture<Reservation> small = reserve(20, 21);
    assertThat(small).isNotDone();
    pass(TIMEOUT.minusSeconds(1));
    assertThat(large).isCompletedExceptionally();
    assertThat(small).isCompleted();
    runTasks();
  }

  @Test
  void exactStack_withholdsDemandWithoutEnd() {
    stack.close().block(SOON);
    stack = memory(OPTIONS.withExact(true));
    assertThat(reserve(0, 8)).isCompleted();
    CompletableFuture<Reservation> waiting = reserve(10, 11);
    pass(Duration.ofHours(1));
    assertThat(waiting).isNotDone();
    scope.close();
    assertThat(waiting).isDone();
  }

  @Test
  void putThatTookTooLong_hearsWhy() {
    Reservation slow = requireNonNull(reserve(0, 2).getNow(null));
    pass(Duration.ofMinutes(10));
    assertThat(slow.failure()).hasMessage("reservation was not finished within 600000 ms");
    assertThatThrownBy(() -> slow.commit(slow.drafts()).block(SOON)).isSameAs(slow.failure());
  }

  @Test
  void commitThatFailed_leavesTheOtherKeysOfItsPutToAnotherWriter() {
    stack.close().block(SOON);
    withDisk(OPTIONS.withMode(Mode.WRITE_THROUGH));
    Reservation first = requireNonNull(reserve(0, 2).getNow(null));
    first.drafts().forEach(Blocks::produce);
    disk.puts(any -> Mono.error(new TransientKvException("told to fail")));
    CompletableFuture<List<Receipt>> commit = first.commit(first.drafts().subList(0, 1)).toFuture();
    runTasks();
    assertThat(failure(commit)).hasMessage("told to fail");
    disk.mend();
    pass(TIMEOUT);
    assertThat(requireNonNull(reserve(1, 2).getNow(null)).drafts()).hasSize(1);
  }

  @Test
  void replacingWrittenThroughBlocks_isRefusedByType() {
    stack.close().block(SOON);
    withDisk(OPTIONS.withMode(Mode.WRITE_THROUGH));
    assertThatThrownBy(() -> stack.reserve(keys(0, 1), PutTerms.plain().withUpserts(true), scope))
        .isInstanceOf(UnsupportedHoldsException.class);
  }

  @Test
  void membersThatAreReplaced_countOnceInTheirGroup() {
    PutTerms terms = PutTerms.plain().withGroup("turn 1");
    Reservation first = requireNonNull(stack.reserve(keys(0, 4), terms, scope).toFuture().getNow(null));
    first.drafts().forEach(Blocks::produce);
    assertThat(first.commit(first.drafts()).toFuture()).isCompleted();
    List<BlockKey> most = keys(0, HoldGroup.MOST_BLOCKS);
    assertThat(failure(stack.reserve(most, terms.withUpserts(true), scope).toFuture()))
        .hasMessageContaining("units must be <= capacity 8"); // the group has room for all of them, memory has not
    assertThat(failure(stack.reserve(keys(0, most.size() + 1), terms.withUpserts(true), scope).toFuture()))
        .isInstanceOf(TierHolds.HoldLimitException.class);
  }

  @Test
  void groupThatWouldBeTooLarge_isRefused() {
    PutTerms terms = PutTerms.plain().withGroup("turn 1");
    assertThat(stack.reserve(keys(0, 8), terms, scope).toFuture()).isCompleted();
    assertThat(failure(stack.reserve(keys(100, HoldGroup.MOST_BLOCKS + 101), terms, scope).toFuture()))
        .isInstanceOf(TierHolds.HoldLimitException.class).hasMessageContaining("blocks of group turn 1");
  }
}
