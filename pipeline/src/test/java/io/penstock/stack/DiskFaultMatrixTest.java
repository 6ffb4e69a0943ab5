package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.Mode;
import io.penstock.stack.shape.StackOptions.OffloadRule;
import io.penstock.stack.shape.StackOptions.Tiering;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.KnownBlocks;
import io.penstock.tier.Medium;
import io.penstock.tier.Presence;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierListener;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// Write-through or not, all blocks or used ones, with each way in which a disk fails: which blocks the disk gets, and
/// that afterwards nothing is held, every block is there and right, or gone with an event.
final class DiskFaultMatrixTest extends StackSteps {
  private static final int HOST = 4;
  private static final int BLOCKS = 12;
  private static final int USED = 3;

  private enum Fault {
    NONE, PUT_FAILS, PUT_THROWS, READ_FAILS, DAMAGES, GOES_OFF_WHILE_WRITING, TAKES_NOTHING
  }

  static Stream<Arguments> matrix() {
    return Stream.of(Fault.values()).flatMap(fault -> Stream.of(Mode.values())
        .flatMap(mode -> IntStream.of(0, 1).mapToObj(uses -> Arguments.of(fault, mode, uses))));
  }

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final MemoryStore memory = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add);
  private final FaultyStore disk = new FaultyStore(memory);
  private final Sinks.Empty<Void> answer = Sinks.empty();

  @ParameterizedTest(name = "{0}, {1}, used {2} times")
  @MethodSource("matrix")
  void afterEachFault_nothingIsHeld_andEachBlockIsRightOrGoneWithAnEvent(Fault fault, Mode mode, int uses) {
    TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", HOST), new StackLevel.Stored(disk, 64)),
        StackOptions.defaults("stack").withMode(mode).withIngressBlocks(16).withTransferBlocks(4).withBatchBlocks(2)
            .withTiering(Tiering.exact().withOffload(OffloadRule.usedAtLeast(uses))),
        TierListener.noop());
    begin(fault);
    write(stack, 0);
    if (fault == Fault.GOES_OFF_WHILE_WRITING) {
      disk.health(StoreHealth.State.OFF);
    }
    if (fault == Fault.DAMAGES) {
      keys(0, BLOCKS).forEach(key -> memory.corrupt(key, 1));
    }
    readAll(stack);
    end();
    readAll(stack);

    assertIdle(stack);
    if (fault == Fault.NONE) {
      int first = mode == Mode.WRITE_THROUGH || uses == 0 ? BLOCKS : USED + HOST;
      assertThat(stat(stack).blocks()).isEqualTo(first);
    }
    write(stack, BLOCKS);
    assertIdle(stack);
    assertThat(stack.match(keys(2 * BLOCKS - HOST, 2 * BLOCKS)).block(SOON)).as("the disk works again").isEqualTo(HOST);
    assertClosesClean(stack);
  }

  private void begin(Fault fault) {
    switch (fault) {
      case NONE, DAMAGES -> disk.mend();
      case PUT_FAILS -> disk.puts(put -> put.then(Mono.error(new IllegalStateException("no space"))));
      case PUT_THROWS -> disk.puts(put -> {
        throw new IllegalStateException("fault of the store");
      });
      case READ_FAILS -> disk.reads(read -> read.then(Mono.error(new IllegalStateException("no medium"))));
      case GOES_OFF_WHILE_WRITING -> disk.puts(put -> answer.asMono().then(put));
      case TAKES_NOTHING -> disk.health(StoreHealth.State.DEGRADED);
    }
  }

  /// The disk is as it should be again, and answers what it had not answered.
  private void end() {
    disk.mend();
    answer.tryEmitEmpty();
    runTasks();
    disk.health(StoreHealth.State.ACTIVE);
    runTasks();
  }

  private static List<BlockKey> keys(int from, int to) {
    return IntStream.range(from, to).mapToObj(StackSteps::key).toList();
  }

  /// The first blocks are used, the others are not. A put may fail.
  private void write(TierStack stack, int from) {
    for (int i = from; i < from + BLOCKS; i++) {
      committed(stack, List.of(key(i))).subscribe(receipts -> {}, error -> {});
      runTasks();
      if (i < from + USED) {
        read(stack, List.of(key(i)));
      }
    }
  }

  /// A read may fail; what it gives is right.
  private void readAll(TierStack stack) {
    keys(0, BLOCKS).reversed().forEach(key -> read(stack, List.of(key)));
  }

  private void read(TierStack stack, List<BlockKey> keys) {
    try (BlockScope scope = new BlockScope()) {
      CompletableFuture<List<Block>> reading = stack.get(keys, scope).collectList().toFuture();
      runTasks();
      if (!reading.isCompletedExceptionally()) {
        assertThat(reading.getNow(List.of())).allSatisfy(Blocks::assertBytes);
      }
    }
    runTasks();
  }

  private static void assertIdle(TierStack stack) {
    List<BlockKey> all = keys(0, 2 * BLOCKS);
    assertThat(stack.movingBlocks()).as("blocks that move").isZero();
    assertThat(stat(stack).tiering().queuedBlocks()).as("blocks that wait for the disk").isZero();
    long inMemory = all.stream().filter(key -> isInMemory(stack, key)).count();
    assertThat(stack.arena().claimedSlots()).as("slots lent").isEqualTo(inMemory);
    assertThat(inMemory).isLessThanOrEqualTo(HOST);
    KnownBlocks told = new KnownBlocks();
    history(stack).forEach(told::apply);
    Presence visible = requireNonNull(stack.contains(all).block(SOON));
    assertThat(told.visible()).as("told by events")
        .containsExactlyInAnyOrderElementsOf(visible.bits().stream().mapToObj(all::get).toList());
  }

  private static boolean isInMemory(TierStack stack, BlockKey key) {
    try (Block copy = stack.hostCopy(key)) {
      return copy != null;
    }
  }
}
