package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockScope;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.RoomSignal;
import io.penstock.tier.spi.StoreBusyException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;

/// Stacks whose stores are too busy now: what moves, and what is committed, waits until there is room.
@Timeout(30)
final class TierStackBusyTest extends StackSteps {
  private static final StackOptions OPTIONS =
      StackOptions.defaults("stack").withIngressBlocks(3).withTransferBlocks(1).withPromotionBlocks(1)
          .withBounceBlocks(1);

  private final AtomicInteger asked = new AtomicInteger();
  private final RoomSignal room = new RoomSignal();
  private final FaultyStore disk =
      new FaultyStore(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, tasks::add));
  private final FaultyStore device = new FaultyStore(new MemoryStore("hbm", Medium.DEVICE, SPACE, 2, tasks::add));

  @Test
  void move_toABusyStore_waitsUntilThereIsRoom_andLosesNothing() {
    TierStack stack = stack(new StackLevel.Host("dram", 1), new StackLevel.Stored(disk, 4));
    put(stack, 0);
    disk.puts(this::refusedAtFirst);
    put(stack, 1);
    runTasks();
    assertThat(asked).as("refused, and not tried again at once").hasValue(1);
    assertThat(present(stack, 0, 1)).isEqualTo("11");
    room.left();
    runTasks();
    assertThat(asked).hasValue(2);
    assertThat(present(stack, 0, 1)).isEqualTo("11");
    assertThat(stack.movingBlocks()).isZero();
    assertClosesClean(stack);
  }

  @Test
  void move_fromABusyStore_waitsUntilThereIsRoom_andSoDoesTheBlockThatNeedsItsSlot() {
    TierStack stack = stack(new StackLevel.Stored(device, 2), new StackLevel.Host("dram", 2));
    put(stack, 0);
    put(stack, 1);
    runTasks();
    device.reads(this::refusedAtFirst);
    put(stack, 2);
    runTasks();
    assertThat(asked).hasValue(1);
    assertThat(present(stack, 0, 1, 2)).isEqualTo("111");
    room.left();
    runTasks();
    assertThat(asked).hasValue(2);
    assertThat(present(stack, 0, 1, 2)).isEqualTo("111");
    assertThat(stack.movingBlocks()).isZero();
    assertClosesClean(stack);
  }

  @Test
  void move_refusedOverAndOver_whileOthersAsk_goesOnInTheEnd() {
    TierStack stack =
        stack(new StackLevel.Stored(device, 2), new StackLevel.Host("dram", 1), new StackLevel.Stored(disk, 40));
    disk.puts(this::refusedFourTimesOfFive);
    device.reads(this::refusedFourTimesOfFive);
    device.puts(this::refusedFourTimesOfFive);
    for (int i = 0; i < 20; i++) {
      committed(stack, List.of(key(i))).subscribe(receipts -> {}, error -> {});
    }
    while (stack.movingBlocks() > 0) {
      runTasks();
      room.left();
    }
    for (int i = 0; i < 20; i++) {
      assertThat(present(stack, i)).as("block %d", i).isEqualTo("1");
    }
    assertClosesClean(stack);
  }

  @Test
  void commit_writtenThroughToABusyStore_waitsUntilThereIsRoom() {
    TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 2), new StackLevel.Stored(disk, 4)),
        OPTIONS.withMode(StackOptions.Mode.WRITE_THROUGH),
        TierListener.noop());
    disk.puts(this::refusedAtFirst);
    List<Receipt> receipts = new ArrayList<>();
    try (BlockScope scope = new BlockScope()) {
      Reservation reservation = requireNonNull(stack.reserve(List.of(key(0)), scope).block(SOON));
      reservation.drafts().forEach(Blocks::produce);
      reservation.commit(reservation.drafts()).subscribe(receipts::addAll);
      runTasks();
      assertThat(receipts).isEmpty();
      room.left();
      runTasks();
    }
    assertThat(receipts).extracting(Receipt::durability).containsExactly(Durability.WRITTEN);
    assertClosesClean(stack);
  }

  @Test
  void whoWaitsForRoom_whenTheStackCloses_hearsSo_andMemoryComesBack() {
    TierStack stack =
        stack(new StackLevel.Stored(device, 2), new StackLevel.Host("dram", 1), new StackLevel.Stored(disk, 4));
    disk.puts(put -> Mono.error(new StoreBusyException("busy", Mono.never())));
    device.reads(read -> Mono.error(new StoreBusyException("busy", Mono.never())));
    for (int i = 0; i < 6; i++) {
      committed(stack, List.of(key(i))).subscribe(receipts -> {}, error -> {});
      runTasks();
    }
    assertThat(stack.movingBlocks()).isPositive();
    assertClosesClean(stack);
  }

  private <T> Mono<T> refusedAtFirst(Mono<T> answer) {
    return asked.getAndIncrement() == 0 ? refused() : answer;
  }

  private <T> Mono<T> refusedFourTimesOfFive(Mono<T> answer) {
    return asked.getAndIncrement() % 5 < 4 ? refused() : answer;
  }

  private <T> Mono<T> refused() {
    return Mono.error(new StoreBusyException("busy", room.refused()));
  }

  private static TierStack stack(StackLevel... levels) {
    return new TierStack(SPACE, List.of(levels), OPTIONS, TierListener.noop());
  }
}
