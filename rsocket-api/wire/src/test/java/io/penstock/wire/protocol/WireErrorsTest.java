package io.penstock.wire.protocol;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.penstock.KvException;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.block.IncompleteBlockException;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena.ArenaClosedException;
import io.penstock.block.SlabArena.MemoryExhaustedException;
import io.penstock.budget.BudgetExhaustedException;
import io.penstock.disagg.registry.RankTakenException;
import io.penstock.testkit.Blocks;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Reservation.RoomTimeoutException;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierHolds.HoldLimitException;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import io.penstock.wire.WireNode;
import io.penstock.wire.protocol.WireFailure.AwaitTimeoutException;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.DrainingException;
import io.penstock.wire.protocol.WireFailure.RateLimitedException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.protocol.WireFailure.RemoteTransientException;
import io.penstock.wire.slice.Mutation;
import io.penstock.wire.transfer.SegmentRegistry.UnknownSegmentException;
import io.penstock.wire.transport.tcp.TcpClientOptions;
import io.penstock.wire.transport.tcp.TcpTransport;
import io.rsocket.RSocketErrorException;
import io.rsocket.exceptions.CustomRSocketException;
import io.rsocket.exceptions.RejectedSetupException;
import io.rsocket.frame.ErrorFrameCodec;
import io.rsocket.frame.FrameType;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.netty.resources.LoopResources;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.dataformat.cbor.CBORMapper;

final class WireErrorsTest {
  @Test
  void severalFailuresOfOneStream_areToldAsTheFirst() {
    Throwable both = Exceptions.multiple(new TierClosedException("ssd"), new IllegalStateException("what came of it"));
    assertThat(WireErrors.toWire(both)).isInstanceOfSatisfying(RSocketErrorException.class, told -> {
      assertThat(told.errorCode()).isEqualTo(ErrorCode.TIER_CLOSED.code());
      assertThat(told).hasMessageStartingWith(new TierClosedException("ssd").getMessage() + ErrorData.MARK);
    });
  }

  @Test
  void errorsOfCode_areNoLostConnection_whereverTheyWereThrown() {
    IllegalArgumentException ofRSocket =
        assertThrows(IllegalArgumentException.class, () -> FrameType.fromEncodedType(19));
    for (Throwable thrown : List.of(ofRSocket, new IllegalArgumentException("keys must be distinct"),
        new IndexOutOfBoundsException("page gone"))) {
      assertThat(WireErrors.fromWire(thrown, "peer")).isSameAs(thrown);
    }
  }

  @Test
  void severalFailuresOfAConnection_areTheFirst() {
    int code = ErrorCode.DRAINING.code();
    assertThat(WireErrors.fromWire(
        Exceptions.multiple(new CustomRSocketException(code, "drains"), new ClosedChannelException()), "the node"))
        .isInstanceOfSatisfying(RemoteTransientException.class, told -> assertThat(told.code()).isEqualTo(code));
  }

  @Test
  void refusedConnection_namesItsPlaceAndTheReasonOfTheSystem() {
    LoopResources loops = LoopResources.create("refused", 1, true);
    try {
      Throwable refused = TcpTransport.client(TcpClientOptions.to("127.0.0.1", 1), loops).connect()
          .map(connection -> new AssertionError("connected")).cast(Throwable.class)
          .onErrorResume(Mono::just).block(WireNode.PATIENCE);

      assertThat(WireErrors.fromWire(requireNonNull(refused), "the node")).isInstanceOf(ConnectionLostException.class)
          .hasMessage("no node is listening at 127.0.0.1:1").cause().hasMessageContaining("Connection refused");
    } finally {
      loops.dispose();
    }
  }

  private static final BlockKey KEY = Blocks.key(Blocks.smallSpace(), 7);
  private static final List<Plane> PLANES = List.of(new Plane(Plane.Kind.KEY, ElementType.BF16, 2, 64));

  static Stream<Arguments> leaves() {
    return Stream.of(
        arguments(ErrorCode.BLOCK_CORRUPT, new BlockCorruptException("disk", KEY, 3, 0xCAFEBABE, 1)),
        arguments(ErrorCode.INCOMPLETE_BLOCK, new IncompleteBlockException(KEY, 2, 5)),
        arguments(ErrorCode.BUDGET_EXHAUSTED, new BudgetExhaustedException("ingress", 4096, -1, 64)),
        arguments(ErrorCode.AWAIT_TIMEOUT, new AwaitTimeoutException("awaited blocks", Duration.ofSeconds(61))),
        arguments(ErrorCode.TIER_CLOSED, new TierClosedException("ssd")),
        arguments(ErrorCode.UNKNOWN_SEGMENT, new UnknownSegmentException("number 7", -3)),
        arguments(ErrorCode.LEASE_EXPIRED, new LeaseExpiredException(4711)),
        arguments(ErrorCode.HOLD_LIMIT, new HoldLimitException("pinned blocks", 9, 8)),
        arguments(ErrorCode.RATE_LIMITED, new RateLimitedException(100, Duration.ofMillis(7))),
        arguments(ErrorCode.RANK_TAKEN, new RankTakenException("p/3", Duration.ofSeconds(10))),
        arguments(ErrorCode.ROOM_TIMEOUT, new RoomTimeoutException("dram", 4, 2, Duration.ofSeconds(30))),
        arguments(ErrorCode.DRAINING, new DrainingException()));
  }

