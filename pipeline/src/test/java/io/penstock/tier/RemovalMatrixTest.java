package io.penstock.tier;

import static io.penstock.tier.TierHolds.KeyOutcome.NOT_FOUND;
import static io.penstock.tier.TierHolds.KeyOutcome.NOT_READY;
import static io.penstock.tier.TierHolds.KeyOutcome.OK;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.tier.TierHolds.KeyOutcome;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierHolds.RemovalCount;
import io.penstock.tier.TierStack.Level;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/// Every way to remove a block, forced or not, in every state of the block: what comes of it, and one event if it went.
final class RemovalMatrixTest extends StackSteps {
  private static final int HOST = 8;
  private static final List<BlockKey> KEY = List.of(key(0));

  private enum State {
    VISIBLE(OK, OK),
    SOFT_PINNED(OK, OK),
    HARD_PINNED(OK, OK),
    LEASED(KeyOutcome.LEASED, OK),
    LEASED_BY_ITS_GROUP(KeyOutcome.LEASED, OK),
    LEASED_ON_DISK(KeyOutcome.LEASED, OK),
    READ_BY_A_STREAM(OK, OK),
    MOVES_TO_DISK(OK, OK),
    ON_DISK(OK, OK),
    READ_FROM_DISK(OK, OK),
    BEING_REPLACED(OK, OK),
    BEING_WRITTEN(NOT_READY, NOT_READY),
    ABSENT(NOT_FOUND, NOT_FOUND);

    private static final Set<State> ON_ITS_WAY = Set.of(LEASED_ON_DISK, MOVES_TO_DISK, ON_DISK, READ_FROM_DISK);

    private final KeyOutcome plain;
    private final KeyOutcome forced;

    State(KeyOutcome plain, KeyOutcome forced) {
      this.plain = plain;
      this.forced = forced;
    }

    KeyOutcome outcome(boolean force) {
      return force ? forced : plain;
    }

    boolean isWritten() {
      return this != ABSENT && this != BEING_WRITTEN;
    }
  }

  /// How it is removed.
  private enum Way {
    BY_TIER, BY_KEY, BY_FILTER, ALL
  }

  static Stream<Arguments> matrix() {
    return Stream.of(State.values()).flatMap(state -> Stream.of(Way.values()).flatMap(way -> Stream.of(false, true)
        .filter(force -> !force || way != Way.BY_TIER).map(force -> Arguments.of(state, way, force))));
  }

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final TierStack stack = new TierStack(SPACE,
      List.of(new Level.Host("dram", HOST),
          new Level.Stored(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add), 64)),
      StackOptions.defaults("stack").withIngressBlocks(4).withExact(false), TierListener.noop());
  private final TierHolds holds = stack.holds("me");
  private final BlockScope scope = new BlockScope();
  private @Nullable Reservation room;
  private @Nullable CompletableFuture<List<Block>> reading;

  private static <T> T value(Mono<T> mono) {
    return requireNonNull(mono.block(SOON));
  }

  @ParameterizedTest(name = "{0}, {1}, forced {2}")
  @MethodSource("matrix")
  void removal_hasItsOutcome_andAnEventIfTheBlockWent(State state, Way way, boolean force) {
    prepare(state);
    KeyOutcome expected = state.outcome(force);
    switch (way) {
      case BY_TIER -> assertThat(value(stack.remove(KEY)).count()).isEqualTo(expected == OK ? 1 : 0);
      case BY_KEY -> assertThat(value(holds.remove(KEY, force))).containsExactly(expected);
      case BY_FILTER -> assertCounted(new KeyFilter("one", KEY.getFirst()::equals), force, expected, 1);
      case ALL -> assertCounted(KeyFilter.all(), force, expected, stat(stack).holds().leasedBlocks());
    }
    assertThat(removed().stream().filter(KEY::contains)).hasSize(expected == OK ? 1 : 0);
    assertThat(present(stack, 0)).isEqualTo(expected == KeyOutcome.LEASED ? "1" : "0");
    finish(state);
    scope.close();
    holds.close();
    runTasks();
    assertClosesClean(stack);
  }

  /// @param leased blocks that it leaves if the block is leased
  private void assertCounted(KeyFilter which, boolean force, KeyOutcome expected, long leased) {
    RemovalCount count = value(holds.remove(which, force).reduce(RemovalCount::plus));
    assertThat(removed()).as("events").doesNotHaveDuplicates().hasSize((int) count.removed());
    assertThat(count.leased()).isEqualTo(expected == KeyOutcome.LEASED ? leased : 0);
  }

  private List<BlockKey> removed() {
    return history(stack).stream().filter(TierEvent.Removed.class::isInstance)
        .map(event -> ((TierEvent.Removed) event).key()).toList();
  }

  private void prepare(State state) {
    if (state == State.LEASED_BY_ITS_GROUP) {
      putGroup(List.of(key(0), key(1)));
      read(stack, 1);
    } else if (state == State.BEING_WRITTEN) {
      room = value(stack.reserve(KEY, scope));
    } else if (state != State.ABSENT) {
      put(stack, 0);
    }
    if (State.ON_ITS_WAY.contains(state)) {
      for (int i = 1; i <= HOST; i++) {
        put(stack, i);
      }
      assertThat(tasks).as("a copy under way").isNotEmpty();
      if (state != State.MOVES_TO_DISK) {
        runTasks();
      }
    }
    switch (state) {
      case SOFT_PINNED -> value(holds.pin(KEY, Pin.soft(Duration.ZERO)));
      case HARD_PINNED -> value(holds.pin(KEY, Pin.hard()));
      case LEASED, LEASED_ON_DISK ->
        assertThat(value(holds.lease(KEY, LeaseTerms.defaults())).leased().count()).isEqualTo(1);
      case BEING_REPLACED -> room = value(stack.reserve(KEY, PutTerms.plain().withUpserts(true), scope));
      case READ_BY_A_STREAM, READ_FROM_DISK -> reading = stack.get(KEY, scope).collectList().toFuture();
      default -> assertThat(state.isWritten() || state == State.ABSENT || room != null).isTrue();
    }
  }

  private void putGroup(List<BlockKey> keys) {
    try (BlockScope own = new BlockScope()) {
      Reservation group = value(stack.reserve(keys, PutTerms.plain().withGroup("turn"), own));
      group.drafts().forEach(Blocks::produce);
      value(group.commit(group.drafts()));
    }
  }

  /// What was under way when the block was removed ends as if it had not been.
  private void finish(State state) {
    runTasks();
    if (reading != null) {
      assertThat(requireNonNull(reading).getNow(List.of())).singleElement().satisfies(Blocks::assertBytes);
    }
    if (room != null) {
      room.drafts().forEach(Blocks::produce);
      assertThat(value(room.commit(room.drafts()))).as("%s", state).hasSize(1);
      read(stack, 0);
    }
  }
}
