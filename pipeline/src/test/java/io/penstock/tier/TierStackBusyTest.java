package io.penstock.tier;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.MemoryStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;

/// Stacks whose stores are too busy now: what can wait waits for work that is under way, what cannot ends.
@Timeout(30)
final class TierStackBusyTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final Duration SOON = Duration.ofSeconds(5);

  private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
  private final AtomicInteger busy = new AtomicInteger();
  private final FaultyStore disk = new FaultyStore(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add));
  private final FaultyStore device = new FaultyStore(new MemoryStore("hbm", Medium.DEVICE, SPACE, 2, tasks::add));

  @Test
  void put_refusedAsBusyWhileAWindowRises_isTriedAgainWhenAReadEnds() {
    TierStack stack = stack(new Level.Host("dram", 2), new Level.Stored(disk, 4));
    put(stack, 0);
    put(stack, 1);
    put(stack, 2);
    runTasks();
    try (BlockScope scope = new BlockScope()) {
      stack.get(List.of(key(0)), scope).subscribe(block -> {});
      tasks.remove().run(); // 1 sinks
      assertThat(tasks).as("a read is under way").hasSize(1);
      disk.puts(this::refusedOnce);
      put(stack, 3); // 2 has to sink
      assertThat(busy).as("refused, and not tried again at once").hasValue(1);
      runTasks();
    }
    assertThat(busy).as("tried again").hasValue(2);
    assertThat(present(stack, 0, 1, 2, 3)).isEqualTo("1111");
    assertThat(stack.unsettledBlocks()).isZero();
    assertClosesClean(stack);
  }

  @Test
  void put_refusedAsBusyWithNothingUnderWay_endsAtOnce() {
    TierStack stack = stack(new Level.Host("dram", 1), new Level.Stored(disk, 4));
    put(stack, 0);
    disk.puts(this::refusedOnce);
    put(stack, 1);
    runTasks();
    assertThat(busy).hasValue(1);
    assertThat(present(stack, 0, 1)).isEqualTo("01");
    assertThat(stack.unsettledBlocks()).isZero();
    assertClosesClean(stack);
  }

  @Test
  void get_refusedAsBusyWhileAWindowRises_isTriedAgainWhenAReadEnds() {
    TierStack stack = stack(new Level.Stored(device, 2), new Level.Host("dram", 2));
    put(stack, 0);
    put(stack, 1);
    runTasks();
    try (BlockScope scope = new BlockScope()) {
      stack.get(List.of(key(1)), scope).subscribe(block -> {});
      assertThat(tasks).as("a read is under way").hasSize(1);
      device.reads(this::refusedOnce);
      put(stack, 2); // 0 has to sink
      assertThat(busy).as("refused, and not tried again at once").hasValue(1);
      runTasks();
    }
    assertThat(present(stack, 0, 1, 2)).isEqualTo("111");
    assertThat(stack.unsettledBlocks()).isZero();
    assertClosesClean(stack);
  }

  @Test
  void get_refusedAsBusyWithNothingUnderWay_freesThePlaceForWhoWaits() {
    TierStack stack = stack(new Level.Stored(device, 2), new Level.Host("dram", 2));
    put(stack, 0);
    put(stack, 1);
    runTasks();
    device.reads(this::refusedOnce);
    put(stack, 2);
    runTasks();
    assertThat(busy).hasValue(1);
    assertThat(present(stack, 0, 1, 2)).isEqualTo("011");
    assertThat(stack.unsettledBlocks()).isZero();
    assertClosesClean(stack);
  }

  @Test
  void refusals_beyondThoseOfOneRead_neverHang() {
    TierStack stack = stack(new Level.Stored(device, 2), new Level.Host("dram", 1), new Level.Stored(disk, 4));
    disk.puts(put -> Mono.error(new StoreBusyException("busy")));
    device.reads(read -> Mono.error(new StoreBusyException("busy")));
    device.puts(put -> Mono.error(new StoreBusyException("busy")));
    AtomicReference<Throwable> error = new AtomicReference<>();
    for (int i = 0; i < 20; i++) {
      put(stack, i);
      try (BlockScope scope = new BlockScope()) {
        stack.get(List.of(key(i)), scope).subscribe(block -> {}, error::set);
        runTasks();
      }
    }
    assertThat(stack.unsettledBlocks()).isZero();
    assertClosesClean(stack);
  }

  private <T> Mono<T> refusedOnce(Mono<T> answer) {
    return busy.getAndIncrement() == 0 ? Mono.error(new StoreBusyException("busy")) : answer;
  }

  private void assertClosesClean(TierStack stack) {
    stack.close().subscribe();
    runTasks();
    stack.close().block(SOON);
    assertThat(stack.arena().claimedSlots()).as("slots lent after the close").isZero();
  }

  private void runTasks() {
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }

  private static TierStack stack(Level... levels) {
    return new TierStack(SPACE, List.of(levels), StackOptions.defaults("stack").withIngressBlocks(3).withTransferBlocks(1)
        .withPromotionBlocks(1).withBounceBlocks(1), TierListener.noop());
  }

  private static BlockKey key(int number) {
    return Blocks.key(SPACE, number);
  }

  /// A digit for each number: 1 if it is visible.
  private static String present(TierStack stack, int... numbers) {
    StringBuilder digits = new StringBuilder();
    for (int number : numbers) {
      digits.append(requireNonNull(stack.contains(List.of(key(number))).block(SOON)).count());
    }
    return digits.toString();
  }

  private static void put(TierStack stack, int number) {
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = requireNonNull(stack.reserve(List.of(key(number)), scope).block(SOON));
      reservation.drafts().forEach(Blocks::produce);
      reservation.commit(reservation.drafts()).block(SOON);
    }
  }
}
