package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/// The exact victims among blocks that are leased, pinned, read, and members of a group; and why others stayed.
final class HeldVictimsTest extends StackSteps {
  private static final int CAPACITY = 16;
  private static final Map<BlockKey, Integer> NUMBERS = new HashMap<>();

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private long now = 7;
  private final TierStack stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", CAPACITY)),
      StackOptions.defaults("stack").withIngressBlocks(4).withExact(false), TierListener.noop(), () -> now);
  private final TierHolds holds = stack.holds("me");
  private final BlockScope scope = new BlockScope();
  private int seen;

  static {
    IntStream.range(0, 100).forEach(number -> NUMBERS.put(key(number), number));
  }

  @AfterEach
  void close() {
    scope.close();
    holds.close();
    assertClosesClean(stack);
  }

  private static <T> T value(Mono<T> mono) {
    return requireNonNull(mono.block(SOON));
  }

  private static List<BlockKey> keys(int from, int to) {
    return IntStream.range(from, to).mapToObj(StackSteps::key).toList();
  }

  private void fill(int from, int to) {
    IntStream.range(from, to).forEach(number -> put(stack, number));
  }

  /// Victims since the last call.
  private List<Integer> victims() {
    List<Integer> all = history(stack).stream().filter(TierEvent.Evicted.class::isInstance)
        .map(event -> requireNonNull(NUMBERS.get(((TierEvent.Evicted) event).key()))).toList();
    List<Integer> fresh = all.subList(seen, all.size());
    seen = all.size();
    return fresh;
  }

  /// A block that is held when its turn comes is passed over, and counts as used then.
  @Test
  void victims_areTheLeastRecentlyUsedOfThoseThatNothingHolds() {
    fill(0, 10);
    try (BlockScope own = new BlockScope()) {
      Reservation room = value(stack.reserve(keys(10, 12), PutTerms.plain().withGroup("turn"), own));
      room.drafts().forEach(Blocks::produce);
      value(room.commit(room.drafts()));
    }
    fill(12, CAPACITY);
    assertThat(value(holds.lease(keys(0, 3), LeaseTerms.defaults())).leased().count()).isEqualTo(3);
    value(holds.pin(keys(3, 7), Pin.soft(Duration.ofMinutes(1))));
    value(holds.pin(keys(7, 9), Pin.hard()));
    Block inUse = requireNonNull(stack.get(keys(9, 10), scope).blockFirst(SOON)); // its stream has ended
    inUse.close();
    read(stack, 11); // leases 10, too
    assertThat(victims()).isEmpty();

    fill(20, 24);
    assertThat(victims()).as("neither leased, nor pinned, nor of the group").containsExactly(12, 13, 14, 15);
    TierStat.Holds stat = stat(stack).holds();
    assertThat(List.of(stat.leased(), stat.softPassed(), stat.hardPassed())).as("passed over: 0-2 and 10, 3-6, 7-8")
        .containsExactly(4L, 4L, 2L);

    fill(24, 26);
    assertThat(victims()).as("9 was used, and nothing holds it now").containsExactly(9, 20);

    now += Duration.ofSeconds(10).toNanos(); // the leases end
    fill(26, 40);
    assertThat(victims()).as("pinned blocks stay").doesNotContain(3, 4, 5, 6, 7, 8).contains(0, 1, 2, 10, 11);
    now += Duration.ofSeconds(50).toNanos(); // the soft pins end
    fill(40, 70);
    assertThat(victims()).contains(3, 4, 5, 6).doesNotContain(7, 8);
    assertThat(present(stack, 7, 8)).isEqualTo("11");
  }

  /// One member that a reader asked for keeps every member of its group, and none once its life is over.
  @Test
  void group_staysOrGoesAsOne_howeverManyMembersItHas() {
    try (BlockScope own = new BlockScope()) {
      Reservation room = value(stack.reserve(keys(0, 4), PutTerms.plain().withGroup("turn"), own));
      room.drafts().forEach(Blocks::produce);
      value(room.commit(room.drafts()));
    }
    fill(4, CAPACITY);
    read(stack, 2);
    fill(20, 20 + 3 * CAPACITY);
    assertThat(present(stack, 0, 1, 2, 3)).isEqualTo("1111");
    now += Duration.ofSeconds(10).toNanos();
    fill(70, 70 + CAPACITY);
    assertThat(present(stack, 0, 1, 2, 3)).isEqualTo("0000");
  }
}
