package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Medium;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/// Reads that count as no use.
final class PeekTest extends StackSteps {
  private static final int HOST = 8;
  private static final int DISK = 8;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final MemoryStore disk = new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add);
  private final TierStack stack = new TierStack(SPACE,
      List.of(new StackLevel.Host("dram", HOST), new StackLevel.Stored(disk, DISK)),
      StackOptions.defaults("stack").withIngressBlocks(4).withExact(false), TierListener.noop(), () -> 7);

  @AfterEach
  void close() {
    runTasks();
    assertClosesClean(stack);
  }

  @Test
  void blocksAreRead_stayWhereTheyAre_andLeaveInTheirTurn() {
    for (int i = 0; i < HOST + DISK; i++) {
      put(stack, i);
      runTasks();
    }
    TierStat before = stat(stack);
    List<BlockKey> asked = IntStream.of(0, 1, 99, HOST + DISK - 1, DISK).mapToObj(StackSteps::key).toList();

    try (BlockScope scope = new BlockScope()) {
      CompletableFuture<List<LeasedBlock>> read = stack.peek(asked, scope)
          .flatMapMany(lease -> lease.windows(1, scope).concatMapIterable(window -> window, 1)
              .doFinally(end -> lease.close()))
          .doOnNext(one -> {
            Blocks.assertBytes(one.block());
            one.block().close();
          }).collectList().toFuture();
      runTasks();
      assertThat(requireNonNull(Mono.fromFuture(read).block(SOON))).extracting(LeasedBlock::position)
          .containsExactly(0, 1, 3, 4);
    }

    TierStat after = stat(stack);
    assertThat(after.hits()).isEqualTo(before.hits());
    assertThat(after.misses()).isEqualTo(before.misses());
    assertThat(after.levels()).extracting(TierStat.Level::blocks).containsExactly((long) HOST, (long) DISK);
    assertThat(after.lastSequence()).isEqualTo(before.lastSequence());
    put(stack, 50);
    put(stack, 51);
    runTasks();
    assertThat(present(stack, 0, 1, 2, DISK)).isEqualTo("0011");
  }
}