  static Stream<KvException> everyKind() {
    return Stream.concat(leaves().map(leaf -> (KvException) leaf.get()[1]), Stream.concat(
        Stream.of(ErrorCode.values())
            .filter(code -> List.of("MISMATCH", "REQUEST", "ROUTE", "SLICE", "EXCEEDED", "FORBIDDEN").stream()
                .anyMatch(end -> code.name().endsWith(end)))
            .map(code -> new WireFormatException(code, "field", "right", "wrong")),
        Stream.of(new ArenaClosedException("arena"),
            new MemoryExhaustedException("arena", 4096, new OutOfMemoryError("none")))));
  }

  /// Every code occurs, and its integer of Mooncake Store is the same on both sides, and the one in the frame.
  @Test
  void integerOfMooncakeStore_isToldWithEveryError() {
    Set<ErrorCode> occurred = EnumSet.noneOf(ErrorCode.class);
    everyKind().forEach(error -> {
      RSocketErrorException sent = sent(error);
      String text = String.valueOf(sent.getMessage());
      ErrorData data = requireNonNull(ErrorData.read(text.substring(text.indexOf(ErrorData.MARK) + 1)));
      ErrorCode code = requireNonNull(ErrorCode.of(sent.errorCode()));
      occurred.add(code);
      assertThat(data.number("store", -2000, -1)).isEqualTo(code.store());
      assertThat(WireErrors.codeOf(error).store()).isEqualTo(code.store());
      assertThat(WireErrors.codeOf(overTheWire(error)).store()).as("of %s", error).isEqualTo(code.store());
    });
    assertThat(occurred).containsExactly(ErrorCode.values());
  }

  /// A client without a reader of CBOR learns as much: JSON says what CBOR says, name by name.
  @ParameterizedTest
  @MethodSource("everyKind")
  void error_inJson_hasTheSentenceTheCodeAndTheValues(KvException error) {
    RSocketErrorException sent = sent(error);
    String cbor = requireNonNull(sent.getMessage());
    assertThat(WireErrors.inJson(sent)).isInstanceOfSatisfying(RSocketErrorException.class, told -> {
      String json = requireNonNull(told.getMessage());
      assertThat(told.errorCode()).isEqualTo(sent.errorCode());
      assertThat(json.indexOf(ErrorData.MARK)).isPositive().isEqualTo(json.lastIndexOf(ErrorData.MARK));
      assertThat(json).startsWith(cbor.substring(0, cbor.indexOf(ErrorData.MARK) + 1) + "{");
      byte[] map = Base64.getDecoder().decode(cbor.substring(cbor.indexOf(ErrorData.MARK) + 1));
      assertThat(JsonMapper.shared().readTree(json.substring(json.indexOf(ErrorData.MARK) + 1)).toString())
          .isEqualTo(JsonMapper.shared().writeValueAsString(CBORMapper.shared().readTree(map)));
    });
  }

  @Test
  void error_ofAnotherKind_isTheSameInJson() {
    RSocketErrorException rejected = new RejectedSetupException("slots must be free (had none)");
    assertThat(WireErrors.inJson(rejected)).isSameAs(rejected);
  }

  @ParameterizedTest
  @MethodSource("leaves")
  void errorThatBothSidesThrow_isTheSameOnBoth(ErrorCode code, KvException error) {
    assertThat(sent(error).errorCode()).isEqualTo(code.code());
    assertThat(overTheWire(error)).usingRecursiveComparison()
        .ignoringFields("stackTrace", "suppressedExceptions", "cause").isEqualTo(error);
    assertThat(overTheWire(error)).isExactlyInstanceOf(error.getClass());
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.MATCH_ALL, names = "(BAD|VERSION|SPACE|LIMIT)_.*|UNKNOWN_ROUTE")
  void brokenRule_isToldAsFieldWantedAndActual(ErrorCode code) {
    for (Object value : List.of(17L, "NHD", PLANES)) {
      assertThat(overTheWire(new WireFormatException(code, "space.order", value, "HND")))
          .isInstanceOfSatisfying(RemotePermanentException.class, told -> {
            assertThat(told.code()).isEqualTo(code.code());
            assertThat(told.field()).isEqualTo("space.order");
            assertThat(told.wanted()).isEqualTo(value);
            assertThat(told.actual()).isEqualTo("HND");
            assertThat(told).hasMessage("space.order must be " + value + " (was HND)");
          });
    }
  }

  @Test
  void errorOfOneSideAlone_isToldByItsCodeAndSentence() {
    assertThat(overTheWire(new MemoryExhaustedException("arena", 4096, new OutOfMemoryError("none"))))
        .isInstanceOfSatisfying(RemoteTransientException.class,
            told -> assertThat(told.code()).isEqualTo(ErrorCode.TRANSIENT.code()));
    assertThat(overTheWire(new ArenaClosedException("arena")))
        .isInstanceOfSatisfying(RemotePermanentException.class,
            told -> assertThat(told.code()).isEqualTo(ErrorCode.PERMANENT.code()));
  }

