package io.penstock.wire;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.testkit.Blocks;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClient;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.EventMessage;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.protocol.HoldMessages;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.PutMessages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.StatMessages;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.RSocketErrorException;
import io.rsocket.frame.ErrorFrameCodec;
import io.rsocket.metadata.CompositeMetadataCodec;
import io.rsocket.metadata.TaggingMetadataCodec;
import io.rsocket.metadata.WellKnownMimeType;
import io.rsocket.util.ByteBufPayload;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What the protocol says of requests, asked by a client that keeps to no rule, over real sockets.
@Timeout(60)
final class KvProtocolTest {
  private static final BlockLayout LAYOUT = BlockLayout.attention(4, 16, 2, 16, ElementType.BF16);
  private static final CacheSpace SPACE = new CacheSpace("protocol", LAYOUT, 1, "salt");
  private static final int WINDOW = 4;
  private static final Duration PATIENCE = WireNode.PATIENCE;

  private static WireNode node(Link link) {
    return WireNode.of(link, SPACE, WINDOW);
  }

  private static void assertCode(ErrorCode code, String says, Supplier<Mono<?>> call) {
    RSocketErrorException e =
        assertThrows(RSocketErrorException.class, () -> call.get().block(PATIENCE), () -> code + " " + says);
    assertEquals(code.code(), e.errorCode(), e.toString());
    assertTrue(requireNonNull(e.getMessage()).contains(says), e.toString());
  }

  @ParameterizedTest
  @EnumSource
  void hello_anotherSpace_isRefusedNamingTheField(Link link) {
    Map<String, CacheSpace> others = Map.of(
        "model", new CacheSpace("another", LAYOUT, 1, "salt"),
        "layers", new CacheSpace("protocol", BlockLayout.attention(5, 16, 2, 16, ElementType.BF16), 1, "salt"),
        "tokens", new CacheSpace("protocol", BlockLayout.attention(4, 8, 2, 16, ElementType.BF16), 1, "salt"),
        "order", new CacheSpace("protocol", LAYOUT.withOrder(TokenOrder.HND), 1, "salt"),
        "planes", new CacheSpace("protocol", BlockLayout.attention(4, 16, 2, 16, ElementType.FP16), 1, "salt"),
        "group", new CacheSpace("protocol", LAYOUT, 2, "salt"),
        "tenantSalt", new CacheSpace("protocol", LAYOUT, 1, "pepper"));
    try (WireNode node = node(link)) {
      others.forEach((field, space) -> {
        try (SlabArena arena = new SlabArena("client", space.layout(), 8, 8)) {
          RemotePermanentException e = assertThrows(RemotePermanentException.class, () -> KvClient.connect(
              node.transport(), WireNode.clientOptions(WINDOW), space, arena, new ByteBudget("client", 1 << 20, 8))
              .block(PATIENCE));
          assertEquals(ErrorCode.SPACE_MISMATCH.code(), e.code());
          assertTrue(requireNonNull(e.getMessage()).contains(field), e.toString());
          assertFalse(e.getMessage().contains("salt,") || e.getMessage().contains("pepper"), "no salt is told");
        }
      });
    }
  }

  @ParameterizedTest
  @EnumSource
  void hello_withoutACommonVersion_isRefused(Link link) {
    try (WireNode node = node(link)) {
      RSocket raw = node.raw("application/cbor");
      assertCode(ErrorCode.VERSION_MISMATCH, "versions", () -> raw.requestResponse(
          WireNode.request(ControlCodec.CBOR, Routes.HELLO, new Handshake.Hello(List.of(2, 3), null, "raw"))));
    }
  }

  @ParameterizedTest
  @EnumSource
  void unknownRoute_isRefusedByEveryInteraction(Link link) {
    try (WireNode node = node(link)) {
      RSocket raw = node.raw("application/cbor");
      Messages.StatRequest nothing = new Messages.StatRequest();
      for (String route : List.of("penstock.v2.get", Routes.EVENTS.substring(1), "x".repeat(200))) {
        Supplier<Payload> request = () -> WireNode.request(ControlCodec.CBOR, route, nothing);
        assertCode(ErrorCode.UNKNOWN_ROUTE, "route", () -> raw.requestResponse(request.get()));
        assertCode(ErrorCode.UNKNOWN_ROUTE, "route", () -> raw.requestStream(request.get()).then());
        assertCode(ErrorCode.UNKNOWN_ROUTE, "route", () -> raw.requestChannel(Mono.fromSupplier(request)).then());
      }
      assertCode(ErrorCode.BAD_REQUEST, "metadata",
          () -> raw.requestResponse(ByteBufPayload.create(new byte[3], new byte[] {1, 2, 3})));
      assertCode(ErrorCode.BAD_REQUEST, "metadata",
          () -> raw.requestChannel(Mono.fromSupplier(() -> ByteBufPayload.create("x"))).then());
    }
  }

