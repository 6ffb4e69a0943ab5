package io.penstock.wire.protocol;

import io.penstock.KvException;
import io.penstock.TransientKvException;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.IncompleteBlockException;
import io.penstock.budget.BudgetExhaustedException;
import io.penstock.disagg.registry.RankTakenException;
import io.penstock.operator.Failures;
import io.penstock.tier.Reservation.RoomTimeoutException;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierHolds.HoldLimitException;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import io.penstock.wire.protocol.WireFailure.AwaitTimeoutException;
import io.penstock.wire.protocol.WireFailure.ConnectionLostException;
import io.penstock.wire.protocol.WireFailure.DrainingException;
import io.penstock.wire.protocol.WireFailure.RateLimitedException;
import io.penstock.wire.protocol.WireFailure.RemotePermanentException;
import io.penstock.wire.protocol.WireFailure.RemoteTransientException;
import io.penstock.wire.transfer.SegmentLink;
import io.penstock.wire.transfer.SegmentRegistry.UnknownSegmentException;
import io.rsocket.RSocketErrorException;
import io.rsocket.exceptions.CustomRSocketException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;

/// The one place where failures become ERROR frames and ERROR frames become failures.
public final class WireErrors {
  private static final int LONGEST_MESSAGE = 1000;
  private static final long CHECKSUM_MASK = 0xFFFF_FFFFL;
  private static final String MISTAKE = "the request failed by a mistake of the node";

  private static final Logger LOG = LoggerFactory.getLogger(WireErrors.class);

  private WireErrors() {}

  /// Error that is sent to the peer.
  public static Throwable toWire(Throwable error) {
    Throwable first = first(error);
    if (first instanceof RSocketErrorException) {
      return first;
    }
    ErrorCode code = codeOf(first);
    boolean isMistake = stated(first) == null;
    if (isMistake) {
      LOG.warn(MISTAKE, first);
    }
    ErrorData data = dataOf(first).with("store", code.store());
    String message = first.getMessage();
    // The message of a mistake names classes, and is for the log of the node alone
    return new ToldException(code, isMistake || message == null ? MISTAKE : sentence(message), data);
  }

  /// An error that [#toWire] made, with its values in JSON: for a peer whose control messages are JSON. Any other error
  /// stays as it is.
  public static Throwable inJson(Throwable error) {
    return error instanceof ToldException told
        ? new CustomRSocketException(told.errorCode(), told.sentence + ErrorData.MARK + told.data.json())
        : error;
  }

  /// A failure as the peer is told of it; its message is the data of the ERROR frame.
  private static final class ToldException extends CustomRSocketException {
    private final String sentence;
    private final transient ErrorData data;

    private ToldException(ErrorCode code, String sentence, ErrorData data) {
      super(code.code(), sentence + ErrorData.MARK + data.written());
      this.sentence = sentence;
      this.data = data;
    }
  }

  /// Parts of one stream that ran side by side may all fail: the reason of the first failure is sent.
  private static Throwable first(Throwable error) {
    return Exceptions.unwrapMultiple(error).getFirst();
  }

  /// Sentence of bounded length, for a frame and for a person, even if it quotes a long text.
  private static String sentence(String message) {
    String plain = message.replace(ErrorData.MARK, ' ');
    return plain.length() <= LONGEST_MESSAGE ? plain : plain.substring(0, LONGEST_MESSAGE) + " …";
  }

