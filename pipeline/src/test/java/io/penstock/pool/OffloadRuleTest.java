package io.penstock.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.stack.shape.StackOptions.OffloadRule;
import org.junit.jupiter.api.Test;

final class OffloadRuleTest {
  private static final BlockKey KEY =
      new BlockKey(CacheSpace.of("rules", BlockLayout.attention(1, 1, 1, 4, ElementType.BF16)).id(),
          new BlockHash(1, 2));

  @Test
  void rules_areValues_soThatWhoCountsForNothingCanTell() {
    assertThat(OffloadRule.usedAtLeast(0)).isEqualTo(OffloadRule.all());
    assertThat(OffloadRule.usedAtLeast(1)).isEqualTo(OffloadRule.usedAtLeast(1)).isNotEqualTo(OffloadRule.all());
  }

  @Test
  void rule_takesWhatWasUsedSoOften() {
    assertThat(OffloadRule.all().takes(KEY, 0)).isTrue();
    assertThat(OffloadRule.usedAtLeast(2).takes(KEY, 1)).isFalse();
    assertThat(OffloadRule.usedAtLeast(2).takes(KEY, 2)).isTrue();
    assertThatThrownBy(() -> OffloadRule.usedAtLeast(16)).hasMessage("uses must be in [0, 15] (was 16)");
  }
}
