package io.penstock.examples.disaggregated.tensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

final class SafetensorsFileTest {
  private static final float[] EXACT = {0, -0f, 1, -2.5f, 0x1p-14f, 1024, 3.140625f, -0.0078125f};

  @TempDir
  private Path folder;

  @ParameterizedTest
  @EnumSource(value = StoredType.class, names = {"F32", "F16", "BF16"})
  void writtenTensors_areReadBack(StoredType type) throws IOException {
    Path file = folder.resolve("model.safetensors");
    SafetensorsWriter writer = new SafetensorsWriter((name, shape) -> EXACT, type);
    writer.tensor("a", 2, 4);
    writer.tensor("b", 8);
    writer.tensor("a", 2, 4); // a second time
    writer.write(file);

    try (SafetensorsFile read = SafetensorsFile.open(file)) {
      assertThat(read.names()).containsExactly("a", "b");
      assertThat(read.tensor("a", 2, 4)).containsExactly(EXACT);
      assertThat(read.tensor("b", 8)).containsExactly(EXACT);
    }
    assertThat(headerBytes(file) % 8).isZero();
  }

  @Test
  void narrowTypes_areRoundedToTheNearestEven() {
    assertThat(NarrowFloats.ofBf16(NarrowFloats.toBf16(1 + 0x1p-8f))).isEqualTo(1);
    assertThat(NarrowFloats.ofBf16(NarrowFloats.toBf16(1 + 0x3p-8f))).isEqualTo(1 + 0x4p-8f);
    assertThat(NarrowFloats.ofBf16(NarrowFloats.toBf16(1 + 0x1.01p-8f))).isEqualTo(1 + 0x2p-8f);
    assertThat(NarrowFloats.ofBf16(NarrowFloats.toBf16(Float.NaN))).isNaN();
    assertThat(NarrowFloats.ofBf16(NarrowFloats.toBf16(Float.MAX_VALUE))).isInfinite();
  }

  @ParameterizedTest
  @CsvSource({"NaN, F32", "Infinity, BF16", "-Infinity, F16"})
  void tensorWithoutFiniteNumbers_isRefused_byItsName(float number, StoredType type) throws IOException {
    Path file = folder.resolve("model.safetensors");
    SafetensorsWriter writer = new SafetensorsWriter((name, shape) -> new float[] {0, number}, type);
    writer.tensor("lm_head.weight", 2);
    writer.write(file);
    try (SafetensorsFile read = SafetensorsFile.open(file)) {
      assertThatThrownBy(() -> read.tensor("lm_head.weight", 2)).isInstanceOf(ModelFileException.class)
          .hasMessage(file + ": lm_head.weight must have finite numbers (was " + number + ", number 1)");
    }
  }

  @Test
  void tensorOfAnotherShapeOrType_isRefused() throws IOException {
    Path file = file("""
        {"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
         "b":{"dtype":"I64","shape":[1],"data_offsets":[8,16]}}""", 16);
    try (SafetensorsFile read = SafetensorsFile.open(file)) {
      assertThatThrownBy(() -> read.tensor("a", 1, 2)).isInstanceOf(ModelFileException.class)
          .hasMessage(file + ": a must have the shape [1, 2] (was [2])");
      assertThatThrownBy(() -> read.tensor("b", 1)).isInstanceOf(ModelFileException.class)
          .hasMessage(file + ": b dtype must be F32, F16 or BF16 (was I64)");
      assertThatThrownBy(() -> read.tensor("c", 1)).isInstanceOf(ModelFileException.class)
          .hasMessage(file + ": tensor c must be there (is missing)");
    }
  }

  @Test
  void metadataAndEmptyTensors_areTaken() throws IOException {
    Path file = file("""
        {"__metadata__":{"format":"pt"},"empty":{"dtype":"F32","shape":[0,4],"data_offsets":[0,0]},
         "one":{"dtype":"BF16","shape":[],"data_offsets":[0,2]}}""" + "   ", 2);
    try (SafetensorsFile read = SafetensorsFile.open(file)) {
      assertThat(read.names()).containsExactlyInAnyOrder("empty", "one");
      assertThat(read.tensor("one")).containsExactly(0);
      assertThat(read.tensor("empty", 0, 4)).isEmpty();
    }
  }