  /// The values of an error that [#leaf] makes again on the other side; none if its sentence says all.
  private static ErrorData dataOf(Throwable error) {
    return switch (error) {
      case WireFormatException e ->
        ErrorData.none().with("field", e.field()).with("wanted", e.wanted()).with("actual", e.actual());
      case BlockCorruptException e -> ErrorData.none().with("boundary", e.boundary()).with(e.key())
          .with("granule", e.granule()).with("wanted", Integer.toUnsignedLong(e.expected()))
          .with("actual", Integer.toUnsignedLong(e.actual()));
      case IncompleteBlockException e ->
        ErrorData.none().with(e.key()).with("first", e.firstMissing()).with("missing", e.missing());
      case BudgetExhaustedException e -> ErrorData.none().with("budget", e.budget()).with("wanted", e.wanted())
          .with("free", e.free()).with("waiters", e.maxWaiters());
      case AwaitTimeoutException e ->
        ErrorData.none().with("what", e.what()).with("millis", e.timeout().toMillis());
      case UnknownSegmentException e ->
        ErrorData.none().with("segment", e.segment()).with("generation", e.generation());
      case TierClosedException e -> ErrorData.none().with("tier", e.tier());
      case LeaseExpiredException e -> ErrorData.none().with("lease", e.id());
      case HoldLimitException e ->
        ErrorData.none().with("what", e.what()).with("wanted", e.wanted()).with("most", e.most());
      case RateLimitedException e ->
        ErrorData.none().with("most", e.most()).with("nanos", e.retryAfter().toNanos());
      case RankTakenException e ->
        ErrorData.none().with("rank", e.rank()).with("millis", e.silence().toMillis());
      case RoomTimeoutException e -> ErrorData.none().with("place", e.place()).with("wanted", e.wanted())
          .with("free", e.free()).with("millis", e.timeout().toMillis());
      default -> ErrorData.none();
    };
  }

  /// Code of an error; [ErrorCode#PERMANENT] for one that no caller expects.
  public static ErrorCode codeOf(Throwable error) {
    ErrorCode stated = stated(error);
    return stated == null ? ErrorCode.PERMANENT : stated;
  }

  /// Code of an error that its thrower meant for a caller; null for any other.
  private static @Nullable ErrorCode stated(Throwable error) {
    return switch (error) {
      case RemotePermanentException e -> known(e.code(), ErrorCode.PERMANENT);
      case RemoteTransientException e -> known(e.code(), ErrorCode.TRANSIENT);
      case WireFormatException e -> e.code();
      case BlockCorruptException e -> ErrorCode.BLOCK_CORRUPT;
      case SegmentLink.CorruptException e -> ErrorCode.BLOCK_CORRUPT;
      case UnknownSegmentException e -> ErrorCode.UNKNOWN_SEGMENT;
      case IncompleteBlockException e -> ErrorCode.INCOMPLETE_BLOCK;
      case BudgetExhaustedException e -> ErrorCode.BUDGET_EXHAUSTED;
      case AwaitTimeoutException e -> ErrorCode.AWAIT_TIMEOUT;
      case DrainingException e -> ErrorCode.DRAINING;
      case TierClosedException e -> ErrorCode.TIER_CLOSED;
      case LeaseExpiredException e -> ErrorCode.LEASE_EXPIRED;
      case HoldLimitException e -> ErrorCode.HOLD_LIMIT;
      case RoomTimeoutException e -> ErrorCode.ROOM_TIMEOUT;
      case RateLimitedException e -> ErrorCode.RATE_LIMITED;
      case RankTakenException e -> ErrorCode.RANK_TAKEN;
      case TransientKvException e -> ErrorCode.TRANSIENT;
      case KvException e -> ErrorCode.PERMANENT;
      case IllegalArgumentException e -> ErrorCode.BAD_REQUEST;
      case IOException e -> ErrorCode.TRANSIENT;
      case CancellationException e -> ErrorCode.TRANSIENT;
      case RejectedExecutionException e -> ErrorCode.TRANSIENT; // the node is closing
      default -> null;
    };
  }

  private static ErrorCode known(int code, ErrorCode other) {
    ErrorCode known = ErrorCode.of(code);
    return known == null ? other : known;
  }

  /// Error for the caller, of a failure that RSocket or its transport signalled: not of one that code of a user threw,
  /// whose type says nothing about the connection.
  ///
  /// @param peer named when the connection is the problem
  public static Throwable fromWire(Throwable failure, String peer) {
    Throwable error = first(failure);
    return switch (error) {
      case KvException e -> e;
      case RSocketErrorException e when e.errorCode() >= 0x1000 && e.errorCode() < 0x3000 ->
        told(e.errorCode(), String.valueOf(e.getMessage()));
      case RSocketErrorException e -> new ConnectionLostException(peer, e);
      case ClosedChannelException e -> new ConnectionLostException(peer, e);
      case IOException e -> new ConnectionLostException(peer, e);
      case IllegalStateException e when Exceptions.isOverflow(e) ->
        WireFormatException.slice("count", "<= the slices requested", "more");
      default -> Failures.passable(error);
    };
  }