  @ParameterizedTest
  @EnumSource
  void json_servesEveryRoute_forAConnectionAndForOneRequest(Link link) {
    try (WireNode node = node(link)) {
      List<BlockKey> keys = node.keys(0, 3);
      node.put(node.client(WINDOW), keys);
      serves(node, keys, node.raw("application/json"), ControlCodec.JSON, WireNode::request);
      serves(node, keys, node.raw("application/cbor"), ControlCodec.JSON, KvProtocolTest::jsonRequest);
      RSocket none = node.raw("application/octet-stream");
      serves(node, keys, none, ControlCodec.JSON, KvProtocolTest::jsonRequest);
      assertCode(ErrorCode.BAD_REQUEST, "MIME", () -> none.requestResponse(
          WireNode.request(ControlCodec.JSON, Routes.STAT, new Messages.StatRequest())));
    }
  }

  @ParameterizedTest
  @EnumSource
  void withoutHello_everyRequestIsServed_forItNamesItsSpace(Link link) {
    try (WireNode node = node(link)) {
      List<BlockKey> keys = node.keys(0, 3);
      node.put(node.client(WINDOW), keys);
      RSocket raw = node.raw("application/cbor");
      Messages.KeysRequest foreign =
          new Messages.KeysRequest(Messages.Keys.of(Blocks.keys(CacheSpace.of("another", LAYOUT), 0, 2)));

      assertCode(ErrorCode.SPACE_MISMATCH, "keys.space",
          () -> raw.requestResponse(WireNode.request(ControlCodec.CBOR, Routes.MATCH, foreign)));
      answersQuestions(keys, raw, ControlCodec.CBOR, WireNode::request);
      movesBlocks(keys, raw, ControlCodec.CBOR, WireNode::request);
      node.awaitIdle();
      assertEquals(3, ask(raw, ControlCodec.CBOR, WireNode::request, Routes.REMOVE,
          new Messages.KeysRequest(Messages.Keys.of(keys)), Messages.Bits.class).presence().count());
    }
  }

  @ParameterizedTest
  @EnumSource
  void draining_answersEveryRouteThatStartsNoWork(Link link) {
    try (WireNode node = node(link)) {
      List<BlockKey> keys = node.keys(0, 3);
      node.put(node.client(WINDOW), keys);
      RSocket raw = node.raw("application/cbor");
      Messages.Keys asked = Messages.Keys.of(keys);
      answersHello(raw, ControlCodec.CBOR, WireNode::request); // a connection that was set up before the drain

      node.server.drain();

      answersHello(raw, ControlCodec.CBOR, WireNode::request);
      answersQuestions(keys, raw, ControlCodec.CBOR, WireNode::request);
      assertTrue(ask(raw, ControlCodec.CBOR, WireNode::request, Routes.STAT, new Messages.StatRequest(),
          StatMessages.StatReply.class).draining());
      assertCode(ErrorCode.DRAINING, "drain", () -> raw.requestStream(WireNode.request(ControlCodec.CBOR, Routes.GET,
          new Messages.GetRequest(asked, "SKIP", "LAYER_FIRST", 0, 4096, WINDOW, 0))).then());
      assertCode(ErrorCode.DRAINING, "drain", () -> raw.requestChannel(Flux.concat(Mono.fromSupplier(
          () -> WireNode.request(ControlCodec.CBOR, Routes.PUT, new PutMessages.PutRequest(asked, 4096, WINDOW, 0))),
          Mono.never())).then());
      assertCode(ErrorCode.DRAINING, "drain", () -> raw.requestResponse(
          WireNode.request(ControlCodec.CBOR, Routes.REMOVE, new Messages.KeysRequest(asked))));
      assertCode(ErrorCode.DRAINING, "drain", () -> raw.requestResponse(WireNode.request(ControlCodec.CBOR, Routes.PIN,
          new HoldMessages.PinRequest(asked, new HoldMessages.PinWanted("HARD", null)))));
      Messages.KeysRequest leasing =
          new Messages.KeysRequest(asked, new HoldMessages.LeaseWanted(null, null, null, null));
      for (String route : List.of(Routes.MATCH, Routes.EXISTS)) {
        assertCode(ErrorCode.DRAINING, "drain",
            () -> raw.requestResponse(WireNode.request(ControlCodec.CBOR, route, leasing)));
      }
      assertFalse(ask(raw, ControlCodec.CBOR, WireNode::request, Routes.RELEASE, new HoldMessages.ReleaseRequest(1),
          HoldMessages.ReleaseReply.class).released(), "no such lease");
      RSocketErrorException late = assertThrows(RSocketErrorException.class, () -> ask(node.raw("application/cbor"),
          ControlCodec.CBOR, WireNode::request, Routes.STAT, new Messages.StatRequest(), StatMessages.StatReply.class));
      assertEquals(ErrorFrameCodec.REJECTED_SETUP, late.errorCode(), late.toString());
    }
  }

