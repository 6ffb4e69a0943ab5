package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.TransientKvException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierHolds.ReadLease;
import io.penstock.tier.TierListener;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/// Puts that take long, end twice, repeat or replace others, by a clock that the test moves.
final class TierPutsTest extends StackSteps {
  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private long now = 7;
  private final TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", 4)),
      StackOptions.defaults("stack").withIngressBlocks(4).withExact(false)
          .withHolds(StackOptions.HoldOptions.defaults().withRoomTimeout(Duration.ofHours(1))),
      TierListener.noop(), () -> now);
  private final BlockScope scope = new BlockScope();

  @AfterEach
  void close() {
    scope.close();
    assertClosesClean(stack);
  }

  private void pass(Duration time) {
    now += time.toNanos();
  }

  private static List<BlockKey> keys(int from, int to) {
    return IntStream.range(from, to).mapToObj(StackSteps::key).toList();
  }

  private static <T> T value(Mono<T> mono) {
    return requireNonNull(mono.block(SOON));
  }

  @Test
  void commitAgain_answersTheSameReceipts_andStoresNothing() {
    Reservation room = value(stack.reserve(keys(0, 2), scope));
    room.drafts().forEach(Blocks::produce);
    List<Receipt> receipts = value(room.commit(room.drafts()));
    assertThat(value(room.commit(room.drafts()))).isEqualTo(receipts);
    assertThat(value(room.commit(room.drafts().subList(1, 2)))).isEqualTo(receipts.subList(1, 2));
    assertThat(history(stack)).hasSize(2);
  }

  @Test
  void duplicates_areToldFromKeysThatAnotherWriterWrites() {
    put(stack, 0);
    value(stack.reserve(keys(1, 2), scope));
    Reservation room = value(stack.reserve(keys(0, 3), scope));
    assertThat(room.skipped().bits().stream()).containsExactly(0, 1);
    assertThat(room.duplicates().bits().stream()).containsExactly(0);
  }

  @Test
  void keyOfAPutThatTakesTooLong_isTakenOver_andTheFirstWriterGetsNoReceiptForIt() {
    Reservation slow = value(stack.reserve(keys(0, 2), scope));
    slow.drafts().forEach(Blocks::produce);
    pass(Duration.ofSeconds(30).minusNanos(1));
    assertThat(value(stack.reserve(keys(0, 1), scope)).drafts()).isEmpty();
    pass(Duration.ofNanos(1));
    Reservation next = value(stack.reserve(keys(0, 1), scope));
    assertThat(next.drafts()).hasSize(1);

    List<Receipt> receipts = value(slow.commit(slow.drafts()));
    assertThat(receipts).extracting(Receipt::key).containsExactly(key(1));
    assertThat(present(stack, 0, 1)).isEqualTo("01");
    next.drafts().forEach(Blocks::produce);
    assertThat(value(next.commit(next.drafts()))).hasSize(1);
    read(stack, 0);
  }

  @Test
  void roomOfAPutThatIsNotFinished_isTakenBackAfterTenMinutes() {
    Reservation stuck = value(stack.reserve(keys(0, 8), scope));
    CompletableFuture<Reservation> waiting = stack.reserve(keys(10, 12), scope).toFuture();
    pass(Duration.ofMinutes(10).minusNanos(1));
    stack.expire();
    assertThat(waiting).isNotDone();
    pass(Duration.ofNanos(1));
    stack.expire();
    assertThat(waiting).isDone();
    assertThat(stuck.isClosed()).isTrue();
    assertThatThrownBy(() -> stuck.commit(stuck.drafts()).block(SOON)).isInstanceOf(TransientKvException.class);
  }

  // Replacing

  private static BlockDraft write(BlockDraft draft, int value) {
    GranuleRange all = GranuleRange.all(draft.layout());
    draft.write(all, memory -> memory.fill((byte) value));
    draft.produced(all);
    return draft;
  }

  private int firstByte(BlockKey key) {
    Block block = requireNonNull(stack.get(List.of(key), scope).blockFirst(SOON));
    try (block) {
      return block.read(memory -> (int) memory.get(ValueLayout.JAVA_BYTE, 0));
    }
  }

  @Test
  void upsert_replacesABlock_itsReadersKeepTheOldBytes_andPinsAndLeasesStay() {
    put(stack, 0);
    int old = firstByte(key(0));
    TierHolds holds = stack.holds("me");
    holds.pin(keys(0, 1), Pin.soft(Duration.ofMinutes(1))).block(SOON);
    ReadLease lease = value(holds.lease(keys(0, 1), LeaseTerms.defaults().withSurvives(true)));
    Block before = requireNonNull(stack.get(keys(0, 1), scope).blockFirst(SOON));

    Reservation room = value(stack.reserve(keys(0, 1), PutTerms.plain().withUpserts(true), scope));
    write(room.drafts().getFirst(), old + 1);
    assertThat(firstByte(key(0))).as("before the commit").isEqualTo(old);
    value(room.commit(room.drafts()));
    assertThat(firstByte(key(0))).isEqualTo((byte) (old + 1));
    Blocks.assertBytes(before);
    before.close();
    room.close();

    assertThat(stat(stack).blocks()).isEqualTo(1);
    assertThat(stat(stack).holds().softPinned()).isEqualTo(1);
    assertThat(stat(stack).holds().leasedBlocks()).isEqualTo(1);
    assertThat(value(holds.release(lease.id()))).isTrue();
    assertThat(stat(stack).holds().leasedBlocks()).isZero();
    pass(Duration.ofMinutes(1));
    assertThat(stat(stack).holds().softPinned()).isZero();
  }

  // Layer by layer

  /// Whatever the number of layers, and in whatever order they are written: two calls for the blocks of a put.
  @Test
  void sliceBySlice_inAnyOrder_takesTwoDecisions() {
    Reservation room = value(stack.reserve(keys(0, 2), scope));
    List<Integer> granules = IntStream.range(0, SPACE.layout().granules()).boxed().toList().reversed();
    for (int granule : granules) {
      for (BlockDraft draft : room.drafts()) {
        assertThat(present(stack, 0, 1)).isEqualTo("00");
        Blocks.produce(draft, GranuleRange.whole(granule, 1));
      }
    }
    assertThat(value(room.commit(room.drafts()))).hasSize(2);
    read(stack, 0);
    read(stack, 1);
  }
}
