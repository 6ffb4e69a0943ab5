package io.penstock.wire;

import io.penstock.KvException;
import io.penstock.TransientKvException;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BudgetExhaustedException;
import io.penstock.block.IncompleteBlockException;
import io.penstock.tier.TierClosedException;
import io.rsocket.RSocketErrorException;
import io.rsocket.exceptions.CustomRSocketException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;
import tools.jackson.core.JacksonException;

/// The one place where failures become ERROR frames and ERROR frames become failures.
final class WireErrors {
  private static final int LONGEST_MESSAGE = 1000;

  private static final Logger LOG = LoggerFactory.getLogger(WireErrors.class);

  private WireErrors() {}

  /// What the peer is told.
  static Throwable toWire(Throwable error) {
    Throwable first = first(error);
    return first instanceof RSocketErrorException
        ? first
        : new CustomRSocketException(codeOf(first).code(), messageOf(first));
  }

  /// Parts of one stream that ran side by side may all fail: why the first did is told.
  private static Throwable first(Throwable error) {
    return Exceptions.unwrapMultiple(error).getFirst();
  }

  /// Never longer than a frame can carry or a person reads, whatever was quoted in it.
  private static String messageOf(Throwable error) {
    String message = error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
    return message.length() <= LONGEST_MESSAGE ? message : message.substring(0, LONGEST_MESSAGE) + " …";
  }

  private static ErrorCode codeOf(Throwable error) {
    return switch (error) {
      case WireFormatException e -> e.code();
      case BlockCorruptException e -> ErrorCode.BLOCK_CORRUPT;
      case IncompleteBlockException e -> ErrorCode.INCOMPLETE_BLOCK;
      case BudgetExhaustedException e -> ErrorCode.BUDGET_EXHAUSTED;
      case AwaitTimeoutException e -> ErrorCode.AWAIT_TIMEOUT;
      case DrainingException e -> ErrorCode.DRAINING;
      case TierClosedException e -> ErrorCode.TIER_CLOSED;
      case TransientKvException e -> ErrorCode.TRANSIENT;
      case KvException e -> ErrorCode.PERMANENT;
      case IllegalArgumentException e -> ErrorCode.BAD_REQUEST;
      case JacksonException e -> ErrorCode.BAD_REQUEST;
      case IOException e -> ErrorCode.TRANSIENT;
      case CancellationException e -> ErrorCode.TRANSIENT;
      case RejectedExecutionException e -> ErrorCode.TRANSIENT; // the node is closing
      default -> {
        LOG.warn("a request failed by a fault of ours", error);
        yield ErrorCode.PERMANENT;
      }
    };
  }

  /// What the caller is told.
  ///
  /// @param peer named when the connection is the problem
  static Throwable fromWire(Throwable failure, String peer) {
    Throwable error = first(failure);
    return switch (error) {
      case KvException e -> e;
      case RSocketErrorException e when e.errorCode() >= 0x1000 && e.errorCode() < 0x3000 ->
        ErrorCode.isTransient(e.errorCode())
            ? new RemoteTransientException(e.errorCode(), messageOf(e))
            : new RemotePermanentException(e.errorCode(), messageOf(e));
      case RSocketErrorException e -> new ConnectionLostException(peer, e);
      case ClosedChannelException e -> new ConnectionLostException(peer, e);
      case IOException e -> new ConnectionLostException(peer, e);
      case IllegalStateException e when Exceptions.isOverflow(e) ->
        WireFormatException.slice("count", "<= what was asked for", "more");
      case IndexOutOfBoundsException e -> new ConnectionLostException(peer, e); // a frame whose lengths make no sense
      case IllegalArgumentException e when messageOf(e).startsWith("Invalid Error frame") ->
        new ConnectionLostException(peer, e);
      default -> error;
    };
  }
}
