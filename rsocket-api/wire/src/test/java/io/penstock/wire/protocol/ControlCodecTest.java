package io.penstock.wire.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.Registration.Engine;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.dataformat.cbor.CBORMapper;

/// Control messages are taken as the protocol has them: nothing is converted, and what is wrong is named by its field.
final class ControlCodecTest {
  private static final ObjectMapper PLAIN_CBOR = CBORMapper.builder().build();
  private static final ObjectMapper GENERAL_CBOR =
      CBORMapper.builder().disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
          .changeDefaultVisibility(found -> found.withIsGetterVisibility(Visibility.NONE))
          .changeDefaultPropertyInclusion(found -> found.withValueInclusion(JsonInclude.Include.NON_NULL)).build();

  private static <T> T json(String text, Class<T> type) {
    return ControlCodec.JSON.decode(Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.UTF_8)), type);
  }

  private static <T> T cbor(Object message, Class<T> type) {
    return ControlCodec.CBOR.decode(Unpooled.wrappedBuffer(PLAIN_CBOR.writeValueAsBytes(message)), type);
  }

  private static void assertRefused(String field, WireFormatException refusal) {
    assertEquals(field, refusal.field(), refusal.getMessage());
    assertEquals(ErrorCode.BAD_REQUEST, refusal.code());
    assertThat(refusal.getMessage()).doesNotContain("jackson", "java", "io.penstock", "Token", "Deserial", "Request");
  }

  private static Map<String, Object> put(Object space, Object hashes, Object windowBlocks) {
    Map<String, Object> keys = new LinkedHashMap<>();
    keys.put("space", space);
    keys.put("hashes", hashes);
    Map<String, Object> message = new LinkedHashMap<>();
    message.put("keys", keys);
    message.put("maxSliceBytes", 4096);
    message.put("windowBlocks", windowBlocks);
    message.put("ticket", 1);
    return message;
  }

  /// The quick codec writes what the general one writes, so a recording of either is one of both.
  @Test
  void messagesOfGetsPutsAndLookUps_areWrittenAsOthersAre_andReadWhateverTheirForm() {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 400; i++) {
      byte[] space = new byte[16];
      byte[] hashes = new byte[16 * random.nextInt(i < 300 ? 20 : 5_000)];
      random.nextBytes(space);
      random.nextBytes(hashes);
      Messages.Keys keys = new Messages.Keys(space, hashes);
      Messages.Bits bits = bits(random);
      List<Object> messages = List.of(new Messages.KeysRequest(keys), bits,
          new Messages.Found(bits, bits(random), bits(random), bits(random)),
          new Messages.GetRequest(keys, "SKIP", "LAYER_FIRST", random.nextInt(100),
              random.nextInt(1 << random.nextInt(1, 31)),
              random.nextInt(300), random.nextLong(1, 1L << random.nextInt(1, 63))),
          new Messages.GetRequest(keys, "SKIP", "LAYER_FIRST", 0, 4096, 4, 7, null, space, true),
          new PutMessages.PutRequest(keys, 4096, random.nextInt(1, 100), random.nextInt(1, 1 << 20), null, null, null,
              true),
          new PutMessages.PutSignal(new PutMessages.Room(random.nextInt(1 << 20), random.nextInt(1 << 20), bits), null),
          new PutMessages.PutSignal(new PutMessages.Room(0, random.nextInt(300), bits, bits(random)), null),
          new PutMessages.PutSignal(null, stored(random), null, random.nextBoolean() ? random.nextInt(300) : null));
      for (Object message : messages) {
        byte[] general = GENERAL_CBOR.writeValueAsBytes(message);
        ByteBuf quick = ControlCodec.CBOR.encode(message, UnpooledByteBufAllocator.DEFAULT);
        assertThat(ByteBufUtil.getBytes(quick)).isEqualTo(general);
        assertThat(general(QuickCbor.read(quick, message.getClass()))).as("read at once").isEqualTo(general);
        quick.release();
        for (int cut = random.nextInt(1, 9); cut < general.length; cut += 1 + general.length / 20) {
          ByteBuf part = Unpooled.wrappedBuffer(general, 0, general.length - cut);
          assertThat((Object) QuickCbor.read(part, message.getClass())).isNull();
        }
        byte[] other = general.clone();
        other[random.nextInt(other.length)] ^= (byte) (1 << random.nextInt(8));
        assertSameAnswer(other, message.getClass());
      }
    }
  }

  private static Messages.Bits bits(SplittableRandom random) {
    byte[] bytes = new byte[random.nextInt(300)];
    random.nextBytes(bytes);
    return new Messages.Bits(8 * bytes.length + random.nextInt(9), bytes);
  }

  private static List<PutMessages.Stored> stored(SplittableRandom random) {
    return random.ints(random.nextInt(40), 0, 1 << 20)
        .mapToObj(position -> new PutMessages.Stored(position, "dram", "VOLATILE",
            random.nextLong(0, 1L << random.nextInt(1, 63))))
        .toList();
  }

  private static byte[] general(@Nullable Object message) {
    return GENERAL_CBOR.writeValueAsBytes(message);
  }

  /// What the quick codec reads is what the general one reads.
  private static void assertSameAnswer(byte[] bytes, Class<?> type) {
    Object quick;
    try {
      quick = QuickCbor.read(Unpooled.wrappedBuffer(bytes), type);
    } catch (WireFormatException e) {
      assertThrows(RuntimeException.class, () -> GENERAL_CBOR.readValue(bytes, type));
      return;
    }
    if (quick != null) {
      assertThat(general(quick)).isEqualTo(general(GENERAL_CBOR.readValue(bytes, type)));
    }
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '\u0001', value = {
    "windowBlocks | \"4\"", "windowBlocks | 4.0", "windowBlocks | true", "windowBlocks | null", "windowBlocks | []",
    "windowBlocks | 4000000000", "ticket | \"\"", "keys | []", "keys | \"AAAA\"", "keys | null"})
  void mistypedFields_inJson_areRefusedByName(String field, String value) {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("keys", "{\"space\":\"AAAAAAAAAAAAAAAAAAAAAA==\",\"hashes\":\"\"}");
    fields.put("maxSliceBytes", "4096");
    fields.put("windowBlocks", "4");
    fields.put("ticket", "1");
    assertEquals(4, json(text(fields), PutMessages.PutRequest.class).windowBlocks());
    fields.put(field, value);
    assertRefused(field,
        assertThrows(WireFormatException.class, () -> json(text(fields), PutMessages.PutRequest.class)));
    fields.remove(field);
    assertRefused(field,
        assertThrows(WireFormatException.class, () -> json(text(fields), PutMessages.PutRequest.class)));
  }

  private static String text(Map<String, String> fields) {
    StringBuilder text = new StringBuilder("{");
    fields.forEach((name, value) -> text.append(text.length() == 1 ? "" : ",").append('"').append(name).append("\":")
        .append(value));
    return text.append('}').toString();
  }

  @Test
  void byteStrings_inCbor_areBinaryAndNothingElse() {
    byte[] space = new byte[16];
    assertEquals(0, cbor(put(space, new byte[0], 4), PutMessages.PutRequest.class).keys().hashes().length);
    for (Object other : List.of(Base64.getEncoder().encodeToString(space), List.of(1, 2, 3), 7, "", true)) {
      assertRefused("keys.space",
          assertThrows(WireFormatException.class, () -> cbor(put(other, space, 4), PutMessages.PutRequest.class)));
      assertRefused("keys.hashes",
          assertThrows(WireFormatException.class, () -> cbor(put(space, other, 4), PutMessages.PutRequest.class)));
    }
    assertRefused("windowBlocks",
        assertThrows(WireFormatException.class, () -> cbor(put(space, space, "4"), PutMessages.PutRequest.class)));
  }

  @ParameterizedTest
  @CsvSource({"AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAA-==", "AAAA AAAAAAAAAAAAAAAAAA==", "AA==AA=="})
  void byteStrings_inJson_arePaddedBase64_ofTheCommonAlphabet(String bytes) {
    assertRefused("keys.space", assertThrows(WireFormatException.class,
        () -> json("{\"keys\":{\"space\":\"" + bytes + "\",\"hashes\":\"\"}}", Messages.KeysRequest.class)));
  }

  @Test
  void hello_needsAClientsName_andMayLeaveTheSpaceOut() {
    assertEquals("me", json("{\"versions\":[1],\"client\":\"me\"}", Handshake.Hello.class).client());
    assertRefused("client",
        assertThrows(WireFormatException.class, () -> json("{\"versions\":[1]}", Handshake.Hello.class)));
    assertRefused("client",
        assertThrows(WireFormatException.class, () -> json("{\"versions\":[1],\"client\":7}", Handshake.Hello.class)));
    assertRefused("versions[0]", assertThrows(WireFormatException.class,
        () -> json("{\"versions\":[\"1\"],\"client\":\"me\"}", Handshake.Hello.class)));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '\u0001', value = {"{", "[]", "{} {}", "nonsense", "{\"versions\":[1}"})
  void bytesThatAreNoMessage_areRefusedInWordsOfTheProtocol(String text) {
    WireFormatException refusal =
        assertThrows(WireFormatException.class, () -> json(text, Handshake.Hello.class));
    assertEquals(ErrorCode.BAD_REQUEST, refusal.code());
    assertThat(refusal.getMessage()).doesNotContain("jackson", "java", "io.penstock", "Token", "Handshake");
  }

  @Test
  void cursorOfEvents_beyondTheNewest_orOfAnotherGeneration_isRefused() {
    new Messages.EventsRequest(5).requireKnown(9, 5);
    new Messages.EventsRequest(0, 9L).requireKnown(9, 0);
    assertRefused("after",
        assertThrows(WireFormatException.class, () -> new Messages.EventsRequest(6).requireKnown(9, 5)));
    assertRefused("after",
        assertThrows(WireFormatException.class, () -> new Messages.EventsRequest(-1).requireKnown(9, 5)));
    assertRefused("generation",
        assertThrows(WireFormatException.class, () -> new Messages.EventsRequest(1, 8L).requireKnown(9, 5)));
  }

  @Test
  void anEngineOfALaterRelease_isLeftOut_andItsRankStays() {
    String place = "{\"rank\":3,\"generation\":7,\"host\":\"h\",\"port\":1,\"engine\":%s}";
    assertThat(place(place.formatted("{\"role\":\"EMBED\",\"url\":\"http://h:1\"}")).engine()).isNull();
    assertThat(place(place.formatted("{\"role\":\"BOTH\",\"url\":\"grpc://h:1\"}")).engine()).isNull();
    assertThat(place(place.formatted("{\"role\":\"BOTH\",\"url\":\"http://h:1\",\"tier\":2}")).engine())
        .isEqualTo(new Engine(Engine.Role.BOTH, "http://h:1", false));
  }

  private static InstanceView.Registered place(String json) {
    return ControlCodec.JSON.decode(Unpooled.copiedBuffer(json, StandardCharsets.UTF_8), DisaggMessages.Place.class)
        .registered("i");
  }
}