  static List<Arguments> hostileHeaders() {
    return List.of(
        Arguments.of(entry("a", "U8", "[4]", "[0,4]") + entry("b", "U8", "[4]", "[3,7]"),
            "b must begin where the tensor before it ends, at 4 (was 3)"),
        Arguments.of(entry("a", "U8", "[4]", "[0,4]") + entry("b", "U8", "[4]", "[5,9]"),
            "b must begin where the tensor before it ends, at 4 (was 5)"),
        Arguments.of(entry("a", "U8", "[7]", "[0,7]") + entry("b", "U8", "[7]", "[0,7]"),
            "b must begin where the tensor before it ends, at 7 (was 0)"),
        Arguments.of(entry("a", "U8", "[4]", "[0,4]"), "tensors must end with the file, at 16 (was 4)"),
        Arguments.of(entry("a", "U8", "[17]", "[0,17]"),
            "a data_offsets must be begin <= end <= 16 (was [0, 17])"),
        Arguments.of(entry("a", "U8", "[0]", "[4,0]"), "a data_offsets must be begin <= end <= 16 (was [4, 0])"),
        Arguments.of(entry("a", "U8", "[4]", "[0]"), "a data_offsets must be begin <= end <= 16 (was [0])"),
        Arguments.of(entry("a", "U8", "[4]", "[-1,3]"), "a data_offsets must have integers >= 0 (was -1)"),
        Arguments.of(entry("a", "U8", "[4]", "[0,9223372036854775808]"),
            "a data_offsets must have integers >= 0 (was 9223372036854775808)"),
        Arguments.of(entry("a", "U8", "[4]", "[0,4.0]"), "a data_offsets must have integers >= 0 (was 4.0)"),
        Arguments.of(entry("a", "U8", "[4]", "\"x\""), "a data_offsets must be a list of numbers (was \"x\")"),
        Arguments.of(entry("a", "F32", "[3]", "[0,16]"), "a must have 12 bytes by its shape and dtype (was 16)"),
        Arguments.of(entry("a", "F32", "[2147483647,2147483647,2147483647]", "[0,16]"),
            "a shape must fit in 63 bits (was [2147483647, 2147483647, 2147483647])"),
        Arguments.of(entry("a", "F32", "[4294967296]", "[0,16]"),
            "a shape must have axes below 2^31 (was 4294967296)"),
        Arguments.of(entry("a", "F32", "[1,1,1,1,1,1,1,1,4]", "[0,16]"), "a shape must have at most 8 axes (was 9)"),
        Arguments.of(entry("a", "F32", "[-4]", "[0,16]"), "a shape must have integers >= 0 (was -4)"),
        Arguments.of(entry("a", "Q4_K", "[4]", "[0,16]"), "a dtype must be one of safetensors (was \"Q4_K\")"),
        Arguments.of(entry("a", "f32", "[4]", "[0,16]"), "a dtype must be one of safetensors (was \"f32\")"),
        Arguments.of(",\"a\":7", "a dtype must be one of safetensors (was )"),
        Arguments.of(entry("a", "F32", "[4]", "[0,16]") + entry("a", "F32", "[4]", "[0,16]"),
            "header must be JSON without repeated names"));
  }

  private static String entry(String name, String type, String shape, String offsets) {
    return ",\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":%s}".formatted(name, type, shape, offsets);
  }

  @ParameterizedTest
  @MethodSource("hostileHeaders")
  void hostileHeader_isRefusedByTensorAndRule(String entries, String problem) throws IOException {
    Path file = file("{" + entries.substring(1) + "}", 16);
    assertThatThrownBy(() -> SafetensorsFile.open(file)).isInstanceOf(ModelFileException.class)
        .hasMessageStartingWith(file + ": " + problem);
  }

  @ParameterizedTest
  @CsvSource({"-1,header length must be <= 16 (was 18446744073709551615)", "17,header length must be <= 16 (was 17)",
    "100000001,header length must be <= 16 (was 100000001)", "0,header must begin with {",
    "16,header must begin with {"})
  void hostileLength_isRefused(long length, String problem) throws IOException {
    Path file = Files.write(folder.resolve("file"),
        ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN).putLong(length).array());
    assertThatThrownBy(() -> SafetensorsFile.open(file)).isInstanceOf(ModelFileException.class)
        .hasMessage(file + ": " + problem);
  }

  @Test
  void tooShortFile_isRefused() throws IOException {
    Path file = Files.write(folder.resolve("file"), new byte[7]);
    assertThatThrownBy(() -> SafetensorsFile.open(file)).isInstanceOf(ModelFileException.class)
        .hasMessage(file + ": file must have 8 bytes or more (was 7)");
  }

  /// Every damage is either refused by the typed error, or leaves the file readable.
  @Test
  void damagedFiles_neverEndInAnotherError() throws IOException {
    Path whole = folder.resolve("whole");
    SafetensorsWriter writer = new SafetensorsWriter(new SeededTensors(1), StoredType.BF16);
    writer.tensor("model.norm.weight", 6);
    writer.tensor("lm_head.weight", 4, 6);
    writer.write(whole);
    byte[] bytes = Files.readAllBytes(whole);
    SplittableRandom random = new SplittableRandom(11);
    for (int i = 0; i < 300; i++) {
      byte[] damaged = Arrays.copyOf(bytes, random.nextInt(8) == 0 ? random.nextInt(bytes.length) : bytes.length);
      for (int flips = random.nextInt(1, 4); flips > 0 && damaged.length > 0; flips--) {
        damaged[random.nextInt(Math.min(damaged.length, 200))] = (byte) random.nextInt();
      }
      Path file = Files.write(folder.resolve("damaged"), damaged);
      try (SafetensorsFile read = SafetensorsFile.open(file)) {
        read.tensor("lm_head.weight", 4, 6);
      } catch (ModelFileException e) {
        assertThat(e).hasMessageStartingWith(file + ": ");
      }
    }
  }

  private Path file(String header, int dataBytes) throws IOException {
    byte[] json = header.getBytes(StandardCharsets.UTF_8);
    return Files.write(folder.resolve("file"), ByteBuffer.allocate(8 + json.length + dataBytes)
        .order(ByteOrder.LITTLE_ENDIAN).putLong(json.length).put(json).array());
  }

  private static long headerBytes(Path file) throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN).getLong();
  }
}
