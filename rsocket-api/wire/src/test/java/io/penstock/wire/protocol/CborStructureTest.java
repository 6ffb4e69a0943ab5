package io.penstock.wire.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.dataformat.cbor.CBORFactory;

/// Structures of CBOR that a reader of messages gets, and those that it does not.
final class CborStructureTest {
  private static void require(String hex) {
    CborStructure.require(HexFormat.of().parseHex(hex), 8);
  }

  @ParameterizedTest
  @CsvSource({"00", "1b7fffffffffffffff", "3bffffffffffffffff", "40", "43010203", "5f4101420203ff", "6161", "7fff",
    "80",
    "83010203", "9fff", "9f8001ff", "a0", "a1616101", "bf616180ff", "f4", "f6", "f820", "f93c00", "fb0000000000000000",
    "828080", "a161618101"})
  void wholeItem_passes(String hex) {
    assertThatCode(() -> require(hex)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @CsvSource({"'',item of CBOR (was fewer", "c100,without tags (was a tag at byte 0)", "8201d9d9f700,a tag at byte 2",
    "5fc14101ff,of another type", "0000,(was more", "1b00,(was fewer", "42ff,(was fewer", "8201,(was fewer",
    "9f01,(was fewer", "bf6161,(was fewer", "ff,an end of what has not begun", "81ff,an end of what has not begun",
    "1c,no meaning", "5f5f4101ffff,of another type", "5f6161ff,of another type", "5bffffffffffffffff,(was fewer",
    "9a7fffffff00,(was fewer", "bbffffffffffffffff,(was fewer", "9f0102030405060708ff,at most 8 items"})
  void otherBytes_areRefused_bySayingWhat(String hex, String words) {
    assertThatThrownBy(() -> require(hex)).isInstanceOf(WireFormatException.class)
        .hasMessageStartingWith("message must ")
        .hasMessageContaining(words);
  }

  @Test
  void nesting_isBounded() {
    String deepest = "81".repeat(CborStructure.DEEPEST);
    assertThatCode(() -> CborStructure.require(HexFormat.of().parseHex(deepest + "00"), 100))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> CborStructure.require(HexFormat.of().parseHex("81" + deepest + "00"), 100))
        .hasMessageContaining("nested at most 32 deep (was deeper)");
  }

  @Test
  void requestOfManyItems_isRefused_inEitherEncoding() {
    String json = "{\"ticket\":1,\"other\":[" + "0,".repeat(ControlCodec.REQUEST_ITEMS) + "0]}";
    assertThatThrownBy(
        () -> ControlCodec.JSON.decodeRequest(Unpooled.wrappedBuffer(json.getBytes(StandardCharsets.UTF_8)),
            Messages.DrainRequest.class))
        .isInstanceOf(WireFormatException.class);
    String cbor = "bf667469636b6574016161" + "9f" + "00".repeat(ControlCodec.REQUEST_ITEMS) + "ffff";
    assertThatThrownBy(() -> ControlCodec.CBOR.decodeRequest(Unpooled.wrappedBuffer(HexFormat.of().parseHex(cbor)),
        Messages.DrainRequest.class)).hasMessageContaining("of at most 4096 items");
    assertThat(ControlCodec.CBOR.decode(Unpooled.wrappedBuffer(HexFormat.of().parseHex(cbor)),
        Messages.DrainRequest.class).ticket()).isOne();
  }

  /// The library reads whatever passes to its end, apart from texts that are no UTF-8.
  @Test
  void randomBytesThatPass_areWholeToTheLibrary() {
    CBORFactory library = new CBORFactory();
    SplittableRandom random = new SplittableRandom(3);
    int passed = 0;
    for (int i = 0; i < 40_000; i++) {
      byte[] bytes = new byte[random.nextInt(1, 12)];
      random.nextBytes(bytes);
      bytes[0] = (byte) (0x80 + random.nextInt(0x40));
      try {
        CborStructure.require(bytes, 100);
      } catch (WireFormatException e) {
        continue;
      }
      passed++;
      String refusal = read(library, bytes);
      assertThat(refusal).as(HexFormat.of().formatHex(bytes)).doesNotContain("end-of-input", "Unexpected end");
    }
    assertThat(passed).isGreaterThan(100);
  }

  private static String read(CBORFactory library, byte[] bytes) {
    try (JsonParser in = library.createParser(ObjectReadContext.empty(), bytes)) {
      while (in.nextToken() != null) {
        in.skipChildren();
      }
      return "";
    } catch (RuntimeException e) {
      return String.valueOf(e.getMessage());
    }
  }
}
