package io.penstock.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.flow.KvGroup.Kind;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class KvGroupsTest {
  private static final KvGroup FULL = KvGroup.of(Kind.FULL, 16);
  private static final KvGroup STATE = KvGroup.of(Kind.STATE, 16);

  private static BitSet bits(String blocks) {
    BitSet bits = new BitSet();
    for (int i = 0; i < blocks.length(); i++) {
      bits.set(i, blocks.charAt(i) == '1');
    }
    return bits;
  }

  @Test
  void granularity_isTheLeastCommonMultiple() {
    assertThat(new KvGroups(List.of(KvGroup.of(Kind.FULL, 96), KvGroup.of(Kind.FULL, 128))).granularity())
        .isEqualTo(384);
    assertThat(new KvGroups(List.of(FULL)).granularity()).isEqualTo(16);
    assertThatThrownBy(() -> new KvGroups(List.of())).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("(was none)");
  }

  @Test
  void positions_ofFullAttentionAreARun_ofStatesAnyBlock() {
    BitSet all = KvGroups.onAll(List.of(bits("1101"), bits("1111")));
    assertThat(KvGroups.positions(FULL, 16, 1000, all)).containsExactly(16, 32);
    assertThat(KvGroups.positions(STATE, 16, 1000, all)).containsExactly(16, 32, 64);
    assertThat(KvGroups.positions(STATE, 32, 1000, all)).containsExactly(32, 64);
    assertThat(KvGroups.positions(STATE, 16, 63, all)).containsExactly(16, 32);
    assertThat(KvGroups.positions(FULL, 16, 1000, KvGroups.onAll(List.of(bits("110"), bits("101")))))
        .containsExactly(16);
  }

  @Test
  void common_isTheLargestPositionInAllLists() {
    assertThat(KvGroups.common(List.of(List.of(16, 32, 48), List.of(32, 48), List.of(16, 32), List.of(32, 48, 64))))
        .isEqualTo(32);
    assertThat(KvGroups.common(List.of(List.of(16), List.of(32)))).isZero();
    assertThat(KvGroups.common(List.of())).isZero();
  }

  /// The last window of 33 tokens before position 96 is tokens 64 to 95: blocks 4 and 5 of 16 tokens.
  @ParameterizedTest
  @CsvSource({"33, 96, 4, 6", "34, 96, 3, 6", "17, 16, 0, 1", "1, 64, 4, 4", "1000, 64, 0, 4"})
  void slidingWindow_needsItsLastWindowOnly(int window, int tokens, int first, int end) {
    BitSet needed = new BitSet();
    needed.set(first, end);
    assertThat(KvGroup.slidingWindow(16, window).needed(tokens)).isEqualTo(needed);
  }

  @Test
  void draft_holdsOneGranuleBack() {
    assertThat(KvGroups.positions(KvGroup.of(Kind.DRAFT, 16), 16, 1000, bits("1111"))).containsExactly(16, 32, 48);
  }

  @Test
  void hit_isFromWhereEveryGroupCanContinue() {
    KvGroups groups = new KvGroups(List.of(FULL, KvGroup.slidingWindow(16, 32), KvGroup.of(Kind.STATE, 32)));
    assertThat(groups.hit(100, List.of(bits("111111"), bits("001111"), bits("011")))).isEqualTo(96);
    assertThat(groups.hit(100, List.of(bits("111110"), bits("001111"), bits("011")))).isEqualTo(64);
    assertThat(groups.hit(100, List.of(bits("111110"), bits("000111"), bits("011")))).isZero();
    assertThat(groups.hit(31, List.of(bits("11"), bits("11"), bits("1")))).isZero();
  }

  @Test
  void groupOfASpace_looksBackAsItsLayersDo() {
    BlockLayout layout = BlockLayout.attention(2, 16, 1, 8, ElementType.BF16);
    BlockLayout state = new BlockLayout(2, 1, TokenOrder.NHD, List.of(new Plane(Plane.Kind.STATE, ElementType.FP32, 1,
        64)));
    assertThat(KvGroup.of(CacheSpace.of("m", layout))).isEqualTo(FULL);
    assertThat(KvGroup.of(new CacheSpace("m", layout, new CacheSpace.Group(1, 100, 0, List.of(0, 1)), "")))
        .isEqualTo(KvGroup.slidingWindow(16, 100));
    assertThat(KvGroup.of(new CacheSpace("m", state, new CacheSpace.Group(2, 0, 512, List.of()), "")))
        .isEqualTo(KvGroup.of(Kind.STATE, 512));
  }

  /// The fixed point equals the largest position that all groups have in common.
  @Test
  void hit_ofGroupsAtRandom_isTheLargestCommonPosition() {
    for (int seed = 0; seed < 500; seed++) {
      Random random = new Random(seed);
      List<KvGroup> groups = new ArrayList<>();
      List<BitSet> present = new ArrayList<>();
      for (int i = 0; i <= random.nextInt(4); i++) {
        Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
        groups.add(new KvGroup(kind, 8 << random.nextInt(3), kind == Kind.SLIDING_WINDOW ? 1 + random.nextInt(60) : 0));
        BitSet blocks = new BitSet();
        for (int block = 0; block < 40; block++) {
          blocks.set(block, random.nextInt(12) > 0);
        }
        present.add(blocks);
      }
      KvGroups all = new KvGroups(groups);
      int tokens = random.nextInt(320);
      List<List<Integer>> positions = new ArrayList<>();
      for (int i = 0; i < groups.size(); i++) {
        positions.add(KvGroups.positions(groups.get(i), all.granularity(), tokens, present.get(i)));
      }
      assertThat(all.hit(tokens, present)).as("seed %d, %s", seed, groups).isEqualTo(KvGroups.common(positions));
    }
  }
}
