package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.testkit.Blocks;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierStat;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import reactor.core.publisher.Mono;

/// What the tests of a [TierStack] do with it, in one thread. Blocks are named by numbers.
public abstract class StackSteps {
  public static final CacheSpace SPACE = Blocks.smallSpace();
  static final Duration SOON = Duration.ofSeconds(5);

  /// Copies that were begun, of stores that leave them here.
  final ArrayDeque<Runnable> tasks = new ArrayDeque<>();

  final void runTasks() {
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }

  final void assertClosesClean(TierStack stack) {
    stack.close().subscribe();
    runTasks();
    stack.close().block(SOON);
    assertThat(stack.arena().claimedSlots()).as("slots lent after the close").isZero();
  }

  public static BlockKey key(int number) {
    return Blocks.key(SPACE, number);
  }

  static void put(TierStack stack, int number) {
    putAll(stack, List.of(key(number)));
  }

  static void putAll(TierStack stack, List<BlockKey> keys) {
    committed(stack, keys).block(SOON);
  }

  /// Ends when the commit does.
  static Mono<List<Receipt>> committed(TierStack stack, List<BlockKey> keys) {
    return Mono.using(BlockScope::new, scope -> stack.reserve(keys, scope).flatMap(reservation -> {
      reservation.drafts().forEach(Blocks::produce);
      return reservation.commit(reservation.drafts());
    }), BlockScope::close);
  }

  /// Reads the block, which must be there; runs the copies that are under way if it must wait for them.
  final void read(TierStack stack, int number) {
    try (BlockScope scope = new BlockScope()) {
      CompletableFuture<List<Block>> blocks = stack.get(List.of(key(number)), scope).collectList().toFuture();
      if (!blocks.isDone()) {
        runTasks();
      }
      assertThat(requireNonNull(Mono.fromFuture(blocks).block(SOON))).as("block " + number).singleElement()
          .satisfies(Blocks::assertBytes);
    }
  }

  /// A digit for each number: 1 if it is visible.
  static String present(TierStack stack, int... numbers) {
    StringBuilder digits = new StringBuilder();
    for (int number : numbers) {
      digits.append(requireNonNull(stack.contains(List.of(key(number))).block(SOON)).count());
    }
    return digits.toString();
  }

  static TierStat stat(TierStack stack) {
    return requireNonNull(stack.stat().block(SOON));
  }

  static List<TierStat.Level> levels(TierStack stack) {
    return stat(stack).levels();
  }

  static List<TierEvent> history(TierStack stack) {
    return requireNonNull(stack.events(0).take(stat(stack).lastSequence()).collectList().block(SOON));
  }
}
