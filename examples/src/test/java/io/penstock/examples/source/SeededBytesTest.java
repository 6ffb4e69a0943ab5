package io.penstock.examples.source;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SeededBytesTest {
  private static final long SEED = 7;

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 8, 9, 1000, 1003})
  void anyPart_equalsThatPartOfTheWhole(int length) {
    MemorySegment whole = MemorySegment.ofArray(new byte[4096]);
    SeededBytes.fill(SEED, 0, whole);
    MemorySegment part = MemorySegment.ofArray(new byte[length]);

    SeededBytes.fill(SEED, 512, part);

    assertThat(part.mismatch(whole.asSlice(512, length))).isEqualTo(-1);
    assertThat(SeededBytes.mismatch(SEED, 512, part)).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 8, 12, 15, 16, 18})
  void oneFlippedBit_isFound(int at) {
    MemorySegment bytes = MemorySegment.ofArray(new byte[19]);
    SeededBytes.fill(SEED, 0, bytes);
    bytes.set(JAVA_BYTE, at, (byte) (bytes.get(JAVA_BYTE, at) ^ 4));

    assertThat(SeededBytes.mismatch(SEED, 0, bytes)).isEqualTo(at < 16 ? at / 8 * 8 : at);
  }

  @Test
  void otherSeedOrPosition_differs() {
    MemorySegment bytes = MemorySegment.ofArray(new byte[64]);
    SeededBytes.fill(SEED, 0, bytes);

    assertThat(SeededBytes.mismatch(SEED + 1, 0, bytes)).isZero();
    assertThat(SeededBytes.mismatch(SEED, 8, bytes)).isZero();
  }

  @Test
  void oddPosition_isRefused() {
    assertThatThrownBy(() -> SeededBytes.fill(SEED, 4, MemorySegment.ofArray(new byte[8])))
        .hasMessage("position must be a multiple of 8 (was 4)");
  }
}
