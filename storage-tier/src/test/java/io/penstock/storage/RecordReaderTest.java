package io.penstock.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.storage.engine.MemoryEngine;
import io.penstock.storage.engine.SegmentEngine;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/// What never got to the medium, as far as it can be told: pages of a segment that are zero, as far as the record lies
/// on them.
final class RecordReaderTest {
  private static final int PAGE = 4096;

  @Test
  void hole_isAPageOfZerosOnWhichTheBytesLie() {
    try (MemoryDisk disk = new MemoryDisk();
        SegmentEngine engine = MemoryEngine.open(disk, new EngineOptions(1 << 20, 0));
        Arena memory = Arena.ofConfined()) {
      RecordReader reader = new RecordReader(engine, "test");
      engine.append(memory.allocate(1000).fill((byte) 1));
      MemorySegment bytes = memory.allocate(5L * PAGE).fill((byte) 1);
      bytes.asSlice(2L * PAGE - 1000, PAGE).fill((byte) 0); // the third page of the segment
      bytes.asSlice(4L * PAGE - 1000 + 1, PAGE - 1).fill((byte) 0); // and all of another but a byte
      Location at = engine.append(bytes);

      assertThat(reader.hasHole(at, 0, 2 * PAGE - 1000)).isFalse();
      assertThat(reader.hasHole(at, 0, 2 * PAGE - 999)).isTrue();
      assertThat(reader.hasHole(at, 2 * PAGE, 2 * PAGE + 8)).isTrue();
      assertThat(reader.hasHole(at, 3 * PAGE - 1000, 5 * PAGE)).isFalse();
      assertThat(reader.hasHole(engine.append(memory.allocate(64)), 0, 8)).as("a record of zeros").isTrue();
    }
  }
}