  @ParameterizedTest
  @EnumSource
  void textAlone_asOlderNodesSendIt_isTheSentence(ErrorCode code) {
    assertThat(WireErrors.fromWire(new CustomRSocketException(code.code(), "a sentence"), "the node"))
        .isInstanceOfAny(RemotePermanentException.class, RemoteTransientException.class).hasMessage("a sentence");
  }

  @Test
  void valuesOfAnySize_areBounded() {
    String long1 = "x".repeat(100_000);
    RSocketErrorException told = sent(new WireFormatException(ErrorCode.BAD_REQUEST, long1, long1, long1));

    assertThat(told.getMessage()).hasSizeLessThan(4000);
    assertThat(WireErrors.fromWire(told, "the node")).isInstanceOfSatisfying(RemotePermanentException.class,
        e -> assertThat(e.field()).hasSize(256));
  }

  @Test
  void textThatUtf8HasNot_isSentAllTheSame() {
    for (String text : List.of("\uD800", "x".repeat(254) + "\uD83D\uDE00", "x".repeat(255) + "\uD83D\uDE00")) {
      assertThat(overTheWire(new WireFormatException(ErrorCode.BAD_REQUEST, "onMiss", "one of SKIP, AWAIT", text)))
          .isInstanceOfSatisfying(RemotePermanentException.class,
              told -> assertThat(told.field()).isEqualTo("onMiss"));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "%", "oA", "oWFh", "n39/f39/f39/f39/f39/f38=", "v2Vmb3V0ZXK/ZWlubmVyv2Z3aXRoaW6/YWEB/////w==",
        "GCo="})
  void valuesThatAreNone_leaveTheSentence(String written) {
    for (ErrorCode code : List.of(ErrorCode.BLOCK_CORRUPT, ErrorCode.SPACE_MISMATCH)) {
      assertThat(
          WireErrors.fromWire(new CustomRSocketException(code.code(), "a sentence" + ErrorData.MARK + written), "node"))
          .isInstanceOfAny(RemotePermanentException.class, RemoteTransientException.class).hasMessage("a sentence");
    }
  }

  @Test
  void nameThatIsAbsent_isToldAsAbsent() {
    assertThatThrownBy(() -> Fields.oneOf(OnMiss.class, "onMiss", null))
        .satisfies(error -> assertThat(overTheWire(error)).isInstanceOfSatisfying(RemotePermanentException.class,
            told -> assertThat(told).hasMessage("onMiss must be present (was absent)")));
  }

  /// The values `{field: "f", wanted: [null], actual: [1]}`.
  @Test
  void listOfSomethingElseThanPlanes_isNoValue() {
    byte[] values = HexFormat.of().parseHex("a3656669656c646166" + "6677616e74656481f6" + "6661637475616c8101");
    String text = "a sentence" + ErrorData.MARK + Base64.getEncoder().encodeToString(values);
    assertThat(WireErrors.fromWire(new CustomRSocketException(ErrorCode.SPACE_MISMATCH.code(), text), "the node"))
        .isInstanceOfSatisfying(RemotePermanentException.class, told -> {
          assertThat(told.field()).isEqualTo("f");
          assertThat(told.wanted()).isNull();
          assertThat(told.actual()).isNull();
        });
  }

  @Test
  void hostileValues_areATypedShortErrorWhateverTheySay() {
    List<KvException> errors = new ArrayList<>(leaves().map(leaf -> (KvException) leaf.get()[1]).toList());
    errors.add(new WireFormatException(ErrorCode.SPACE_MISMATCH, "space.planes", PLANES, PLANES));
    for (int seed = 0; seed < 20_000; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      String text = String.valueOf(sent(errors.get(random.nextInt(errors.size()))).getMessage());
      int mark = text.indexOf(ErrorData.MARK);
      byte[] mutated = Mutation.of(Base64.getDecoder().decode(text.substring(mark + 1)), random);
      int code = ErrorCode.values()[random.nextInt(ErrorCode.values().length)].code();
      Throwable told = WireErrors.fromWire(new CustomRSocketException(code,
          text.substring(0, mark + 1) + Base64.getEncoder().encodeToString(mutated)), "the node");
      assertThat(told).as("seed %d", seed).isInstanceOf(KvException.class);
      assertThat(told.getMessage()).as("seed %d", seed).hasSizeLessThan(1200);
    }
  }

  private static RSocketErrorException sent(Throwable error) {
    return (RSocketErrorException) WireErrors.toWire(error);
  }

  /// Through the bytes of a frame.
  private static Throwable overTheWire(Throwable error) {
    ByteBuf frame = ErrorFrameCodec.encode(ByteBufAllocator.DEFAULT, 1, sent(error));
    try {
      return WireErrors.fromWire(io.rsocket.exceptions.Exceptions.from(1, frame), "the node");
    } finally {
      frame.release();
    }
  }
}
