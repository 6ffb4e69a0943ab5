package io.penstock.wire.client.get;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.HeldSlots;
import io.penstock.block.SlabArena;
import io.penstock.operator.Serial;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(10)
final class SlotsAheadTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final List<BlockKey> KEYS = Blocks.keys(SPACE, 0, 4);

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private final SlabArena arena = leaks.watch(new SlabArena("arena", SPACE.layout(), 4, 4));
  private int turns;

  private SlotsAhead slots(BlockScope scope) {
    return new SlotsAhead(arena, scope, new Serial(error -> {
      throw new AssertionError(error);
    }), () -> turns++, error -> {
      throw new AssertionError(error);
    });
  }

  @Test
  void hold_takesWhatIsMissing_andEachDraftUsesOne() {
    try (BlockScope scope = new BlockScope()) {
      SlotsAhead slots = slots(scope);
      slots.hold(2, false);
      slots.hold(3, false);
      assertThat(slots.left()).isEqualTo(3);
      assertThat(arena.claimedSlots()).isEqualTo(3);
      for (int i = 0; i < 3; i++) {
        assertThat(Objects.requireNonNull(slots.drafts(KEYS.subList(i, i + 1))).getFirst().key())
            .isEqualTo(KEYS.get(i));
      }
      assertThat(slots.drafts(KEYS.subList(3, 4))).as("none is held").isNull();
    }
  }

  @Test
  void hold_whatIsNotFree_waitsForAllOfItAndHoldsNothingMeanwhile() {
    HeldSlots others = Objects.requireNonNull(arena.tryHold(3));
    try (BlockScope scope = new BlockScope()) {
      SlotsAhead slots = slots(scope);
      slots.hold(1, true);
      slots.hold(2, false);
      assertThat(slots.left()).as("it may not wait").isEqualTo(1);
      slots.hold(2, true);
      assertThat(slots.left()).isZero();
      assertThat(arena.claimedSlots()).isEqualTo(3);
      others.close();
      assertThat(slots.left()).isEqualTo(2);
      assertThat(turns).isEqualTo(1);
    }
  }

  @Test
  void stop_leavesTheQueue_andTheScopeGivesBackWhatIsHeld() {
    HeldSlots others = Objects.requireNonNull(arena.tryHold(3));
    try (BlockScope scope = new BlockScope()) {
      SlotsAhead slots = slots(scope);
      slots.hold(2, true);
      slots.stop();
      others.close();
      assertThat(arena.claimedSlots()).isZero();
      assertThat(turns).isZero();
    }
  }
}