  @ParameterizedTest
  @EnumSource
  void jsonConnection_readsItsErrorsWithoutCbor(Link link) {
    try (WireNode node = node(link)) {
      RSocket raw = node.raw("application/json");
      Supplier<Payload> unknown =
          () -> WireNode.request(ControlCodec.JSON, "penstock.v1.none", new Messages.StatRequest());
      for (Mono<?> asked : List.of(Mono.defer(() -> raw.requestResponse(unknown.get())),
          Flux.defer(() -> raw.requestStream(unknown.get())).then(),
          raw.requestChannel(Mono.fromSupplier(unknown)).then())) {
        RSocketErrorException refused = assertThrows(RSocketErrorException.class, () -> asked.block(PATIENCE));
        assertEquals(ErrorCode.UNKNOWN_ROUTE.code(), refused.errorCode());
        String told = String.valueOf(refused.getMessage());
        JsonNode values = JsonMapper.shared().readTree(told.substring(told.indexOf('\u001E') + 1));
        assertEquals("route penstock.v1.none -1012", values.get("field").asString() + " "
            + values.get("actual").asString() + " " + values.get("store").asInt(), told);
      }
    }
  }

  private interface Asking {
    Payload request(ControlCodec codec, String route, Object message);
  }

  /// A request that says for itself that it is JSON.
  private static Payload jsonRequest(ControlCodec codec, String route, Object message) {
    ByteBufAllocator allocator = ByteBufAllocator.DEFAULT;
    CompositeByteBuf metadata = allocator.compositeBuffer();
    CompositeMetadataCodec.encodeAndAddMetadata(metadata, allocator, WellKnownMimeType.MESSAGE_RSOCKET_MIMETYPE,
        allocator.buffer().writeByte(0x80 | WellKnownMimeType.APPLICATION_JSON.getIdentifier()));
    CompositeMetadataCodec.encodeAndAddMetadata(metadata, allocator, WellKnownMimeType.MESSAGE_RSOCKET_ROUTING,
        TaggingMetadataCodec.createRoutingMetadata(allocator, List.of(route)).getContent());
    return ByteBufPayload.create(codec.encode(message, allocator), metadata);
  }

  private static void serves(WireNode node, List<BlockKey> keys, RSocket raw, ControlCodec codec, Asking asking) {
    answersHello(raw, codec, asking);
    answersQuestions(keys, raw, codec, asking);
    movesBlocks(keys, raw, codec, asking);
    node.awaitIdle();
  }

  private static void answersHello(RSocket raw, ControlCodec codec, Asking asking) {
    assertEquals(WINDOW,
        ask(raw, codec, asking, Routes.HELLO, new Handshake.Hello(List.of(1), Handshake.Space.of(SPACE), "raw"),
            Handshake.Welcome.class).windowBlocks());
  }

  /// The routes that start no work.
  private static void answersQuestions(List<BlockKey> keys, RSocket raw, ControlCodec codec, Asking asking) {
    Messages.KeysRequest request = new Messages.KeysRequest(Messages.Keys.of(keys));
    assertEquals(3, ask(raw, codec, asking, Routes.MATCH, request, Messages.MatchReply.class).prefix());
    assertEquals(3, ask(raw, codec, asking, Routes.EXISTS, request, Messages.Bits.class).presence().count());
    assertEquals(3,
        ask(raw, codec, asking, Routes.STAT, new Messages.StatRequest(), StatMessages.StatReply.class).stat().blocks());
    assertTrue(
        ask(raw, codec, asking, Routes.DRAIN, new Messages.DrainRequest(99), Messages.DrainReply.class).drained());
    Payload event =
        requireNonNull(raw.requestStream(asking.request(codec, Routes.EVENTS, new Messages.EventsRequest(0)))
            .blockFirst(PATIENCE));
    assertEquals("stored", WireNode.read(codec, event, EventMessage.class).type());
  }

