package io.penstock.node.tiers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class DiskPlanTest {
  private static final int RECORD_BYTES = 65_696;

  private final DiskPlan auto = DiskPlan.in(Path.of("unused"));

  @ParameterizedTest
  @CsvSource({"1, 64", "5000, 64", "10000, 79", "100000, 784", "130000, 1019", "131000, 1024",
    "9223372036854775807, 1024"})
  void autoSegment_isAnEighthOfWhatIsKept_within64MiBAnd1GiB(long blocks, long mebibytes) {
    assertThat(auto.segmentBytes(blocks, RECORD_BYTES)).isEqualTo(mebibytes << 20);
  }

  @Test
  void autoSegment_ofLargeBlocks_takesEight() {
    int recordBytes = 300 << 20;
    assertThat(auto.segmentBytes(2, recordBytes)).isEqualTo(8L * recordBytes);
  }

  @Test
  void saidSegment_isKept() {
    assertThat(auto.withSegmentBytes(5 << 20).segmentBytes(1_000_000, RECORD_BYTES)).isEqualTo(5 << 20);
    assertThatIllegalArgumentException().isThrownBy(() -> auto.withSegmentBytes(-1))
        .withMessage("segmentBytes must be >= 0, 0 for what follows from the capacity (was -1)");
  }
}
