package io.penstock.wire.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.PrefixHasher;
import io.rsocket.Payload;
import io.rsocket.frame.ErrorFrameCodec;
import io.rsocket.frame.FrameLengthCodec;
import io.rsocket.frame.KeepAliveFrameCodec;
import io.rsocket.frame.PayloadFrameCodec;
import io.rsocket.frame.RequestChannelFrameCodec;
import io.rsocket.frame.RequestNFrameCodec;
import io.rsocket.frame.RequestResponseFrameCodec;
import io.rsocket.frame.RequestStreamFrameCodec;
import io.rsocket.frame.SetupFrameCodec;
import io.rsocket.util.ByteBufPayload;
import io.rsocket.util.EmptyPayload;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// The samples of `docs/small-client.md` are what the code and RSocket-Java write, byte for byte.
final class SmallClientPageTest {
  private static final ByteBufAllocator HEAP = UnpooledByteBufAllocator.DEFAULT;
  private static final Pattern SAMPLE = Pattern.compile("(?ms)^```((?:json|hex) [a-z-]+)\n(.*?)^```");
  private static final CacheSpace SPACE =
      CacheSpace.of("example", BlockLayout.attention(2, 2, 1, 4, ElementType.INT8));
  private static final BlockKey KEY = SPACE.key(new PrefixHasher(List.of()).next(BlockHash.ROOT, new int[] {1, 2}));
  private static final Messages.Keys KEYS = Messages.Keys.of(List.of(KEY));

  @Test
  void samples_areWhatTheCodeWrites() throws IOException {
    Map<String, String> shown = new LinkedHashMap<>();
    SAMPLE.matcher(Files.readString(Path.of("docs/small-client.md"))).results()
        .forEach(sample -> shown.put(sample.group(1), sample.group(2).replaceAll("\\s*\n\\s*", "")));
    Map<String, String> written = samples();
    written.replaceAll((name, text) -> name.startsWith("hex") ? text.replaceAll("(..)", "$1 ").strip() : text);
    shown.replaceAll((name, text) -> name.startsWith("hex")
        ? text.replaceAll("\\s", "").replaceAll("(..)", "$1 ").strip()
        : text);

    assertThat(shown).isEqualTo(written);
  }

  static Map<String, String> samples() {
    Map<String, String> samples = new LinkedHashMap<>();
    samples.put("hex setup", framed(SetupFrameCodec.encode(HEAP, false, 20_000, 90_000, RequestMetadata.COMPOSITE,
        ControlCodec.JSON.mimeType(), EmptyPayload.INSTANCE)));
    samples.put("hex keep-alive", framed(KeepAliveFrameCodec.encode(HEAP, false, 0, HEAP.buffer(0))));
    Handshake.Space space = Handshake.Space.of(SPACE);
    request(samples, "hello", Routes.HELLO, new Handshake.Hello(List.of(1), space, "small"),
        data -> RequestResponseFrameCodec.encodeReleasingPayload(HEAP, 1, data));
    answer(samples, "welcome", 1, true, new Handshake.Welcome(1, "penstock", "node", "dram", space, 524_288, 64, 65_536,
        1_000L, 7L, null, null, List.of(), List.of(Handshake.VIEWS, Handshake.GRANULE_CHECKSUMS, Handshake.SHORT_GETS),
        null));
    request(samples, "match", Routes.MATCH, new Messages.KeysRequest(KEYS),
        data -> RequestResponseFrameCodec.encodeReleasingPayload(HEAP, 3, data));
    answer(samples, "prefix", 3, true, new Messages.MatchReply(1));
    request(samples, "get", Routes.GET, new Messages.GetRequest(KEYS, "SKIP", "LAYER_FIRST", 0, 524_288, 64, 0),
        data -> RequestStreamFrameCodec.encodeReleasingPayload(HEAP, 5, 17, data));
    samples.put("hex short-get", framed(RequestResponseFrameCodec.encodeReleasingPayload(HEAP, 9, ByteBufPayload.create(
        ControlCodec.JSON.encode(new Messages.GetRequest(KEYS, "SKIP", "LAYER_FIRST", 0, 524_288, 64, 0), HEAP),
        RequestMetadata.write(Routes.GET, HEAP)))));
    Messages.Bits one = new Messages.Bits(1, new byte[] {1});
    Messages.Bits none = new Messages.Bits(1, new byte[1]);
    answer(samples, "found", 5, false, new Messages.Found(one, one, none, none));
    samples.put("hex request-more", framed(RequestNFrameCodec.encode(HEAP, 5, 1)));
    request(samples, "put", Routes.PUT, new PutMessages.PutRequest(KEYS, 524_288, 64, 0, null, null, null, true),
        data -> RequestChannelFrameCodec.encodeReleasingPayload(HEAP, 7, false, 4, data));
    answer(samples, "room", 7, false, new PutMessages.PutSignal(new PutMessages.Room(0, 0, one, none), null));
    samples.put("hex credit", framed(RequestNFrameCodec.encode(HEAP, 7, 1)));
    answer(samples, "stored", 7, false,
        new PutMessages.PutSignal(null, List.of(new PutMessages.Stored(0, "dram", "VOLATILE", 1))));
    samples.put("hex complete", framed(PayloadFrameCodec.encodeComplete(HEAP, 7)));
    Throwable refused = WireErrors.inJson(WireErrors.toWire(assertThrows(WireFormatException.class,
        () -> new Handshake.Hello(List.of(1), Handshake.Space.of(CacheSpace.of("example",
            BlockLayout.attention(2, 4, 1, 4, ElementType.INT8))), "small").requireFits(SPACE))));
    String told = String.valueOf(refused.getMessage());
    samples.put("json error", told.substring(told.indexOf(ErrorData.MARK) + 1));
    samples.put("hex error", framed(ErrorFrameCodec.encode(HEAP, 1, refused)));
    return samples;
  }

  private static void request(Map<String, String> samples, String name, String route, Object message,
      Function<Payload, ByteBuf> frame) {
    samples.put("json " + name, json(message));
    samples.put("hex " + name, framed(frame.apply(
        ByteBufPayload.create(ControlCodec.JSON.encode(message, HEAP), RequestMetadata.write(route, HEAP)))));
    cbor(samples, name, message);
  }

  private static void answer(Map<String, String> samples, String name, int stream, boolean isLast, Object message) {
    samples.put("json " + name, json(message));
    Payload payload = ByteBufPayload.create(ControlCodec.JSON.encode(message, HEAP));
    samples.put("hex " + name, framed(isLast
        ? PayloadFrameCodec.encodeNextCompleteReleasingPayload(HEAP, stream, payload)
        : PayloadFrameCodec.encodeNextReleasingPayload(HEAP, stream, payload)));
    cbor(samples, name, message);
  }

  private static void cbor(Map<String, String> samples, String name, Object message) {
    samples.put("hex " + name + "-cbor", hex(ControlCodec.CBOR.encode(message, HEAP)));
  }

  private static String json(Object message) {
    ByteBuf written = ControlCodec.JSON.encode(message, HEAP);
    try {
      return written.toString(StandardCharsets.UTF_8);
    } finally {
      written.release();
    }
  }

  private static String framed(ByteBuf frame) {
    return hex(FrameLengthCodec.encode(HEAP, frame.readableBytes(), frame));
  }

  private static String hex(ByteBuf bytes) {
    try {
      return ByteBufUtil.hexDump(bytes);
    } finally {
      bytes.release();
    }
  }
}