  private static void movesBlocks(List<BlockKey> keys, RSocket raw, ControlCodec codec, Asking asking) {
    Payload found = requireNonNull(raw.requestStream(asking.request(codec, Routes.GET,
        new Messages.GetRequest(Messages.Keys.of(keys), "SKIP", "LAYER_FIRST", 0, 4096, WINDOW, 0)))
        .blockFirst(PATIENCE));
    assertEquals(3, WireNode.read(codec, found, Messages.Found.class).found().presence().count());
    Payload room =
        requireNonNull(raw.requestChannel(Flux.concat(Mono.fromSupplier(() -> asking.request(codec, Routes.PUT,
            new PutMessages.PutRequest(Messages.Keys.of(keys), 4096, WINDOW, 0))), Mono.never())).blockFirst(PATIENCE));
    assertEquals(0,
        requireNonNull(WireNode.read(codec, room, PutMessages.PutSignal.class).room()).wanted().presence().count());
  }

  @ParameterizedTest
  @EnumSource
  void get_ofADamagedBlock_isComparedByTheNode_unlessTheClientVerifies(Link link) {
    try (WireNode node = node(link); BlockScope scope = new BlockScope()) {
      List<BlockKey> keys = node.stored(node.client(WINDOW), 3);
      Blocks.corrupt(requireNonNull(node.tier.get(keys.subList(1, 2), scope).blockFirst(PATIENCE)), 70);
      RSocket raw = node.raw("application/cbor");
      assertTrue(bytes(raw, keys, true) > 3L * LAYOUT.blockBytes(), "all blocks, with headers");
      assertEquals(0, requireNonNull(node.tier.stat().block()).corrupt());
      RSocketErrorException e = assertThrows(RSocketErrorException.class, () -> bytes(raw, keys, null));
      assertEquals(ErrorCode.BLOCK_CORRUPT.code(), e.errorCode());
      assertEquals(1, requireNonNull(node.tier.stat().block()).corrupt());
    }
  }

  private static long bytes(RSocket raw, List<BlockKey> keys, @Nullable Boolean verifies) {
    return requireNonNull(raw.requestStream(WireNode.request(ControlCodec.CBOR, Routes.GET,
        new Messages.GetRequest(Messages.Keys.of(keys), "SKIP", "LAYER_FIRST", 0, 4096, WINDOW, 0, null, null,
            verifies)))
        .skip(1).map(slice -> {
          long bytes = slice.sliceData().readableBytes();
          slice.release();
          return bytes;
        }).reduce(0L, Long::sum).block(PATIENCE));
  }

  private static <T> T ask(RSocket raw, ControlCodec codec, Asking asking, String route, Object message,
      Class<T> reply) {
    return WireNode.read(codec,
        requireNonNull(raw.requestResponse(asking.request(codec, route, message)).block(PATIENCE)), reply);
  }

