package io.penstock.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.check.Checksum;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/// The checksums of slices that cut a granule of a block: one pass computes them all.
@Timeout(30)
final class RowChecksumsTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final BlockLayout LAYOUT = SPACE.layout();

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  private Block block;

  @BeforeEach
  void make() {
    block = Blocks.block(leaks.watch(new SlabArena("a", LAYOUT, 1, 4)), Blocks.key(SPACE, 1));
  }

  private static int sum(LayerSpan span) {
    return span.checksums("test")[0];
  }

  private static int computed(LayerSpan span) {
    return span.read(Checksum::of);
  }

  @Test
  void runsOfEachLength_answerTheirOwnChecksums_inAnyOrder() {
    int rows = LAYOUT.rows(0);
    for (int run = 1; run < rows; run++) {
      for (int first = 0; first < rows; first++) { // aligned and not, the short last run, too
        try (LayerSpan span = block.span(GranuleRange.rows(0, first, Math.min(run, rows - first)));
            LayerSpan other = block.span(GranuleRange.rows(1, 0, 1))) {
          assertThat(sum(span)).as("%d rows from %d", run, first).isEqualTo(computed(span));
          assertThat(sum(other)).isEqualTo(computed(other));
        }
      }
    }
    block.close();
  }

  @Test
  void firstRun_ofADamagedGranule_isRefusedForEachReader() {
    try (LayerSpan damaged = block.span(GranuleRange.rows(0, 0, 1));
        LayerSpan next = block.span(GranuleRange.rows(0, 1, 1))) {
      Blocks.corrupt(block, LAYOUT.granuleBytes(0) - 1);
      assertThatThrownBy(() -> sum(damaged)).isInstanceOf(BlockCorruptException.class);
      assertThatThrownBy(() -> sum(next)).isInstanceOf(BlockCorruptException.class);
    }
    block.close();
  }

  @Test
  void laterRun_damagedAfterTheFirst_keepsTheChecksumOfWhatItWas_andVerifyFindsIt() {
    try (LayerSpan first = block.span(GranuleRange.rows(0, 0, 1));
        LayerSpan later = block.span(GranuleRange.rows(0, 1, 1))) {
      int before = computed(later);
      sum(first);
      Blocks.corrupt(block, LAYOUT.rowBytes(0));
      assertThat(sum(later)).isEqualTo(before).isNotEqualTo(computed(later));
      assertThatThrownBy(() -> later.verify("test")).isInstanceOf(BlockCorruptException.class);
    }
    block.close();
  }
}
