package io.penstock.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockHash;
import io.penstock.block.CacheSpace;
import org.junit.jupiter.api.Test;

final class ValueHeadTest {
  private static final int PART = 4096;
  private static final long MOST_PARTS = (1 << 27) - 1;
  private static final CacheSpace SPACE = ValueStore.space("values", PART, "");

  @Test
  void longestValue_hasNoMorePartsThanKeysFitInAnArray() {
    assertThat(ValueHead.longest(SPACE, "k", Long.MAX_VALUE - 1)).isEqualTo(MOST_PARTS * PART);
    assertThat(ValueHead.longest(SPACE, "k", MOST_PARTS)).isEqualTo(MOST_PARTS * PART);
    assertThat(ValueHead.longest(SPACE, "k", MOST_PARTS - 1)).isEqualTo(MOST_PARTS * PART - 64);
    ValueHead longest = ValueHead.of(SPACE, "k", MOST_PARTS * PART, BlockHash.ROOT);
    assertThat(Math.multiplyExact(longest.parts(), BlockHash.BYTES)).isPositive();
    assertThatThrownBy(() -> ValueHead.of(SPACE, "k", MOST_PARTS * PART + 1, BlockHash.ROOT))
        .hasMessage("length must be at most 2^27 - 1 parts (was " + (MOST_PARTS * PART + 1) + ")");
  }

  @Test
  void longestValue_isNone_whereThereIsNoRoomForAHead() {
    assertThat(ValueHead.longest(SPACE, "k", -1)).isZero();
    assertThat(ValueHead.longest(SPACE, "k", 0)).isEqualTo(PART - 64);
  }
}