  /// Error in `text` of the peer: a sentence, and behind a mark its values, if the peer sends any.
  private static KvException told(int code, String text) {
    int mark = text.lastIndexOf(ErrorData.MARK);
    ErrorData data = mark < 0 ? null : ErrorData.read(text.substring(mark + 1));
    String sentence = sentence(mark < 0 ? text : text.substring(0, mark));
    if (data != null) {
      try {
        return leaf(code, sentence, data);
      } catch (WireFormatException e) {
        LOG.debug("values of an error are not those of its code {}", code, e); // the sentence says what happened
      }
    }
    return remote(code, sentence);
  }

  /// Exception of the type on the other side, if both sides throw that type.
  ///
  /// @throws WireFormatException if a value is missing, or has another type than its code asks for
  private static KvException leaf(int code, String sentence, ErrorData data) {
    return switch (ErrorCode.of(code)) {
      case BLOCK_CORRUPT -> new BlockCorruptException(data.text("boundary"), data.key(),
          (int) data.number("granule", 0, Integer.MAX_VALUE), (int) data.number("wanted", 0, CHECKSUM_MASK),
          (int) data.number("actual", 0, CHECKSUM_MASK));
      case INCOMPLETE_BLOCK -> new IncompleteBlockException(data.key(),
          (int) data.number("first", 0, Integer.MAX_VALUE), (int) data.number("missing", 0, Integer.MAX_VALUE));
      case BUDGET_EXHAUSTED -> new BudgetExhaustedException(data.text("budget"),
          data.number("wanted", 0, Long.MAX_VALUE), data.number("free", Long.MIN_VALUE, Long.MAX_VALUE),
          (int) data.number("waiters", 0, Integer.MAX_VALUE));
      case AWAIT_TIMEOUT ->
        new AwaitTimeoutException(data.text("what"), Duration.ofMillis(data.number("millis", 0, Long.MAX_VALUE)));
      case TIER_CLOSED -> new TierClosedException(data.text("tier"));
      case UNKNOWN_SEGMENT -> new UnknownSegmentException(data.text("segment"),
          data.number("generation", Long.MIN_VALUE, Long.MAX_VALUE));
      case DRAINING -> new DrainingException();
      case LEASE_EXPIRED -> new LeaseExpiredException(data.number("lease", Long.MIN_VALUE, Long.MAX_VALUE));
      case HOLD_LIMIT -> new HoldLimitException(data.text("what"), data.number("wanted", 0, Long.MAX_VALUE),
          data.number("most", 0, Long.MAX_VALUE));
      case ROOM_TIMEOUT -> new RoomTimeoutException(data.text("place"), data.number("wanted", 0, Long.MAX_VALUE),
          data.number("free", Long.MIN_VALUE, Long.MAX_VALUE),
          Duration.ofMillis(data.number("millis", 0, Long.MAX_VALUE)));
      case RATE_LIMITED -> new RateLimitedException(data.number("most", 0, Long.MAX_VALUE),
          Duration.ofNanos(data.number("nanos", 0, Long.MAX_VALUE)));
      case RANK_TAKEN ->
        new RankTakenException(data.text("rank"), Duration.ofMillis(data.number("millis", 0, Long.MAX_VALUE)));
      case BAD_REQUEST, UNKNOWN_ROUTE, VERSION_MISMATCH, SPACE_MISMATCH, BAD_SLICE, LIMIT_EXCEEDED, FORBIDDEN ->
        new RemotePermanentException(code, sentence, data.text("field"), data.value("wanted"), data.value("actual"));
      case PERMANENT, TRANSIENT -> remote(code, sentence);
      case null -> remote(code, sentence);
    };
  }

  private static KvException remote(int code, String sentence) {
    return ErrorCode.isTransient(code)
        ? new RemoteTransientException(code, sentence)
        : new RemotePermanentException(code, sentence);
  }
}
