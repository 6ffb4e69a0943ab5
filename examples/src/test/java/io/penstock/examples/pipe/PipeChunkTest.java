package io.penstock.examples.pipe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PipeChunkTest {
  private static final TensorShape SHAPE = TensorShape.of(TensorType.BF16, 3, 5);

  private final MemorySegment chunk = MemorySegment.ofArray(new byte[4096]);

  @Test
  void head_isReadAsItWasWritten() {
    new PipeChunk.Data(Tensor.of(SHAPE, MemorySegment.ofArray(new byte[30])), 0).write(chunk);

    assertThat(PipeChunk.kind(chunk)).isEqualTo(PipeChunk.KIND_TENSOR);
    assertThat(PipeChunk.shape(chunk)).isEqualTo(SHAPE);
    assertThat(chunk.asSlice(0, 4).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(new byte[] {'P', 'I', 'P', '1'});
  }

  @Test
  void longFailure_isCutToTheChunk() {
    new PipeChunk.Last("x".repeat(10_000)).write(chunk);

    assertThat(PipeChunk.failure(chunk)).hasSize(4096 - PipeChunk.HEAD_BYTES);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 7, chunk must begin with a head", "4, 0, chunk must begin with a head", "4, 4, chunk must begin with a head",
    "5, 99, type and rank must be known", "5, -1, type and rank must be known", "6, 9, type and rank must be known",
    "8, 29, bytes must be 30", "23, -1, dimension must be >= 0", "23, 127, bytes must be <="
  })
  void spoiltHead_isRefused(int at, byte value, String message) {
    new PipeChunk.Data(Tensor.of(SHAPE, MemorySegment.ofArray(new byte[30])), 0).write(chunk);
    chunk.set(ValueLayout.JAVA_BYTE, at, value);

    assertThatThrownBy(() -> {
      PipeChunk.kind(chunk);
      PipeChunk.shape(chunk);
    }).isInstanceOf(PipeFormatException.class).hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({"0, 1", "1, 1", "3968, 1", "3969, 2", "8064, 2", "8065, 3"})
  void count_isWhatTheBytesTake(long bytes, long chunks) {
    assertThat(PipeChunk.count(bytes, 4096)).isEqualTo(chunks);
  }

  @Test
  void impossibleShape_isRefusedNamingTheRule() {
    assertThatThrownBy(() -> TensorShape.of(TensorType.F32, 1, -1)).hasMessage("dimension must be >= 0 (was -1)");
    assertThatThrownBy(() -> TensorShape.of(TensorType.F64, Long.MAX_VALUE, 2))
        .hasMessageContaining("bytes must be <=");
    assertThatThrownBy(() -> TensorShape.of(TensorType.F64, 1, 1, 1, 1, 1, 1, 1, 1, 1))
        .hasMessageContaining("dimensions must be <= 8");
    assertThatThrownBy(() -> Tensor.of(SHAPE, MemorySegment.ofArray(new byte[31])))
        .hasMessage("memory must be 30 bytes (was 31)");
  }
}
