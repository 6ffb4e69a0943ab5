package io.penstock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.SlabArena;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
final class LeakLedgerTest {
  @Test
  void assertEmpty_namesWhatIsStillLent() {
    try (LeakLedger leaks = new LeakLedger()) {
      SlabArena arena = leaks.watch(new SlabArena("a", Blocks.smallLayout(), 2, 1));
      Block block = Blocks.block(arena, Blocks.key(Blocks.smallSpace(), 1));
      assertThatThrownBy(leaks::assertEmpty).isInstanceOf(AssertionError.class).hasMessageContaining("1 claimed slots");
      assertThatThrownBy(() -> leaks.awaitEmpty(Duration.ofMillis(1))).isInstanceOf(AssertionError.class);
      block.close();
      leaks.assertEmpty();
    }
  }

  @Test
  void corrupt_flipsAByteThatAssertBytesAndVerifyNotice() {
    try (LeakLedger leaks = new LeakLedger();
        SlabArena arena = leaks.watch(new SlabArena("a", Blocks.smallLayout(), 1, 1));
        Block block = Blocks.block(arena, Blocks.key(Blocks.smallSpace(), 7))) {
      Blocks.assertBytes(block);
      Blocks.corrupt(block, 70);
      assertThatThrownBy(() -> Blocks.assertBytes(block)).isInstanceOf(AssertionError.class)
          .hasMessageContaining("byte 70");
      assertThatThrownBy(() -> block.verify("here")).hasMessageContaining("granule 1 ");
      assertThat(Blocks.byteAt(block.key(), 70))
          .isNotEqualTo(block.<Byte>read(m -> m.get(java.lang.foreign.ValueLayout.JAVA_BYTE, 70)));
    }
  }
}