  @ParameterizedTest
  @EnumSource
  void request_beyondALimitOrARule_isRefusedNamingIt(Link link) {
    try (WireNode node = node(link)) {
      RSocket raw = node.raw("application/cbor");
      Messages.Keys keys = Messages.Keys.of(node.keys(0, 2));
      Messages.Keys many = Messages.Keys.of(node.keys(0, 257));
      Messages.Keys foreign = Messages.Keys.of(Blocks.keys(CacheSpace.of("another", LAYOUT), 0, 2));
      Messages.Keys twice = Messages.Keys.of(List.of(node.keys(0, 1).getFirst(), node.keys(0, 1).getFirst()));
      refused(raw, ErrorCode.LIMIT_EXCEEDED, "keys",
          new Messages.GetRequest(many, "SKIP", "LAYER_FIRST", 0, 4096, 1, 0));
      refused(raw, ErrorCode.SPACE_MISMATCH, "keys.space",
          new Messages.GetRequest(foreign, "SKIP", "LAYER_FIRST", 0, 4096, 1, 0));
      refused(raw, ErrorCode.BAD_REQUEST, "distinct",
          new Messages.GetRequest(twice, "SKIP", "LAYER_FIRST", 0, 4096, 1, 0));
      refused(raw, ErrorCode.LIMIT_EXCEEDED, "maxSliceBytes",
          new Messages.GetRequest(keys, "SKIP", "LAYER_FIRST", 0, 4097, 1, 0));
      refused(raw, ErrorCode.LIMIT_EXCEEDED, "windowBlocks",
          new Messages.GetRequest(keys, "SKIP", "LAYER_FIRST", 0, 4096, 0, 0));
      refused(raw, ErrorCode.BAD_REQUEST, "startLayer",
          new Messages.GetRequest(keys, "SKIP", "LAYER_FIRST", 4, 4096, 1, 0));
      refused(raw, ErrorCode.BAD_REQUEST, "onMiss",
          new Messages.GetRequest(keys, "PERHAPS", "LAYER_FIRST", 0, 4096, 1, 0));
      refused(raw, ErrorCode.BAD_REQUEST, "order", new Messages.GetRequest(keys, "SKIP", "RANDOM", 0, 4096, 1, 0));
      refused(raw, ErrorCode.LIMIT_EXCEEDED, "keys", new PutMessages.PutRequest(many, 4096, 1, 0));
      refused(raw, ErrorCode.SPACE_MISMATCH, "keys.space", new PutMessages.PutRequest(foreign, 4096, 1, 0));
      refused(raw, ErrorCode.BAD_REQUEST, "distinct", new PutMessages.PutRequest(twice, 4096, 4, 0));
      refused(raw, ErrorCode.LIMIT_EXCEEDED, "windowBlocks", new PutMessages.PutRequest(keys, 4096, WINDOW + 1, 0));
      refused(raw, ErrorCode.BAD_REQUEST, "hashes",
          Map.of("keys", Map.of("space", new byte[16], "hashes", new byte[17]), "onMiss", "SKIP",
              "order", "LAYER_FIRST", "startLayer", 0, "maxSliceBytes", 4096, "windowBlocks", 1, "ticket", 0));
      refused(raw, ErrorCode.BAD_REQUEST, "keys",
          Map.of("onMiss", "SKIP", "order", "LAYER_FIRST", "startLayer", 0, "maxSliceBytes", 4096,
              "windowBlocks", 1, "ticket", 0));
      refused(raw, ErrorCode.BAD_REQUEST, "x",
          Map.of("onMiss", "x".repeat(100_000), "order", "LAYER_FIRST", "startLayer", 0,
              "maxSliceBytes", 4096, "windowBlocks", 1, "ticket", 0, "keys",
              Map.of("space", new byte[16], "hashes", new byte[16])));
      node.requireHonestTier(node.keys(0, 2));
      assertEquals(0, node.server.runningStreams());
    }
  }

  /// Whatever is no message of a put is sent as a get.
  private static void refused(RSocket raw, ErrorCode code, String says, Object message) {
    if (message instanceof PutMessages.PutRequest) {
      assertCode(code, says, () -> raw.requestChannel(
          Flux.concat(Mono.fromSupplier(() -> WireNode.request(ControlCodec.CBOR, Routes.PUT, message)), Mono.never()))
          .then());
    } else {
      String named = says.equals("x") ? "" : says;
      assertCode(says.equals("x") ? ErrorCode.SPACE_MISMATCH : code, named,
          () -> raw.requestStream(WireNode.request(ControlCodec.CBOR, Routes.GET, message)).then());
    }
  }

  @ParameterizedTest
  @EnumSource
  void ticket_inUse_isRefused_andFreeAgainWhenDrained(Link link) {
    try (WireNode node = node(link)) {
      List<BlockKey> keys = node.keys(0, 8);
      node.put(node.client(WINDOW), keys);
      RSocket raw = node.raw("application/cbor");
      Supplier<Payload> get = () -> WireNode.request(ControlCodec.CBOR, Routes.GET,
          new Messages.GetRequest(Messages.Keys.of(keys), "SKIP", "LAYER_FIRST", 0, 4096, WINDOW, 7));
      CompletableFuture<Payload> open = new CompletableFuture<>();
      Disposable first = raw.requestStream(get.get()).limitRate(1).concatMap(payload -> {
        payload.release();
        open.complete(payload);
        return Mono.never(); // no more is asked for
      }, 1).subscribe();
      open.orTimeout(20, TimeUnit.SECONDS).join();
      assertCode(ErrorCode.BAD_REQUEST, "ticket", () -> raw.requestStream(get.get()).then());
      first.dispose();
      WireNode.read(ControlCodec.CBOR, requireNonNull(raw.requestResponse(
          WireNode.request(ControlCodec.CBOR, Routes.DRAIN, new Messages.DrainRequest(7))).block(PATIENCE)),
          Messages.DrainReply.class);
      assertEquals(0, node.server.runningStreams());
      node.awaitIdle();
      requireNonNull(raw.requestStream(get.get()).blockFirst(PATIENCE)).release();
    }
  }
}
